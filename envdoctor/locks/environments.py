"""The environments that a lock is judged for: stated by the caller, a target's own, or those the lock declares.

What is not known of one stays unknown: markers that hang on it are undecided, and wheels that may fit are not refused.
Tags: packaging's own (PEP 425, PEP 600); a target's manylinux tags follow from its C library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from envdoctor.errors import UsageError
from envdoctor.locks.constraints import OR
from envdoctor.model import Lock, LockHeader

_LINUX = {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux"}
_CPYTHON = {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
_EQUALS = re.compile(r"(\w+)\s*==\s*['\"]([^'\"*]+)['\"]$")
_MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_(\w+)$")
_OLD = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
"""PEP 600's legacy names."""
_UV = re.compile(r"(\w+)-(?:unknown-linux-gnu|manylinux(?:_?\d+_\d+|\d+))$|(linux)$")
"""Values of uv's --python-platform for Linux with glibc (uv 0.13.9); plain `linux` is x86_64."""
_MINOR = re.compile(r"==(3\.\d+)\.\*")
OLDEST_GLIBC = 5
PATCHES = range(64)
"""Third numbers of Python releases that are tried where only `3.12` is known."""


@dataclass(frozen=True, slots=True)
class LockEnvironment:
    """One environment, as far as it is known."""

    name: str
    """What to call it: `Python 3.12 on manylinux_2_28_x86_64`."""
    markers: Mapping[str, str] = field(default_factory=dict)
    """Marker variables (PEP 508) that are known."""
    glibc: tuple[int, int] | None = None
    free_threaded: bool | None = False
    """None if unknown."""

    @property
    def python(self) -> str | None:
        """`3.12`."""
        return self.markers.get("python_version")

    @property
    def machine(self) -> str | None:
        """`x86_64`."""
        return self.markers.get("platform_machine")

    @property
    def platform(self) -> str:
        """The newest platform tag that fits: `manylinux_2_28_x86_64`, `linux_x86_64` where glibc is not known."""
        libc = f"manylinux_{self.glibc[0]}_{self.glibc[1]}" if self.glibc else "linux"
        return f"{libc}_{self.machine}"

    def admitted(self, requires: str | None) -> bool:
        """Tell whether one of some sets of specifiers admits a Python that this may be; what is no such set admits all.

        A pre-release of Python counts as the release, as installers count it.
        """
        from packaging.specifiers import SpecifierSet

        full = re.match(r"\d+(\.\d+)+", self.markers.get("python_full_version", ""))
        if not requires or not (full or self.python):
            return True
        releases = (full[0],) if full else tuple(f"{self.python}.{patch}" for patch in PATCHES)
        try:
            wanted = [SpecifierSet(each) for each in requires.split(OR)]
            return any(each.contains(release) for release in releases for each in wanted)
        except ValueError:  # InvalidSpecifier, and numbers of thousands of digits
            return True

    def tags(self) -> frozenset[str] | None:
        """Return the wheel tags that fit, None if Python, machine or system are not known.

        With an unknown glibc every manylinux tag of the machine fits: the wheel may be the right one.
        """
        if not (self.python and self.machine and self.markers.get("sys_platform") in _PLATFORMS):
            return None
        if self.markers.get("implementation_name", "cpython") != "cpython":
            return None
        return frozenset(str(tag) for tag in self._tags())

    def ordered_tags(self) -> tuple[str, ...]:
        """Return the wheel tags that fit, best first; none if Python, machine or system are not known."""
        return tuple(dict.fromkeys(str(tag) for tag in self._tags())) if self.tags() is not None else ()

    def _tags(self) -> Iterator[object]:
        from packaging.tags import compatible_tags, cpython_tags

        version = tuple(map(int, (self.python or "").split(".")[:2]))
        platforms = [*_PLATFORMS[self.markers["sys_platform"]](self.machine or "", self.glibc)]
        number = "".join(map(str, version))
        abis = [f"cp{number}t" if self.free_threaded else f"cp{number}"]
        yield from cpython_tags(version, abis, platforms)
        if self.free_threaded is None:
            yield from cpython_tags(version, [f"cp{number}t"], platforms)
        yield from compatible_tags(version, f"cp{number}", platforms)


NEWEST_MACOS = 40


def _of_linux(machine: str, glibc: tuple[int, int] | None) -> Iterator[str]:
    yield f"linux_{machine}"
    newest = glibc[1] if glibc else 99
    older = {version[1]: old for old, version in _OLD.items()}
    for minor in range(newest, OLDEST_GLIBC - 1, -1):
        yield f"manylinux_2_{minor}_{machine}"
        if minor in older:
            yield f"{older[minor]}_{machine}"


def _of_macos(machine: str, _: object) -> Iterator[str]:
    """Yield those of every macOS: no lock says which."""
    from packaging.tags import mac_platforms

    return mac_platforms((NEWEST_MACOS, 0), machine)


def _of_windows(machine: str, _: object) -> Iterator[str]:
    yield "win32" if machine == "x86" else f"win_{machine.lower()}"


_PLATFORMS: Mapping[str, Callable[[str, tuple[int, int] | None], Iterator[str]]] = {
    "linux": _of_linux,
    "darwin": _of_macos,
    "win32": _of_windows,
}
"""`sys_platform` -> platform tags (PEP 425) of a machine."""


def stated(python: str | None, platform: str | None) -> LockEnvironment:
    """Return what --python and --platform say. Raises UsageError for what is neither."""
    if python is not None and not re.fullmatch(r"3\.\d{1,2}(\.\d{1,2})?t?", python):
        raise UsageError(f"--python: {python!r} is no version such as 3.12")
    markers = dict(_CPYTHON)
    if python is not None:
        plain = python.rstrip("t")
        markers["python_version"] = ".".join(plain.split(".")[:2])
        markers |= {"python_full_version": plain, "implementation_version": plain} if plain.count(".") == 2 else {}
    glibc = None
    if platform is not None:
        machine, glibc = _platform(platform)
        markers |= {**_LINUX, "platform_machine": machine}
    parts = (f"Python {python}" if python else "", platform or "")
    return LockEnvironment(" on ".join(filter(None, parts)), markers, glibc, bool(python and python.endswith("t")))


def _platform(text: str) -> tuple[str, tuple[int, int] | None]:
    """Return machine and glibc of a platform tag (PEP 425): `linux_x86_64` leaves glibc unknown."""
    if match := _MANYLINUX.match(text):
        return match[3], (int(match[1]), int(match[2]))
    prefix, _, machine = text.partition("_")
    if prefix in _OLD and machine:
        return machine, _OLD[prefix]
    if prefix == "linux" and machine:
        return machine, None
    raise UsageError(f"--platform: {text!r} is no Linux platform tag such as manylinux_2_28_x86_64 or linux_x86_64")


def of_target(markers: Mapping[str, str], libc: str, *, free_threaded: bool, name: str) -> LockEnvironment:
    """Return a target's own; `libc` as the interpreter says it: `glibc 2.39`."""
    found = re.fullmatch(r"glibc (\d+)\.(\d+)", libc)
    glibc = (int(found[1]), int(found[2])) if found else None
    return LockEnvironment(name, dict(markers), glibc, free_threaded)


def declared(lock: Lock) -> tuple[LockEnvironment, ...]:
    """Return those that a lock says it is for: its own `environments`, else the platform and Python of its header.

    Of a declared marker only plain equalities joined by `and` are known values; whatever else it says stays unknown. A
    header that names the Python alone says who compiled it, not for whom.
    """
    minor = _MINOR.fullmatch((lock.requires_python or "").replace(" ", ""))
    known = {"python_version": minor[1]} if minor else {}
    if lock.environments:
        return tuple(
            LockEnvironment(text, {**known, **dict(_equalities(text))}, free_threaded=None)
            for text in lock.environments
        )
    made_for = of_header(lock.header)
    return (made_for,) if made_for.python and made_for.machine else ()


def of_header(header: LockHeader) -> LockEnvironment:
    """Return what a header says that the lock was compiled for, as far as it says it."""
    version, platform = ".".join(header.python.split(".")[:2]), _machine_of(header.platform)
    parts = (f"Python {version}" if version else "", f"on {header.platform}" if platform else "")
    markers = {**_CPYTHON, **({"python_version": version} if version else {})}
    if platform is None:
        return LockEnvironment(" ".join(filter(None, parts)), markers, free_threaded=None)
    markers |= {**_LINUX, "platform_machine": platform[0]}
    return LockEnvironment(" ".join(filter(None, parts)), markers, platform[1], free_threaded=None)


def _machine_of(platform: str) -> tuple[str, tuple[int, int] | None] | None:
    """Return machine and glibc of what a tool calls a platform: uv's names, or a wheel tag."""
    if match := _UV.fullmatch(platform):
        return match[1] or "x86_64", None
    try:
        return _platform(platform)
    except UsageError:
        return None


def _equalities(marker: str) -> Iterable[tuple[str, str]]:
    if " or " in marker:
        return
    for part in marker.split(" and "):
        if match := _EQUALS.fullmatch(part.strip().strip("()").strip()):
            yield match[1], match[2]
            if (match[1], match[2]) == ("sys_platform", "linux"):
                yield from _LINUX.items()
