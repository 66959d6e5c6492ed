"""What differs between two pins of a name, or between two locks as a whole, beside the version.

Locks of different formats do not record the same: a difference is one only where both say something, or where what is
not said matters by itself (a digest that is gone).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from envdoctor.locks.text import shown
from envdoctor.model import Lock, LockedPackage, LockOption
from envdoctor.review.forks import Pins

_COMMIT = re.compile(r"\b[0-9a-f]{40}\b")
_PLAIN = {"requirements", "pylock"}
"""Formats whose markers speak of the target alone; others mix in groups, or put them on the edges."""
_TOLD = ("--hash", "--requirement")
"""Options that say which packages there are, and which files."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it was."""

    what: str
    """Of a pin: `source`, `index`, `marker`, `extras`, `hashes`, `requires`; of a lock: `indexes` and others."""
    old: tuple[str, ...]
    new: tuple[str, ...]
    note: str = ""
    """What it comes to, where that takes more than old and new."""


@dataclass(frozen=True, slots=True)
class Comparable:
    """What the formats of two locks let be compared."""

    same_format: bool
    markers: bool
    """False if one lock has markers on its pins and the other on the edges between them, or mixes groups into them."""


def comparable(old: Lock, new: Lock) -> Comparable:
    """Say what can be compared between two locks."""
    same = old.format == new.format
    return Comparable(same, same or {old.format, new.format} <= _PLAIN)


def of_pins(old: Pins, new: Pins, allowed: Comparable, *, same_version: bool) -> tuple[Difference, ...]:
    """Return the differences between pins that belong together, most telling first.

    Of another version digests, and what it asks for, differ as a matter of course: only of the same one are they told.
    """
    found = [_source(old, new, allowed), _index(old, new), _extras(old, new)]
    if allowed.markers:
        found.append(_plain("marker", _each(old, _marker), _each(new, _marker)))
    if same_version:
        found.append(_hashes(old, new, allowed))
        if allowed.same_format:
            found.append(_requires(old, new))
    return tuple(difference for difference in found if difference is not None)


def _plain(what: str, old: tuple[str, ...], new: tuple[str, ...]) -> Difference | None:
    return Difference(what, old, new) if old != new else None


def _each(pins: Pins, said: Callable[[LockedPackage], str]) -> tuple[str, ...]:
    return tuple(sorted({said(pin) for pin in pins} - {""}))


def _marker(pin: LockedPackage) -> str:
    return pin.marker or ""


def _source(old: Pins, new: Pins, allowed: Comparable) -> Difference | None:
    """Compare kinds of source, and the addresses of what comes from none of the indexes."""
    place = _place if allowed.same_format else _short_place
    return _plain("source", _each(old, place), _each(new, place))


def _place(pin: LockedPackage) -> str:
    return "index" if pin.source == "index" else f"{pin.source} {pin.url}".strip()


def _short_place(pin: LockedPackage) -> str:
    """Write a commit alone: every format has another way to write the repository before it."""
    commit = _COMMIT.search(pin.url) if pin.source in ("vcs", "editable") else None
    return f"vcs {commit[0]}" if commit else _place(pin)


def _index(old: Pins, new: Pins) -> Difference | None:
    """Compare the indexes of pins whose index both locks record."""
    before, after = ({pin.url for pin in pins if pin.source == "index"} for pins in (old, new))
    if "" in before | after or not before or not after or before == after:
        return None
    return Difference("index", tuple(sorted(before)), tuple(sorted(after)))


def _extras(old: Pins, new: Pins) -> Difference | None:
    return _plain("extras", *(tuple(sorted({name for pin in pins for name in pin.extras})) for pins in (old, new)))


def _hashes(old: Pins, new: Pins, allowed: Comparable) -> Difference | None:
    """Compare the digests of one version: the same release should not have other ones."""
    before, after = digests(old), digests(new)
    gone, come = before - after, after - before
    if not gone and not come:
        return None
    if before & after and not allowed.same_format:
        return None  # one lists every file of a release, the other those that it chose
    return Difference("hashes", tuple(sorted(gone)), tuple(sorted(come)), _comes_to(old, new, before, after))


def _comes_to(old: Pins, new: Pins, before: set[str], after: set[str]) -> str:
    if not after:
        return "no longer hashed"
    if not before:
        return "hashed now"
    replaced = sorted(_replaced(old, new))
    if replaced:
        more = f" and {len(replaced) - 1} more" if len(replaced) > 1 else ""
        return f"the same file with other contents: {shown(replaced[0])}{more}"
    gone, come = len(before - after), len(after - before)
    if not before & after:
        return f"none of the digests is what it was ({gone} before, {come} now)"
    return " and ".join(f"{count} {what}" for count, what in ((come, "more"), (gone, "fewer")) if count)


def _replaced(old: Pins, new: Pins) -> Iterable[str]:
    """Yield the names of files that both locks have, with digests that do not agree."""
    before, after = _files(old), _files(new)
    for name in before.keys() & after.keys():
        algorithms = {digest.partition(":")[0] for digest in before[name]}
        theirs = {digest for digest in after[name] if digest.partition(":")[0] in algorithms}
        if theirs and not theirs & before[name]:
            yield name


def _files(pins: Pins) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}
    for artifact in (artifact for pin in pins for artifact in pin.artifacts if artifact.name and artifact.hashes):
        found.setdefault(artifact.name, set()).update(map(str.lower, artifact.hashes))
    return found


def digests(pins: Pins) -> set[str]:
    """Return every digest that pins allow, in lower case."""
    own = {digest.lower() for pin in pins for digest in pin.hashes}
    return own | {digest.lower() for pin in pins for artifact in pin.artifacts for digest in artifact.hashes}


def _requires(old: Pins, new: Pins) -> Difference | None:
    """Compare what a package asks for, as the lock's own graph has it."""
    before, after = _edges(old), _edges(new)
    if before == after:
        return None
    return Difference("requires", tuple(sorted(before - after)), tuple(sorted(after - before)))


def _edges(pins: Pins) -> set[str]:
    found = set()
    for edge in (edge for pin in pins for edge in pin.dependencies):
        extras = f"[{','.join(sorted(edge.extras))}]" if edge.extras else ""
        when = f" ({', '.join(edge.when)})" if edge.when else ""
        found.add(f"{edge.name}{extras}{f' ; {edge.marker}' if edge.marker else ''}{when}")
    return found


def of_locks(old: Lock, new: Lock, allowed: Comparable) -> tuple[Difference, ...]:
    """Return what differs between two locks beside their pins."""
    before, after = _whole(old), _whole(new)
    pairs = {what: (before[what], after[what]) for what in before}
    return tuple(
        Difference(what, mine, theirs)
        for what, (mine, theirs) in pairs.items()
        if mine != theirs and (allowed.same_format or (mine and theirs) or what == "not understood")
    )


def _whole(lock: Lock) -> Mapping[str, tuple[str, ...]]:
    return {
        "python": tuple(filter(None, (lock.header.python,))),
        "platform": tuple(filter(None, (lock.header.platform,))),
        "requires-python": (lock.requires_python,) if lock.requires_python else (),
        "environments": tuple(sorted(lock.environments)),
        "extras": tuple(sorted(lock.extras)),
        "groups": tuple(sorted(lock.groups)),
        "default groups": tuple(sorted(lock.default_groups)),
        "indexes": lock.indexes if lock.format in ("requirements", "pipfile") else tuple(sorted(lock.indexes)),
        "options": tuple(sorted({_option(option.name, option.value, option.package) for option in _options(lock)})),
        "not understood": tuple(sorted({problem.message for problem in lock.problems})),
    }


def _options(lock: Lock) -> Iterable[LockOption]:
    """Return the options beside those whose say is told already."""
    return (option for option in lock.options if option.name not in _TOLD and option.value not in lock.indexes)


def _option(name: str, value: str, package: str) -> str:
    return " ".join(filter(None, (package, name, value)))
