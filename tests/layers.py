"""What the training scripts of tests on GPUs have in common, as text that stands before each of them."""

LAYER = """
import torch
from torch.nn.attention.flex_attention import flex_attention

class Layer(torch.nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.heads, self.inner, self.outer = heads, torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.inner(x).chunk(3, -1)
        q, k, v = (y.view(batch, length, self.heads, -1).transpose(1, 2) for y in parts)
        return x + self.outer(flex_attention(q, k, v).transpose(1, 2).reshape(batch, length, width))
"""
