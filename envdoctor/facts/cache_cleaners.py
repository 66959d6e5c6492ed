"""What empties a directory by age: rules of systemd-tmpfiles (tmpfiles.d(5)), and tmpreaper.

Rules work only where something runs them: systemd's timer, or cron for tmpreaper.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from envdoctor.system.host import Host
from envdoctor.system.reading import head

FOLDERS = ("/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/local/lib/tmpfiles.d", "/usr/lib/tmpfiles.d")
"""In order of precedence: a file of one hides those of the same name in the later ones."""
REAPER = "/etc/tmpreaper.conf"
FILES = 500
_LIMIT = 1 << 18
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_AGE = re.compile(r"(\d+)\s*(us|ms|sec|s|min|m|h|d|w|)")
_SHELL = re.compile(r"^\s*(\w+)=[\"']?([^\"'\n#]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cleaner:
    """A rule by which what is old is removed."""

    path: str
    """The directory that is emptied."""
    age: float
    """Seconds since anything was last used."""
    file: str
    rule: str
    """The line itself."""


@dataclass(frozen=True, slots=True)
class _Line:
    kind: str
    path: str
    age: float | None
    file: str
    rule: str


def cleaners(host: Host) -> tuple[tuple[Cleaner, ...], tuple[str, ...]]:
    """Return the rules, and patterns of paths that they leave alone."""
    lines = list(_lines(host)) if host.root or os.path.isdir("/run/systemd/system") else []
    first = {line.path: line for line in reversed(lines)}
    found = [
        Cleaner(line.path, line.age, line.file, line.rule)
        for line in first.values()
        if line.age is not None and line.kind in "dDevqQC"
    ]
    return (*found, *_reaper(host)), tuple(line.path for line in lines if line.kind in "xX")


def of(path: str, rules: tuple[Cleaner, ...], spared: tuple[str, ...]) -> Cleaner | None:
    """Return the rule that empties a directory: the nearest above it, unless it is spared."""
    above = [rule for rule in rules if f"{path}/".startswith(rule.path.rstrip("/") + "/")]
    if any(fnmatchcase(part, pattern) for part in _upwards(path) for pattern in spared):
        return None
    return max(above, key=lambda rule: len(rule.path), default=None)


def seconds(text: str) -> float | None:
    """Read the age of a rule: `10d`, `1h30min`, `aAmM:12h`, `~2w`; None for `-` and for what is none."""
    text = text.rpartition(":")[2].lstrip("~")
    if text == "0":
        return 0.0
    parts = _AGE.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(int(number) * _UNITS[unit or "s"] for number, unit in parts)


def _upwards(path: str) -> Iterator[str]:
    while path not in ("", "/"):
        yield path
        path = os.path.dirname(path)


def _lines(host: Host) -> Iterator[_Line]:
    """Yield the rules in the order in which they are read: files by name, wherever they lie."""
    files: dict[str, str] = {}
    for folder in FOLDERS:
        try:
            names = os.listdir(host.at(host.resolve(folder)))
        except OSError:
            continue
        for name in names[:FILES]:
            if name.endswith(".conf"):
                files.setdefault(name, f"{folder}/{name}")
    for name in sorted(files):
        text = head(host.at(host.resolve(files[name])), _LIMIT).decode(errors="replace")
        for line in text.splitlines():
            fields = line.split()
            if len(fields) > 1 and fields[0][:1] in "dDevqQCxX" and fields[1].startswith(("/", "%")):
                path = fields[1].replace("%T", "/tmp").replace("%V", "/var/tmp").rstrip("/")  # noqa: S108
                age = seconds(fields[5]) if len(fields) > 5 else None
                yield _Line(fields[0][0], path, age, files[name], line.strip()[:200])


def _reaper(host: Host) -> Iterator[Cleaner]:
    """Read tmpreaper.conf(5): it works once SHOWWARNING has been switched off."""
    text = head(host.at(host.resolve(REAPER)), _LIMIT).decode(errors="replace")
    values = {name: value.strip() for name, value in _SHELL.findall(text)}
    age = seconds(values.get("TMPREAPER_TIME", "7d"))
    if not text or age is None or values.get("SHOWWARNING", "true").lower() == "true":
        return
    rule = f"TMPREAPER_TIME={values.get('TMPREAPER_TIME', '7d')}"
    for folder in values.get("TMPREAPER_DIRS", "/tmp/.").split():  # noqa: S108 - its own default
        yield Cleaner(folder.removesuffix("/.").rstrip("/"), age, REAPER, rule)
