"""What is compiled: a small block and flex_attention, each compared with eager. Interfaces: torch 2.0 to 2.15."""

from __future__ import annotations

import importlib.util
from typing import Any

import torch
from torch import nn

FLEX = "torch.nn.attention.flex_attention"


class NotHereError(Exception):
    """The step has nothing to try out in this build or on this device."""


class Bench:
    """A device, and what a step leaves there for a later one."""

    def __init__(self, device: str, *, flex: bool) -> None:
        self.name = device
        self.flex = flex
        """True if a fresh process can find flex_attention in the cache."""
        self.device = torch.device(device)
        self.cuda = self.device.type == "cuda"
        self.calls: dict[str, Any] = {}
        """What was compiled: name -> a function that calls it on new data."""

    def dtypes(self) -> list[Any]:
        """Return what training would compute in here; before Ampere bfloat16 is but imitated."""
        if not self.cuda:
            return [torch.float32]
        native = torch.cuda.get_device_capability(self.device)[0] >= 8
        return [torch.float32, torch.bfloat16 if native else torch.float16]

    def wait(self) -> None:
        """Let errors of kernels that are under way show."""
        if self.cuda:
            torch.cuda.synchronize(self.device)


class Block(nn.Module):  # type: ignore[misc]
    """A norm, two matrix products and an activation: pointwise code, a reduction, and both their gradients."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x: Any) -> Any:
        """Map (batch, length, width) to the same shape."""
        return x + self.down(nn.functional.gelu(self.up(self.norm(x)), approximate="tanh"))


def block(bench: Bench, dtype: Any) -> float:
    """Return the largest distance between compiled and eager, output and gradients."""
    torch.manual_seed(1)
    module = Block().to(bench.device, dtype)
    compiled = torch.compile(module, dynamic=False)
    sample = torch.randn(4, 32, 64, device=bench.device, dtype=dtype)
    bench.calls["block " + named(dtype)] = lambda: _gradients(compiled, torch.randn_like(sample), module)
    found = _gradients(compiled, sample, module)
    wanted = _gradients(module, sample, module)
    bench.wait()
    return max(distance(one, other) for one, other in zip(found, wanted))


def _gradients(function: Any, sample: Any, module: Any) -> list[Any]:
    module.zero_grad(set_to_none=True)
    sample = sample.clone().requires_grad_()
    output = function(sample)
    output.float().square().mean().backward()
    return [output.detach(), sample.grad, *(p.grad for p in module.parameters())]


def flex(bench: Bench, dtype: Any) -> float:
    """Return the largest distance between compiled flex_attention and eager attention, both causal.

    On a CPU forward alone: inductor has no backward for it there (torch 2.13.0).
    """
    if not importlib.util.find_spec(FLEX):
        raise NotHereError("torch %s has no flex_attention" % torch.__version__)
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    mask = create_block_mask(_causal, None, None, 256, 256, device=bench.name)
    compiled = torch.compile(flex_attention, dynamic=False)
    torch.manual_seed(2)
    sample = torch.randn(3, 1, 2, 256, 64, device=bench.device, dtype=dtype)
    bench.calls["flex_attention"] = lambda: _attention(bench, compiled, torch.randn_like(sample), mask)
    found = _attention(bench, compiled, sample, mask)
    wanted = _attention(bench, _eager, sample, mask)
    bench.wait()
    return max(distance(one, other) for one, other in zip(found, wanted))


def _causal(batch: Any, head: Any, query: Any, key: Any) -> Any:
    return query >= key


def _eager(q: Any, k: Any, v: Any, block_mask: Any) -> Any:
    return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def _attention(bench: Bench, function: Any, sample: Any, mask: Any) -> list[Any]:
    if not bench.cuda:
        with torch.no_grad():
            return [function(*sample, block_mask=mask)]
    sample = sample.clone().requires_grad_()
    output = function(*sample.unbind(), block_mask=mask)
    output.float().square().mean().backward()
    return [output.detach(), sample.grad]


def distance(found: Any, wanted: Any) -> float:
    """Return the relative error in the Euclidean norm; a value that is not finite is infinitely far away."""
    found, wanted = found.double().cpu(), wanted.double().cpu()
    if not torch.isfinite(found).all():
        return float("inf")
    return float((found - wanted).norm() / wanted.norm().clamp_min(1e-30))


def named(dtype: Any) -> str:
    """Return `float32` for torch.float32."""
    return str(dtype).rpartition(".")[2]
