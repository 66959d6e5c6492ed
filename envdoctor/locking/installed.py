"""What of an installed environment can be pinned, and what cannot, with the reason. Values only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from envdoctor.facts.distributions import Distribution
from envdoctor.locks.text import is_name, normalised
from envdoctor.printable import printable

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True, slots=True)
class Left:
    """A distribution that is not locked."""

    name: str
    version: str
    """As written; "" if it has none."""
    reason: str


@dataclass(frozen=True, slots=True)
class Installed:
    """The distributions of an environment, by whether they can be looked up."""

    pins: tuple[tuple[str, str], ...]
    """Name and version, local label included; sorted."""
    left: tuple[Left, ...]
    """Sorted by name."""
    needed: frozenset[str] = frozenset()
    """Names of all that anything installed requires, under whichever marker and extra."""


def sort_out(items: Iterable[Distribution]) -> Installed:
    """Tell what came from an index, as far as its own records say, from what did not or cannot be told."""
    named: dict[str, list[Distribution]] = {}
    for item in items:
        named.setdefault(item.name, []).append(item)
    pins: list[tuple[str, str]] = []
    left: list[Left] = []
    for name, found in sorted(named.items()):
        own = [item for item in found if item.origin == "site-packages"]
        reason = _reason(own) if own else f"lies outside the environment ({found[0].origin})"
        version = (own or found)[0].version or ""
        if reason:
            left.append(Left(printable(name), printable(version), reason))
        else:
            pins.append((name, version))
    needed = {match[0] for found in named.values() for text in found[0].requires if (match := _NAME.match(text))}
    return Installed(tuple(pins), tuple(left), frozenset(map(normalised, needed)))


def _reason(own: Sequence[Distribution]) -> str:
    """Say why a distribution cannot be looked up; "" if it can."""
    if len({item.version for item in own}) > 1:
        versions = ", ".join(printable(item.version or "no version") for item in own)
        return f"is there more than once: {versions}"
    item = own[0]
    if item.direct_url is not None or item.kind == "egg-link":
        return _origin(item)
    return "" if item.version and is_name(item.name) and _is_version(item.version) else "its metadata names no version"


def _origin(item: Distribution) -> str:
    """Say where it came from (PEP 610), without paths of this machine."""
    said = item.direct_url
    if said is None or said.editable:
        return "installed editable, from a directory"
    if said.vcs:
        place = "" if said.url.startswith("file:") else f" {printable(said.url)}"
        return f"installed from a {printable(said.vcs)} repository{place} at {printable(said.commit or 'no commit')}"
    if said.url.startswith("file:"):
        return "installed from a local file or directory"
    return f"installed from {printable(said.url)}"


def _is_version(text: str) -> bool:
    from packaging.version import InvalidVersion, Version

    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def remarks(left: Sequence[Left]) -> str:
    """Write what is not locked as comments for the end of a lock; "" if there is nothing."""
    if not left:
        return ""
    lines = [f"# - {one.name} {one.version}".rstrip() + f": {one.reason}" for one in left]
    return "\n".join(["", f"# Installed and not locked ({len(left)}):", *lines, ""])


def other_versions(pins: Sequence[tuple[str, str]], locked: Mapping[str, str]) -> list[Left]:
    """Return pins for which a resolver gave another release: `==2.13.0` also takes 2.13.0+cpu (PEP 440)."""
    return [
        Left(name, version, f"the index offers {locked[name]} alone")
        for name, version in pins
        if name in locked and locked[name] != version
    ]
