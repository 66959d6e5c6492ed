"""All that one lock changes against another, grouped and in the order in which it is worth reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from envdoctor.model import Lock, LockedPackage
from envdoctor.review import aspects
from envdoctor.review.askers import Askers, askers
from envdoctor.review.aspects import Comparable, Difference
from envdoctor.review.families import family
from envdoctor.review.forks import Match, Pins, matched
from envdoctor.review.steps import step

Group = Literal["torch", "cuda", "direct", "transitive", "unrecorded"]
GROUPS: tuple[Group, ...] = ("torch", "cuda", "direct", "transitive", "unrecorded")
"""`unrecorded`: neither lock says who wants the package."""
KINDS = (
    *("major", "other", "minor", "patch", "build", "forks", "added", "removed"),
    *("hashes", "source", "index", "marker", "extras", "requires"),
)
"""Every kind of change, the one to read first first: a step of the version, a pin that came or went, else what differs.

`build`: another local label; `other`: versions that cannot be compared; `forks`: several pins, of which markers do not
tell which became which; `hashes`: the same version, other digests."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one pin, or of the forks of a name that only compare as a set."""

    name: str
    group: Group
    kind: str
    """One of KINDS."""
    old: Pins
    new: Pins
    down: bool = False
    """True if the version went down."""
    forked: bool = False
    """True if either lock has several pins of the name: their markers tell which one this is."""
    differences: tuple[Difference, ...] = ()
    """What else differs; of kinds that are no step of the version, the first is the kind's own."""
    wanted_by: tuple[str, ...] = ()
    """Who asks for it in the new lock; for what was removed, in the old one."""


@dataclass(frozen=True, slots=True)
class Diff:
    """Everything that differs between two locks."""

    old: Lock
    new: Lock
    changes: tuple[Change, ...]
    """In the order of GROUPS, then KINDS, then names."""
    whole: tuple[Difference, ...]
    """What differs beside the pins."""
    unread: tuple[str, ...] = ()
    """What could not be compared, a sentence each."""

    @property
    def equal(self) -> bool:
        """True if nothing that could be compared differs."""
        return not self.changes and not self.whole


def diff(old: Lock, new: Lock) -> Diff:
    """Compare two locks, which may be of different formats."""
    allowed = aspects.comparable(old, new)
    before, after = _named(old, allowed), _named(new, allowed)
    says = _Says(askers(old), askers(new))
    changes = [
        change
        for name in sorted(before.keys() | after.keys())
        for change in _changes(name, before.get(name, ()), after.get(name, ()), allowed, says)
    ]
    changes.sort(key=lambda change: (GROUPS.index(change.group), KINDS.index(change.kind)))
    return Diff(old, new, tuple(changes), aspects.of_locks(old, new, allowed), tuple(_unread(old, new, allowed, says)))


def _named(lock: Lock, allowed: Comparable) -> Mapping[str, Pins]:
    """Return the pins by name, without what is never installed where only one format has it."""
    found: dict[str, list[LockedPackage]] = {}
    for package in lock.packages:
        if package.name and (allowed.same_format or package.source != "virtual"):
            found.setdefault(package.name, []).append(package)
    return {name: tuple(pins) for name, pins in found.items()}


@dataclass(frozen=True, slots=True)
class _Says:
    """Who wants what, in both locks."""

    old: Askers
    new: Askers

    def wanted_by(self, match: Match) -> tuple[str, ...]:
        """Return who asks for the pins of the new lock, or of the old one if they are gone."""
        says, pins = (self.new, match.new) if match.new else (self.old, match.old)
        return tuple(dict.fromkeys(asker for pin in pins for asker in says.of(pin)))

    def group(self, name: str, match: Match) -> Group:
        """Return the group of a name: its family, else whether the project wants it itself."""
        belongs = family(name)
        if belongs is not None:
            return "torch" if belongs == "torch" else "cuda"
        for says, pins in ((self.new, match.new), (self.old, match.old)):
            told = {says.direct(pin) for pin in pins}
            if told - {None}:
                return "direct" if True in told else "transitive"
        return "unrecorded"


def _changes(name: str, old: Pins, new: Pins, allowed: Comparable, says: _Says) -> Iterator[Change]:
    """Yield what became of each pin of a name."""
    forked = len(old) > 1 or len(new) > 1
    for match in matched(old, new):
        found = _change(match, allowed)
        if found is not None:
            kind, down, differences = found
            group, wanted_by = says.group(name, match), says.wanted_by(match)
            yield Change(name, group, kind, match.old, match.new, down, forked, differences, wanted_by)


def _change(match: Match, allowed: Comparable) -> tuple[str, bool, tuple[Difference, ...]] | None:
    """Return (kind, whether the version went down, what else differs); None if nothing does."""
    if not match.old or not match.new:
        return ("added" if match.new else "removed"), False, ()
    before, after = _versions(match.old), _versions(match.new)
    unsaid = not allowed.same_format and None in before + after  # only some formats have the version of a commit
    moved, down = ("same", False) if unsaid else step(before, after)
    differences = aspects.of_pins(match.old, match.new, allowed, same_version=moved == "same")
    several = len(match.old) > 1 or len(match.new) > 1
    if moved != "same":
        return ("forks" if several else moved), down and not several, differences
    return (min((d.what for d in differences), key=KINDS.index), False, differences) if differences else None


def _versions(pins: Pins) -> list[str | None]:
    return [pin.version for pin in pins]


def _elsewhere(old: Lock, new: Lock) -> str:
    if "uv" in (old.format, new.format):
        return "uv.lock has them on its edges, the other lock on its pins"
    return "one lock has them mixed with groups, or on its edges"


def _unread(old: Lock, new: Lock, allowed: Comparable, says: _Says) -> Iterator[str]:
    if not allowed.markers:
        yield f"markers are not compared: {_elsewhere(old, new)}"
    for lock, told in ((old, says.old), (new, says.new)):
        if not told.recorded and lock.packages:
            yield f"{lock.path} does not say who wants its packages"
    yield from (text for lock in (old, new) for text in _faulty(lock))


def _faulty(lock: Lock) -> Iterable[str]:
    if lock.problems:
        first = lock.problems[0]
        place = f"{first.file or lock.path}:{first.line}" if first.line else first.file or lock.path
        what = "1 line was" if len(lock.problems) == 1 else f"{len(lock.problems):,} lines were"
        yield f"{lock.path}: {what} not understood and not compared as pins, the first at {place}: {first.message}"
