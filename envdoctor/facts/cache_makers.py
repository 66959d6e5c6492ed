"""What the entries of a compile cache say of themselves: for which devices, and by which torch, CUDA and triton.

Nothing is unpickled. fxgraph and aotautograd entries are pickles with plain text in them: the torch that wrote them
(to 2.13: `# torch version: X`), the devices of their inputs (`device(type='cuda', index=3)`), the node's system block.
`device_idxs` of a graph is read by walking pickle opcodes, of which none is executed. Kernels of triton have a JSON.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

What = Literal["torch", "torch git", "torch key", "cuda", "triton", "arch", "environment", "gpu"]
CPU = "cpu"
_SYSTEM = rb"system_info\[version\]: \{[^\n}]{0,4000}?"
_PLACES: tuple[tuple[bytes, int, int], ...] = (
    (b"# torch version: ", 0, 400),
    (b"system_info[", 0, 4096),
    (b"] torch_version: ", 61, 20),
)
"""Where an entry says what made it: words, and how many bytes before and after them hold it.

The system block names triton by its `triton_key` (triton/runtime/cache.py of 3.6.0): the version, and right behind it
29 digests. A search for plain bytes is twenty times as quick as one for a pattern.
"""
_TEXTS: tuple[tuple[What, re.Pattern[bytes]], ...] = (
    ("torch", re.compile(rb"# torch version: ([\w.+-]{1,80})")),
    ("torch git", re.compile(rb"# torch git version: ([0-9a-f]{7,40})")),
    ("torch key", re.compile(rb"\[([a-z2-7]{40,60})\] torch_version: ")),
    ("cuda", re.compile(rb"# torch cuda version: (\d{1,2}\.\d{1,2})")),
    ("triton", re.compile(_SYSTEM + rb"'triton': '([\w.+]{1,40}?)(?:[0-9a-f]{64}-|')")),
    ("cuda", re.compile(_SYSTEM + rb"'cuda': '(\d{1,2}\.\d{1,2})")),
    ("gpu", re.compile(rb"system_info\[device\]: \{'name': '([\w .()/-]{1,80})'")),
)
_DEVICE = re.compile(rb"device\(type='(\w{1,12})'(?:, index=(\d{1,3}))?\)")
_PROPERTIES = re.compile(
    rb"DeviceProperties\(type='(\w{1,12})', index=(\d{1,3}|None), multi_processor_count=\d+, cc=(\d+)"
)
_IDXS = b"\x8c\x0bdevice_idxs"
_WALK = 64
"""Opcodes that are walked from `device_idxs` on; each device takes two or three."""
_VENV = "/lib/python"


@dataclass(frozen=True, slots=True)
class Maker:
    """One thing that entries name as what they were made by or for."""

    what: What
    value: str
    """A version, a git commit, the hash of torch's sources, `9.0`, an environment's directory, a GPU's name."""
    entries: int


@dataclass(slots=True)
class Said:
    """What one entry says of itself."""

    devices: set[str] = field(default_factory=set)
    """`cuda:3`, `cpu`."""
    makers: set[tuple[What, str]] = field(default_factory=set)

    def one(self, what: What) -> str:
        """Return the only value of its kind, "" if there is none or are several."""
        values = {value for kind, value in self.makers if kind == what}
        return values.pop() if len(values) == 1 else ""


def of_graph(data: bytes) -> Said:
    """Read an entry of fxgraph or aotautograd."""
    kernels = _kernels(data)
    said = Said({*_devices(data), *_of_kernels(kernels)}, {("arch", _arch(cc.decode())) for _, _, cc in kernels})
    if any(device != CPU for device in said.devices):
        said.devices.discard(CPU)  # scalars of a GPU's graph lie on the CPU
    for words, before, after in _PLACES:
        at = data.find(words)
        part = data[max(at - before, 0) : at + after] if at >= 0 else b""
        said.makers |= {(what, found.decode()) for what, pattern in _TEXTS for found in pattern.findall(part)}
    return said


def of_python(data: bytes) -> Said:
    """Read a generated module: the kernels for GPUs in it name their device."""
    kernels = _kernels(data)
    return Said(set(_of_kernels(kernels)), {("arch", _arch(cc.decode())) for _, _, cc in kernels})


def of_kernel(data: bytes) -> Said:
    """Read the JSON of a triton kernel."""
    said = Said()
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError):
        return said
    if not isinstance(value, dict):
        return said
    version, target = value.get("triton_version"), value.get("target")
    if isinstance(version, str):
        said.makers.add(("triton", version[:80]))
    if isinstance(target, dict) and target.get("backend") == "cuda" and isinstance(target.get("arch"), int):
        said.makers.add(("arch", _arch(str(target["arch"]))))
    said.makers |= {("environment", prefix) for prefix in _environments(value.get("extern_libs"))}
    return said


def tally(entries: Iterable[Said]) -> tuple[Maker, ...]:
    """Count how many entries name each."""
    counts = Counter(maker for said in entries for maker in said.makers)
    return tuple(Maker(what, value, count) for (what, value), count in sorted(counts.items()))


def _environments(libraries: object) -> Iterator[str]:
    """Yield the environments whose triton a kernel was linked with: `extern_libs` holds absolute paths."""
    pairs = libraries.items() if isinstance(libraries, dict) else libraries if isinstance(libraries, list) else ()
    for pair in pairs:
        path = pair[1] if isinstance(pair, list | tuple) and len(pair) == 2 else None
        if isinstance(path, str) and _VENV in path:
            yield path.partition(_VENV)[0][:1000]


def _arch(number: str) -> str:
    """Return a compute capability: `90` is 9.0, `120` is 12.0."""
    return f"{number[:-1] or '0'}.{number[-1]}"


def _found(data: bytes, words: bytes, pattern: re.Pattern[bytes]) -> Iterator[re.Match[bytes]]:
    """Yield what a pattern matches wherever certain words stand."""
    at = data.find(words)
    while at >= 0:
        match = pattern.match(data, at)
        if match is not None:
            yield match
        at = data.find(words, at + len(words))


def _kernels(data: bytes) -> set[tuple[bytes, bytes, bytes]]:
    """Return kind, index and capability of every device that kernels were generated for."""
    return {(match[1], match[2], match[3]) for match in _found(data, b"DeviceProperties(type=", _PROPERTIES)}


def _of_kernels(kernels: Iterable[tuple[bytes, bytes, bytes]]) -> Iterator[str]:
    yield from (f"{kind.decode()}:{int(index)}" for kind, index, _ in kernels if index != b"None")


def _devices(data: bytes) -> Iterator[str]:
    """Yield the devices of a graph's inputs, and those of its `device_idxs`."""
    for kind, index in {(match[1], match[2]) for match in _found(data, b"device(type='", _DEVICE)}:
        yield CPU if kind == b"cpu" else f"{kind.decode()}:{int(index or 0)}"
    at = data.find(_IDXS)
    while at >= 0:
        yield from (f"cuda:{index}" for index in _walked(data[at : at + 4096]))
        at = data.find(_IDXS, at + 1)


def _walked(data: bytes) -> Iterator[int]:
    """Yield the numbers that follow the key `device_idxs`, to the next key."""
    import pickletools  # a check without a cache has no use for it

    try:
        for step, (opcode, argument, _) in enumerate(pickletools.genops(data)):
            if step and (step > _WALK or (opcode.name == "SHORT_BINUNICODE" and argument != "OrderedSet")):
                return
            if opcode.name in ("BININT1", "BININT2", "BININT") and isinstance(argument, int) and 0 <= argument < 1000:
                yield argument
    except ValueError:  # the slice ends within an opcode, or the file does
        return
