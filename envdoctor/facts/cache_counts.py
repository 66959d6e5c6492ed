"""How many keys of compile caches there are, by kind, by device, and by the build that made them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from envdoctor.facts.cache_makers import Said
from envdoctor.facts.cache_walk import Key

GRAPHS = ("aotautograd", "fxgraph")
KINDS = (*GRAPHS, "triton")


@dataclass(frozen=True, slots=True)
class Count:
    """How many keys of one kind are for one device and were made by one torch."""

    kind: str
    """`aotautograd`, `fxgraph`, `triton`, or `py` for generated modules."""
    device: str
    """`cuda:3`, `cpu`; "" where it says none, as kernels of triton do."""
    torch: str
    """Version of the torch, of the triton for its kernels; "" where it says none."""
    keys: int
    size: int = 0
    """Bytes of the entries that say so; of a kernel, of one of its files."""


def counted(entries: Sequence[tuple[Key, Said]]) -> tuple[Count, ...]:
    """Count entries."""
    counts: Counter[tuple[str, str, str]] = Counter()
    sizes: Counter[tuple[str, str, str]] = Counter()
    for (key, said), maker in zip(entries, makers(entries), strict=True):
        for device in said.devices or {""}:
            counts[key.kind, device, maker] += 1
            sizes[key.kind, device, maker] += key.size
    return tuple(Count(*named, count, sizes[named]) for named, count in sorted(counts.items()))


def makers(entries: Sequence[tuple[Key, Said]]) -> Iterator[str]:
    """Yield the version of the torch that made each, of the triton for its kernels; "" where it says none.

    One that names only the hash of its torch's sources gets the version that others give with it.
    """
    versions = defaultdict[str, set[str]](set)
    for _, said in entries:
        if said.one("torch key") and said.one("torch"):
            versions[said.one("torch key")].add(said.one("torch"))
    for key, said in entries:
        own = said.one("triton" if key.kind == "triton" else "torch")
        others = versions.get(said.one("torch key"), set()) if key.kind in GRAPHS else set()
        yield own or (min(others) if len(others) == 1 else "")


def of_build(
    keys: Mapping[str, int], counts: Sequence[Count], torch: str, triton: str
) -> Mapping[tuple[str, str], int]:
    """Return (kind, device) -> keys that this torch and triton would find; the device "" stands for all together.

    What says of no build that it is its own counts as everybody's.
    """
    makers = {kind: triton if kind == "triton" else torch for kind in (*KINDS, "py")}
    found: Counter[tuple[str, str]] = Counter({(kind, ""): number for kind, number in keys.items() if kind in KINDS})
    for count in counts:
        own = count.torch in ("", makers[count.kind]) or not makers[count.kind]
        if own and count.device:
            found[count.kind, count.device] += count.keys
        elif not own:
            found[count.kind, ""] -= count.keys
    return {named: max(number, 0) for named, number in found.items() if named[0] in KINDS or named[1]}
