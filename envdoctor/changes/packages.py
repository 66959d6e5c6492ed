"""What is installed, from where, and which directories imports go by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

from envdoctor import knowledge
from envdoctor.changes.events import (
    Event,
    Gap,
    Side,
    Weight,
    both,
    changed,
    counted,
    differing,
    either,
    kind_of,
    some,
    told,
)
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.search_path import SearchPath
from envdoctor.review.families import family
from envdoctor.versions import same_release


def distributions(old: Side[Distributions], new: Side[Distributions]) -> Iterator[Event | Gap]:
    """Compare the distributions that imports find, name by name."""
    for name, before, after in differing(old.fact.active, new.fact.active):
        if before is None or after is None:
            yield _came_or_went(name, before, after)
        else:
            yield from _moved(before, after, old, new)
    yield from _copies(old.fact, new.fact)
    anew = sorted(_anew(old.fact, new.fact))
    if anew:
        said = f"{counted(len(anew), 'package')} installed anew at the same version: {some(anew)}"
        yield Event("packages", "changed", "installed anew", None, str(len(anew)), said, Weight.DETAIL)


def _came_or_went(name: str, before: Distribution | None, after: Distribution | None) -> Event:
    ends = either(lambda item: item.version or "unknown version", before, after)
    kind = kind_of(before, after)
    origin = after.origin if after else "site-packages"
    where = f", in {origin}" if origin != "site-packages" else ""
    return told("packages", name, ends, f"{name} {ends[0] or ends[1]} {kind}{where}", _weight(name, kind))


@cache
def _engines() -> frozenset[str]:
    return frozenset(row["name"] for row in knowledge.rows("serving") if row.get("engine"))


def _weight(name: str, kind: str) -> Weight:
    """Weigh what becomes of a package: torch's and CUDA's decide, what serves models comes with others."""
    if family(name) is not None:
        return Weight.GRAVE
    return Weight.DETAIL if kind == "added" and name not in _engines() else Weight.NOTABLE


def _moved(
    before: Distribution, after: Distribution, old: Side[Distributions], new: Side[Distributions]
) -> Iterator[Event]:
    name = after.name
    if before.version != after.version:
        yield _versions(name, before.version or "unknown version", after.version or "unknown version")
    source = both(_source, before, after)
    if source[0] != source[1]:
        yield changed("packages", name, source, what=f"where {name} came from")
    if before.origin != after.origin or old.near(before.location) != new.near(after.location):
        ends = f"{old.near(before.location)} ({before.origin})", f"{new.near(after.location)} ({after.origin})"
        yield changed("packages", name, ends, what=f"where {name} is imported from")


def _versions(name: str, before: str, after: str) -> Event:
    build = same_release(before, after)
    sentence = f"{name} {before} -> {after}" + (", another build of the same release" if build else "")
    return Event("packages", "changed", name, before, after, sentence, _weight(name, "changed"))


def _source(item: Distribution) -> str:
    """Say where a distribution came from (PEP 610)."""
    url = item.direct_url
    if url is None:
        return "an index, or unrecorded"
    commit = f" at {url.commit}" if url.commit else ""
    return f"{'editable, ' if url.editable else ''}{url.url}{commit}"


def _copies(old: Distributions, new: Distributions) -> Iterator[Event]:
    """Compare how many copies of a name there are: an import finds the first one."""
    before, after = (Counter(item.name for item in seen.items) for seen in (old, new))
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name]:
            ends = counted(before[name], "copy", "copies"), counted(after[name], "copy", "copies")
            yield changed("packages", name, ends, what=f"{name} on the path")


def _anew(old: Distributions, new: Distributions) -> Iterator[str]:
    """Yield what has the same version and another RECORD time, where both times are an installation's own."""
    for name in old.active.keys() & new.active.keys():
        before, after = old.active[name], new.active[name]
        times = {before.installed_at, after.installed_at}
        own = before.times == after.times == "own"
        if before.version == after.version and own and len(times) == 2 and None not in times:
            yield name


def search_path(old: Side[SearchPath], new: Side[SearchPath]) -> Iterator[Event]:
    """Compare the directories that imports go by, the standard library's aside: that is the interpreter's."""
    before, after = _entries(old), _entries(new)
    for path, was, now in differing(before, after):
        yield changed("startup", path, (was, now), what=f"{path} on the import path")
    kept = [path for path in before if path in after]
    if kept != [path for path in after if path in before]:
        yield changed("startup", "sys.path", (" ".join(before), " ".join(after)), what="the import order")


def _entries(side: Side[SearchPath]) -> Mapping[str, str]:
    return {
        side.near(entry.path): entry.origin + ("" if entry.exists else ", not there")
        for entry in side.fact.entries
        if entry.origin != "stdlib"
    }
