"""Files that are not what was installed, what nobody owns, and the scripts of the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from envdoctor.changes.events import LISTED, Event, Gap, Side, Weight, both, changed, counted, differing, either, some
from envdoctor.facts.comparison import DistributionFiles
from envdoctor.facts.files import Files
from envdoctor.facts.launchers import Launchers
from envdoctor.facts.metadata import normalised
from envdoctor.facts.owners import Owners
from envdoctor.review.families import family


def files(old: Side[Files], new: Side[Files]) -> Iterator[Event | Gap]:
    """Compare what does not agree with its RECORD, distribution by distribution."""
    if old.fact.deep != new.fact.deep:
        said = "not every file was hashed, as in the other: an edit that keeps size and time is not seen"
        yield Gap("files", "after" if old.fact.deep else "before", said)
    if old.fact.unverified:
        yield Gap("files", "before", f"{counted(old.fact.unverified, 'file')} could not be hashed")
    if new.fact.unverified:
        yield Gap("files", "after", f"{counted(new.fact.unverified, 'file')} could not be hashed")
    shallower = old.fact.deep and not new.fact.deep
    for name, before, after in differing(_faults(old.fact), _faults(new.fact)):
        yield from _distribution(name, before, after, shallower=shallower)
    was, now = (frozenset(map(side.near, side.fact.rebuilt)) for side in (old, new))
    for info in sorted(now - was):
        sentence = f"{info}: its RECORD names other contents than the sealed one of the same version"
        yield Event("files", "changed", info, None, None, sentence, Weight.GRAVE)


def _faults(seen: Files) -> Mapping[str, DistributionFiles]:
    return {normalised(state.name.rpartition("-")[0]): state for state in seen.distributions}


def _distribution(
    name: str, before: DistributionFiles | None, after: DistributionFiles | None, *, shallower: bool
) -> Iterator[Event | Gap]:
    weight = Weight.GRAVE if family(name) is not None else Weight.NOTABLE
    was, now = ({} if state is None else {file.path: file for file in state.altered} for state in (before, after))
    new = [path for path, file in now.items() if path not in was or was[path] != file]
    more = _more(before, after, "altered")
    if new or more > 0:
        sentence = f"{counted(max(len(new), more), 'file')} of {name} altered: {some(new)}"
        yield Event("files", "changed", name, *both(_altered, before, after), sentence, weight)
    elif more < 0 and not (shallower and all(file.how == "content" for file in was.values())):
        sentence = f"{counted(-more, 'file')} of {name} as installed again"
        yield Event("files", "changed", name, *both(_altered, before, after), sentence)
    yield from _missing(name, before, after, weight)
    one, other = (None if state is None else state.problem for state in (before, after))
    if one != other:
        yield changed("files", name, (one, other), what=f"what is wrong with the RECORD of {name}")


def _missing(
    name: str, before: DistributionFiles | None, after: DistributionFiles | None, weight: Weight
) -> Iterator[Event]:
    more = _more(before, after, "missing")
    was, now = (frozenset(state.missing if state else ()) for state in (before, after))
    ends = both(lambda state: f"{state.missing_count:,} missing" if state else "all there", before, after)
    if more > 0 or now - was:
        paths = sorted(now - was)
        sentence = f"{counted(max(more, len(paths)), 'file')} of {name} gone: {some(paths)}"
        yield Event("files", "removed", name, *ends, sentence, weight)
    elif more < 0:
        yield Event("files", "added", name, *ends, f"{counted(-more, 'file')} of {name} back")


def _more(before: Any, after: Any, what: str) -> int:  # noqa: ANN401 - states of files, or None
    was, now = (0 if state is None else int(getattr(state, f"{what}_count")) for state in (before, after))
    return now - was


def _altered(state: DistributionFiles | None) -> str | None:
    return f"{state.altered_count:,} altered" if state and state.altered_count else "as installed"


def owners(old: Side[Owners], new: Side[Owners]) -> Iterator[Event]:
    """Compare what no RECORD lists, what two packages list, and what failed uninstalls left."""
    for path, was, now in differing(_unowned(old), _unowned(new)):
        ends = either(lambda number: counted(number, "file"), was, now)
        yield changed("files", path, ends, Weight.DETAIL, f"{path} (no package owns it)")
    for path, one, other in differing(_collisions(old.fact), _collisions(new.fact)):
        yield changed("files", path, (one, other), what=f"{path} (several packages own it)")
    left, lies = ({side.near(item.path): "" for item in side.fact.leftovers} for side in (old, new))
    for path in sorted(lies.keys() - left.keys()):
        yield Event("files", "added", path, None, path, f"{path} was left by an uninstall that failed")


def _unowned(side: Side[Owners]) -> Mapping[str, int]:
    return {side.near(item.path): item.count for item in side.fact.unowned}


def _collisions(seen: Owners) -> Mapping[str, str]:
    """Return path -> whose bytes lie there."""
    found = sorted(seen.collisions, key=lambda item: item.path)
    return {item.path: f"{item.on_disk or 'nobody'}'s bytes" for item in found}


def launchers(old: Side[Launchers], new: Side[Launchers]) -> Iterator[Event]:
    """Compare what scripts start. They come and go with their packages; what a PATH gives is its caller's."""
    moved: dict[tuple[str, str], list[str]] = {}
    for path, was, now in differing(_scripts(old), _scripts(new)):
        if was is not None and now is not None:
            moved.setdefault((was, now), []).append(path)
    for (was, now), paths in moved.items():
        sentence = f"{some(paths)} now start{'s' if len(paths) == 1 else ''} {now}, not {was}"
        yield Event("startup", "changed", some(paths, LISTED), was, now, sentence)
    for path, one, other in differing(_activations(old), _activations(new)):
        if one is not None and other is not None:
            yield changed("startup", path, (one, other), what=f"the prefix that {path} puts on PATH")


def _scripts(side: Side[Launchers]) -> Mapping[str, str]:
    return {
        side.near(script.path): (side.near(script.interpreter) if script.interpreter else "the Python beside it")
        + ("" if script.exists else ", which is not there")
        for script in side.fact.scripts
    }


def _activations(side: Side[Launchers]) -> Mapping[str, str]:
    return {side.near(item.path): "." if item.own else side.near(item.prefix) for item in side.fact.activations}
