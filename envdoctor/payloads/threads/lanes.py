"""What each thread trains: on a GPU two layers with flex_attention, on a CPU a graph of its own for each stand-in.

Interfaces: torch 2.9 to 2.15.
"""

from __future__ import annotations

import copy
from types import FunctionType
from typing import Any

import torch
from torch import nn

from __main__ import sibling

models = sibling("models")
WIDTH, HEADS, LENGTH, BATCH = 512, 4, 1024, 2
"""Of the layers on a GPU."""


class Layer(nn.Module):  # type: ignore[misc]
    """Attention and a small network, with a norm before each."""

    def __init__(self, attend: Any) -> None:
        super().__init__()
        self.attend = attend
        self.norm, self.qkv, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Any) -> Any:
        """Map (batch, length, width) to the same shape."""
        parts = self.qkv(self.norm(x)).chunk(3, -1)
        q, k, v = (part.view(*x.shape[:2], HEADS, WIDTH // HEADS).transpose(1, 2) for part in parts)
        x = x + self.out(self.attend(q, k, v).transpose(1, 2).reshape(x.shape))
        return x + self.down(nn.functional.gelu(self.up(x)))


class Products(nn.Module):  # type: ignore[misc]
    """Matrix products alone, `count` of them: another graph for each count, of the same shapes.

    Inductor calls a library for them, so that no C++ is compiled, which would take most of the time and traces nothing.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(nn.Linear(64, 64, bias=False) for _ in range(count)))

    def forward(self, x: Any) -> Any:
        """Map (batch, width) to the same shape."""
        return self.layers(x)


class Lane:
    """One thread's model, its data, and what it compiled."""

    def __init__(self, device: str, kind: int, number: int) -> None:
        self.name = device
        self.kind = kind
        """Which graph of the CPU's it is."""
        self.number = number
        self.bench = models.Bench(device, flex=True)
        self.dtype = self.bench.dtypes()[-1]
        self.function: Any = None
        """The compiled function; None until it is made."""

    @property
    def device(self) -> str:
        """The device, or what stands for it."""
        return self.name if self.bench.cuda else "cpu (graph %d)" % self.kind

    def enter(self) -> None:
        """Make its device the current one of this thread."""
        if self.bench.cuda:
            torch.cuda.set_device(self.bench.device)

    def prepare(self) -> None:
        """Make model, data and compiled function, in the thread that will use them."""
        model: Any
        shape: tuple[int, ...]
        self.enter()
        if self.bench.cuda:
            from torch.nn.attention.flex_attention import flex_attention

            model, shape = nn.Sequential(Layer(flex_attention), Layer(flex_attention)), (BATCH, LENGTH, WIDTH)
        else:
            model, shape = Products(2 + self.kind), (32, 64)
        self.model = model.to(self.bench.device, self.dtype)
        self.sample = torch.randn(*shape, device=self.bench.device, dtype=self.dtype)
        self.function = torch.compile(own(self.number), dynamic=False)

    def step(self, call: Any) -> list[Any]:
        """Go forward and backward; `call` is given the compiled function and what to call it on."""
        return self._trained(self.model, lambda *given: call(self.function, *given))

    def wanted(self) -> list[Any]:
        """Return what eager computes of the same."""
        model = copy.deepcopy(self.model)
        for layer in model.modules():
            if isinstance(layer, Layer):
                layer.attend = nn.functional.scaled_dot_product_attention
        return self._trained(model, forward)

    def _trained(self, model: Any, call: Any) -> list[Any]:
        model.zero_grad(set_to_none=True)
        sample = self.sample.clone().requires_grad_()
        output = call(model, sample)
        output.float().square().mean().backward()
        return [output.detach(), sample.grad]


def forward(model: Any, x: Any) -> Any:
    """Call a model: what each thread compiles a copy of."""
    return model(x)


def own(number: int) -> Any:
    """Return a copy of `forward` with code of its own: dynamo keeps what it compiled by code, for all threads."""
    name = "forward_%d" % number
    return FunctionType(forward.__code__.replace(co_name=name), forward.__globals__, name)


def lanes(devices: list[str], graphs: int, per_device: int) -> list[Lane]:
    """Return the lanes of a race, device after device; on a CPU each of so many graphs stands for one."""
    places = [(device, kind) for device in devices for kind in range(graphs if device == "cpu" else 1)]
    return [
        Lane(device, kind, number * per_device + copied)
        for number, (device, kind) in enumerate(places)
        for copied in range(per_device)
    ]
