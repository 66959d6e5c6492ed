"""CUDA toolkits, the tools that compile at run time, and the libraries that the loader finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from envdoctor.changes.events import AFTER, BEFORE, Event, Gap, Side, Weight, both, changed, differing, either
from envdoctor.facts.jit_tools import Compiler, JitTools
from envdoctor.facts.loader import Loader
from envdoctor.facts.toolkits import Toolkits


def toolkits(old: Side[Toolkits], new: Side[Toolkits]) -> Iterator[Event]:
    """Compare the toolkit that a build takes, those that variables and PATH name, and the version of each."""
    ways_before, ways_after = _ways(old), _ways(new)
    built = (old.fact.chosen.way if old.fact.chosen else None, new.fact.chosen.way if new.fact.chosen else None)
    ends = (_chosen(old), _chosen(new))
    if ends[0] != ends[1]:
        yield changed("toolkit", "build", ends, Weight.GRAVE, "the CUDA toolkit that a build takes")
    for way, was, now in differing(ways_before, ways_after):
        if way not in built or ends[0] == ends[1]:
            what = f"the toolkit that {way} names" if way != "default" else "/usr/local/cuda"
            weight = Weight.DETAIL if way == "PATH" else Weight.NOTABLE  # PATH is the caller's, and not kept
            yield changed("toolkit", way, (was, now), weight, what)
    for prefix, was, now in differing(_versions(old), _versions(new)):
        if None in (was, now) or f"{was} in {prefix}" != ends[0]:
            yield changed("toolkit", prefix, (was, now), what=f"the CUDA toolkit {prefix}")


def _versions(side: Side[Toolkits]) -> Mapping[str, str]:
    return {side.near(item.prefix): item.version or "of unknown version" for item in side.fact.items}


def _ways(side: Side[Toolkits]) -> Mapping[str, str]:
    return {
        named.way: side.near(named.prefix) + ("" if named.exists else ", which is not there")
        for named in side.fact.named
    }


def _chosen(side: Side[Toolkits]) -> str | None:
    """Say which toolkit torch.utils.cpp_extension would take."""
    named = side.fact.chosen
    if named is None:
        return None
    found = side.fact.at(named.prefix)
    version = (found.version if found else None) or "of unknown version"
    return f"{version} in {side.near(named.prefix)}" if named.exists else f"{side.near(named.path)}, which is not there"


def jit_tools(old: Side[JitTools], new: Side[JitTools]) -> Iterator[Event]:
    """Compare host compilers, assemblers, Python.h and libcuda. Triton itself is a package."""
    before, after = old.fact, new.fact
    for what, one, other in (("C compiler", before.c, after.c), ("C++ compiler", before.cxx, after.cxx)):
        ends = both(_compiler, one, other)
        if ends[0] != ends[1]:
            yield changed("toolkit", what, ends, _loss(*ends), f"the {what}")
    if before.header.found != after.header.found:
        ends = before.header.found, after.header.found
        yield changed("toolkit", "Python.h", ends, _loss(*ends))
    for name, was, now in differing(_ptxas(old), _ptxas(new)):
        yield changed("toolkit", name, (was, now), Weight.GRAVE, f"{name} of triton")
    ends = both(_libcuda, before, after)
    if ends[0] != ends[1]:
        yield changed("toolkit", "libcuda", ends, _loss(*ends), "where libcuda is found")


def _loss(before: str | None, after: str | None) -> Weight:
    """Weigh what a compile needs: its loss stops it."""
    return Weight.GRAVE if before is not None and after is None else Weight.NOTABLE


def _libcuda(seen: JitTools) -> str | None:
    return " ".join(place.path for place in seen.libcuda if place.holds) or None


def _compiler(found: Compiler) -> str | None:
    return None if found.path is None else found.path + (f", by {found.variable}" if found.variable else "")


def _ptxas(side: Side[JitTools]) -> Mapping[str, str]:
    """Return what triton would start: the first of each name, as variables come first."""
    found: dict[str, str] = {}
    for item in side.fact.ptxas:
        by = f", by {item.variable}" if item.variable else ""
        version = item.version or ("of unknown version" if item.exists else "not there")
        found.setdefault(item.name, f"{version} in {side.near(item.path)}{by}")
    return found


def loader(old: Side[Loader], new: Side[Loader]) -> Iterator[Event | Gap]:
    """Compare which file each CUDA library of torch resolves to. Variables are told as such."""
    if old.fact.unknown == new.fact.unknown and new.fact.unknown is not None:
        yield Gap("libraries", "both", new.fact.unknown)
        return
    for side, fact in ((BEFORE, old.fact), (AFTER, new.fact)):
        if fact.unknown is not None:
            yield Gap("libraries", side, fact.unknown)
    if old.fact.unknown is not None or new.fact.unknown is not None:
        return
    for soname, was, now in differing(_resolved(old), _resolved(new)):
        ends = either(lambda path: path or "not found", was, now)
        lost = now == "" or (was is not None and now is not None)
        yield changed("toolkit", soname, ends, Weight.GRAVE if lost else Weight.DETAIL, f"{soname} as torch loads it")


def _resolved(side: Side[Loader]) -> Mapping[str, str]:
    return {item.soname: side.near(item.path) if item.path else "" for item in side.fact.resolutions}
