"""What the environment is held to: its lock, its seal, its freeze; and what the node grants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
    some,
    told,
    yes,
)
from envdoctor.facts.freeze import Freeze
from envdoctor.facts.lock_source import LockSource
from envdoctor.facts.node import Node, Space
from envdoctor.model import Lock
from envdoctor.printable import size_of
from envdoctor.review.diff import Change, diff
from envdoctor.review.forks import Pins
from envdoctor.seals import Seal

_SHORT = 12
"""Hexadecimal digits of a digest that an event shows."""
_BEHAVIOUR = frozenset({"noexec", "ro", "nosuid", "nodev"})
"""Options of a mount that decide what may be done there."""


def lock(old: Side[Lock], new: Side[Lock]) -> Iterator[Event | Gap]:
    """Compare which lock it is, and its pins."""
    before, after = old.fact, new.fact
    if before.path != after.path:
        yield changed("lock", "path", (before.path, after.path), what="the lock that it is judged by")
    if before.digest == after.digest and before.packages == after.packages:
        return
    found = diff(before, after)
    steps: dict[str, list[str]] = {}
    for change in found.changes:
        steps.setdefault(_verb(change), []).append(change.name)
    said = "; ".join(f"{counted(len(names), 'pin')} {verb}: {some(names)}" for verb, names in steps.items())
    digests = before.digest[:_SHORT], after.digest[:_SHORT]
    sentence = f"the lock is another one: {said or 'its pins are the same'}"
    yield told("lock", "lock", digests, sentence, Weight.NOTABLE if said else Weight.DETAIL)
    for change in found.changes:
        yield _pin(change)
    for text in found.unread if before.format != after.format else ():
        yield Gap("lock", "both", text)


def _verb(change: Change) -> str:
    return change.kind if change.kind in ("added", "removed") else "moved" if _moves(change) else "with other details"


def _moves(change: Change) -> bool:
    return [pin.version for pin in change.old] != [pin.version for pin in change.new]


def _pin(change: Change) -> Event:
    ends = both(_versions, change.old, change.new)
    if ends[0] == ends[1]:
        said = f"the pin of {change.name} differs in: {some(sorted({item.what for item in change.differences}))}"
        return told("lock", change.name, ends, said, Weight.DETAIL)
    return changed("lock", change.name, ends, Weight.DETAIL, f"the pin of {change.name}")


def _versions(pins: Pins) -> str | None:
    return ", ".join(pin.version or pin.url or pin.source for pin in pins) or None


def lock_source(old: Side[LockSource], new: Side[LockSource]) -> Iterator[Event]:
    """Compare the files that the lock was compiled from."""
    was, now = ({item.name or item.path: item.digest[:_SHORT] for item in side.fact.inputs} for side in (old, new))
    for name, one, other in differing(was, now):
        yield changed("lock", name, (one, other), Weight.DETAIL, f"the lock's input {name}")


def seal(old: Side[Seal], new: Side[Seal]) -> Iterator[Event]:
    """Compare which state was called good."""
    if old.fact.taken_at != new.fact.taken_at:
        yield changed("seal", "seal", (old.fact.taken_at, new.fact.taken_at), Weight.DETAIL, "the seal, taken at")


def freeze(old: Side[Freeze], new: Side[Freeze]) -> Iterator[Event]:
    """Compare whether the environment is frozen, and holds."""
    if old.fact.made != new.fact.made:
        yield changed("freeze", "frozen", both(yes, old.fact.made, new.fact.made))
    elif new.fact.count > old.fact.count:
        first = some([new.near(path) for path in new.fact.writable])
        sentence = f"{counted(new.fact.count, 'path')} of the frozen environment can be written again: {first}"
        yield told("freeze", "writable", (str(old.fact.count), str(new.fact.count)), sentence)


def node(old: Side[Node], new: Side[Node]) -> Iterator[Event]:
    """Compare where the job's files lie. What moves by itself (free bytes) is no event.

    Neither are limits: they are those of the process that looked, and `envdoctor health` has narrow ones.
    """
    for use, before, after in differing(_uses(old), _uses(new)):
        yield from _space(use, before, after)


def _uses(side: Side[Node]) -> Mapping[str, tuple[str, str, str]]:
    """Return use -> (path, bytes in all, disk class) of what a job writes to."""
    return {
        space.use: (side.near(space.path), size_of(space.total), _disk(side.fact, space)) for space in side.fact.spaces
    }


def _disk(seen: Node, space: Space) -> str:
    """Say what kind of disk it is, and what may be done there."""
    mount = seen.mount_of(space.path)
    return "unknown" if mount is None else ", ".join([mount.kind, *sorted(_BEHAVIOUR.intersection(mount.options))])


def _space(use: str, before: tuple[str, str, str] | None, after: tuple[str, str, str] | None) -> Iterator[Event]:
    if before is None or after is None:
        yield changed("node", use, either(lambda room: room[0], before, after), Weight.DETAIL, f"{use} (room for it)")
        return
    for word, was, now in zip(("place", "size", "kind of disk"), before, after, strict=True):
        if was != now:
            weight = Weight.DETAIL if word == "size" and use != "shared memory" else Weight.NOTABLE
            yield changed("node", use, (was, now), weight, f"{use} ({word})")
