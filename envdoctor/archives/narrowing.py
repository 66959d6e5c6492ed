"""Narrow a lock to the files that one target gets: for each package one wheel, known by its digest.

Which pins apply is `locks.select`'s word. Where the lock records files, `packaging.pylock` selects among them; where it
has digests alone (requirements files, Pipfile.lock), which file it is shows when it has been fetched.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from envdoctor.archives.choosing import Chooser, strong
from envdoctor.errors import RefusedLockError
from envdoctor.locks import Selection, check_choice, select
from envdoctor.locks.environments import LockEnvironment
from envdoctor.locks.text import file_name, quoted, shown
from envdoctor.model import Artifact, Lock, LockedPackage, LockProblem
from envdoctor.policy import Policy

Build = Literal["never", "if need be", "always"]
_LOST = frozenset({"bad-encoding", "incomplete", "over-limit", "unpinned", "wrong-format"})
"""Rules of problems by which packages are missing from what was read."""
_REPOSITORY = re.compile(r"(?:git|hg|svn|bzr)\+")
_AWAY = re.compile(r"/|[A-Za-z]:[\\/]|file:")
_BLANK = re.compile(r"[\s\x00-\x20\x7f]")
_ENDS = (0, 999)
"""Third numbers between which those of all releases of a Python lie."""


@dataclass(frozen=True, slots=True)
class Pin:
    """One file that the target is to get."""

    name: str
    """Normalised (PEP 503)."""
    version: str
    """As written, local label included; "" where an address is locked that says none."""
    hashes: tuple[str, ...]
    """Digests, `algorithm:hex`, of which the file must have one; sha256, sha384 and sha512 alone."""
    url: str = ""
    """Where the lock says that the file is: an address, or a path from the lock's directory; "" where it does not."""
    filename: str = ""
    """"" where the lock does not say."""
    size: int | None = None
    """Bytes, where the lock says so."""
    build: Build = "never"
    """Whether the file is, or may be, a source archive, from which a wheel is then built."""
    line: int = 0
    operator: str = "=="

    @property
    def label(self) -> str:
        """What to call it in a sentence."""
        return f"{self.name} {self.version}".rstrip()


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What a target gets of a lock."""

    pins: tuple[Pin, ...]
    """Sorted by name."""
    projects: tuple[LockedPackage, ...]
    """The lock's own projects: folders beside it, which are not fetched."""
    python: str
    """Version of the target's Python, as far as it is known: `3.12.3`, `3.12`."""
    tags: tuple[str, ...]
    """Wheel tags of the target, best first."""


def narrow(
    lock: Lock,
    markers: Mapping[str, str],
    tags: Sequence[str],
    policy: Policy,
    *,
    extras: Iterable[str] = (),
    groups: Iterable[str] = (),
) -> Narrowed:
    """Narrow a lock to a target with these marker variables (PEP 508) and wheel tags, best first.

    Raises LockError for an extra or group that the lock does not have, and RefusedLockError, with all that is wrong,
    where a package cannot be had as one wheel of known digest.
    """
    extras, groups = tuple(extras), tuple(groups)
    check_choice(lock, extras=extras, groups=groups)
    narrowing = _Narrowing(lock, LockEnvironment("", markers), Chooser(tags), policy)
    known = (markers, *_completed(markers))
    narrowing.whole([select(lock, each, extras=extras, groups=groups) for each in known])
    if narrowing.problems:
        raise _refused(lock, sorted(narrowing.problems, key=lambda problem: problem[0]))
    python = markers.get("python_full_version") or markers.get("python_version", "")
    pins = tuple(sorted(narrowing.pins, key=lambda pin: pin.name))
    return Narrowed(pins, tuple(narrowing.projects), python, tuple(tags))


def _completed(markers: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """Yield the markers of the first and last release that a Python may be of which `3.12` alone is known."""
    if "python_full_version" not in markers and (minor := markers.get("python_version")):
        yield from ({**markers, "python_full_version": f"{minor}.{end}"} for end in _ENDS)


def _refused(lock: Lock, problems: Sequence[tuple[int, str]]) -> RefusedLockError:
    said = [f"{lock.path}:{line}: {what}" if line else f"{lock.path}: {what}" for line, what in problems]
    more = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
    return RefusedLockError(f"{said[0]}{more}", tuple(said) if more else ())


@dataclass(slots=True)
class _Narrowing:
    """What has been found so far."""

    lock: Lock
    environment: LockEnvironment
    chooser: Chooser
    policy: Policy
    pins: list[Pin] = field(default_factory=list)
    projects: list[LockedPackage] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    """Line and what is wrong."""

    def whole(self, selections: Sequence[Selection]) -> None:
        """Go through what is wanted; the first selection is the target's, others are of what it may turn out to be."""
        selection = selections[0]
        self.problems += [(problem.line, shown(problem.message)) for problem in self.lock.problems if _loses(problem)]
        if not self.environment.admitted(self.lock.requires_python):
            self._problem(0, f"is for Python {self.lock.requires_python}, and the target has {self._python()}")
        if len({_names(each) for each in selections}) > 1:
            self._problem(0, f"gives releases of Python {self._python()} different packages; name one, such as 3.12.3")
        for name, package in selection.wanted.items():
            if package.source == "virtual":
                self.projects.append(package)
            elif name in selection.conflicting:
                found = sorted({pin.version or pin.url for pin in selection.several[name]})
                self._problem(package.line, f"{name} is pinned more than once for this target: {', '.join(found)}")
            else:
                self._package(_merged(selection.several.get(name, (package,))))

    def _python(self) -> str:
        return self.environment.markers.get("python_full_version") or self.environment.python or "an unknown one"

    def _problem(self, line: int, what: str) -> None:
        self.problems.append((line, what))

    def _package(self, package: LockedPackage) -> None:
        if package.source == "vcs" or _REPOSITORY.match(package.url):
            what = f"{package.name} is a commit of a repository, which has no digest; build a wheel of it and lock that"
            self._problem(package.line, what)
        elif package.source in ("directory", "editable"):
            if _leaves(package.url):
                what = f"{package.name} is whatever lies in {quoted(package.url)}; build a wheel of it and lock that"
                self._problem(package.line, what)
            self.projects.append(package)
        elif not self.environment.admitted(package.requires_python):
            what = f"{_label(package)} is for Python {package.requires_python}, and the target has {self._python()}"
            self._problem(package.line, what)
        else:
            pin = self._pin(package)
            if isinstance(pin, str):
                self._problem(package.line, f"{_label(package)} {pin}")
            else:
                self.pins.append(pin)

    def _pin(self, package: LockedPackage) -> Pin | str:
        """Return the pin of a package from an index or an address, or what keeps it from being one."""
        if not _is_version(package):
            return "has a version that is none"
        named = tuple(file for file in package.artifacts if file.name)
        if package.source == "index" and named:
            file = self.chooser.best(package.name, named)
        elif package.source == "url":
            file = next(iter(package.artifacts), Artifact(file_name(package.url), package.url))
            file = replace(file, hashes=file.hashes or package.hashes)
        else:
            return self._unnamed(package)
        if isinstance(file, str):
            return file
        return self._named(package, file)

    def _named(self, package: LockedPackage, file: Artifact) -> Pin | str:
        """Return the pin of a package whose file is known."""
        source = not file.name.endswith(".whl")
        if not source and not self.chooser.fits(file.name):
            return f"is a wheel for another target: {shown(file.name)}"
        if source and not self.policy.builds(package.name):
            return self._unbuilt(package)
        digests = strong(file.hashes)
        if not digests:
            return _undigested(file.hashes, shown(file.name))
        build: Build = "always" if source else "never"
        version = package.version or ""
        at = _place(self.lock, package, file)
        return Pin(package.name, version, digests[:1], at, file.name, file.size, build, package.line, package.operator)

    def _unnamed(self, package: LockedPackage) -> Pin | str:
        """Return the pin of a package that has digests alone."""
        hashes = package.hashes or tuple(digest for file in package.artifacts for digest in file.hashes)
        digests = tuple(digest for digest in dict.fromkeys(map(str.lower, hashes)) if strong((digest,)))
        if not digests:
            return _undigested(hashes, "it")
        build: Build = "if need be" if self.policy.builds(package.name) else "never"
        version = package.version or ""
        return Pin(package.name, version, digests, build=build, line=package.line, operator=package.operator)

    def _unbuilt(self, package: LockedPackage) -> str:
        wheels = any(file.name.endswith(".whl") for file in package.artifacts)
        what = "has no wheel for this target, only" if wheels else "comes as"
        return (
            f'{what} source; allow that it is built in the configuration, sdists = ["{package.name}"], or lock a wheel'
        )


def _place(lock: Lock, package: LockedPackage, file: Artifact) -> str:
    """Return where a recorded file is; "" where what stands in its place is the index."""
    if file_name(file.url) != file.name or _BLANK.search(file.url):
        return ""
    folder = lock.format == "uv" and package.source == "index" and "://" not in package.url
    url = os.path.join(package.url, file.url) if folder else file.url
    # in a requirements file pip puts variables of the environment into addresses; other locks do not mean that
    return url if lock.format == "requirements" or "://" not in url else url.replace("$", "%24")


def _is_version(package: LockedPackage) -> bool:
    """Tell whether a version is one that may stand in a requirements file: TOML can hold any text."""
    from packaging.version import InvalidVersion, Version

    version = package.version
    if version is None:
        return package.source == "url"
    if package.operator == "===":
        return not _BLANK.search(version)
    try:
        Version(version)
    except (InvalidVersion, ValueError):
        return False
    return True


def _undigested(hashes: Sequence[str], what: str) -> str:
    if not hashes:
        return f"has no digest, so that nobody can tell whether {what} is what was locked"
    found = ", ".join(sorted({digest.partition(":")[0] for digest in hashes}))
    return f"has digests by {found} alone; sha256, sha384 or sha512 is needed"


def _loses(problem: LockProblem) -> bool:
    return problem.rule in _LOST and not problem.mild


def _label(package: LockedPackage) -> str:
    return f"{package.name} {package.version or ''}".rstrip()


def _names(selection: Selection) -> tuple[tuple[str, str | None], ...]:
    return tuple(sorted((name, package.version) for name, package in selection.wanted.items()))


def _merged(pins: Sequence[LockedPackage]) -> LockedPackage:
    """Take several pins of one release for one, as pip and uv do: the file may have any of their digests."""
    if len(pins) == 1:
        return pins[0]
    files = dict.fromkeys(file for pin in pins for file in pin.artifacts)
    digests = dict.fromkeys(digest for pin in pins for digest in pin.hashes)
    return replace(pins[0], artifacts=tuple(files), hashes=tuple(digests))


def _leaves(path: str) -> bool:
    """Tell whether a path leads out of the lock's own folder."""
    return _AWAY.match(path) is not None or os.path.normpath(path).startswith("..")
