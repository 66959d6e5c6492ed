"""A verdict that several checks share: sixty-four ranks that start at once on a node look once, and print the same.

A check answers for another if all that it depends on and that can be told at once is the same: what was asked, the
configuration, the variables that facts read, and the times of the lock, what it includes and was made from, the log,
the seal, the interpreter and each directory on the job's path. That is no proof that nothing else has changed; the
caller says how old a verdict may be.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from envdoctor import __version__, plugins
from envdoctor.codec import from_json, to_json
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.facts import variables
from envdoctor.model import Report, Target
from envdoctor.policy import Policy
from envdoctor.seals import folders
from envdoctor.system.forked import call
from envdoctor.system.host import Host
from envdoctor.system.shelf import Shelf, ShelfError

LOOK = 5.0
"""Seconds that a look at the times of files may take."""
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_AGE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)([smhd]?)")


@dataclass(frozen=True, slots=True)
class Dependency:
    """A path, and what told that it was the same thing, unchanged."""

    path: str
    times: tuple[int, ...]


def age_of(text: str) -> timedelta:
    """Read `90`, `30s`, `10m`, `2h` or `1d`. Raises UsageError."""
    match = _AGE.fullmatch(text.strip())
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not 0 < seconds <= 86400:
        raise UsageError(f"--reuse: {text!r} is no age of up to a day; say 30s, 10m or 2h")
    return timedelta(seconds=seconds)


def key_of(target: Target, policy: Policy, asked: Sequence[str], host: Host) -> str:
    """Return the digest of what a verdict depends on, as hexadecimal digits. Stats files of the target's.

    `asked` is what else was said on the command line.
    """
    parts = [
        [__version__, [_times(folder) for folder in plugins.folders()], os.getuid(), host.name, host.root, host.cwd],
        [to_json(target), to_json(policy), list(asked)],
        sorted(variables.read_by_facts(host.env).items()),
        [[path, _times(path)] for path in _watched(target, policy)],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _watched(target: Target, policy: Policy) -> Iterator[str]:
    """Yield what changes whenever something is installed, removed, locked, sealed or logged."""
    yield from filter(None, (target.lock, target.log, policy.path, target.prefix, target.python))
    yield from (os.path.join(target.prefix, name) for name in ("pyvenv.cfg", "bin", "conda-meta"))
    yield from (os.path.join(folder, "seal.json") for folder in folders(target.prefix))
    library = os.path.join(target.prefix, "lib")
    yield from (os.path.join(library, name, "site-packages") for name in sorted(_names(library)))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _times(path: str) -> list[int]:
    """Return what tells that a path leads to the same thing, unchanged; nothing if it leads nowhere."""
    try:
        status = os.stat(path)
    except OSError:
        return []
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


Checked = tuple[Report, Sequence[str]]
"""A report, and paths beside those of the key that it depends on: they are known only once it was made."""


def look(key: str, age: timedelta, host: Host, came: datetime | None = None) -> Report | None:
    """Return a verdict that may be reused, None if there is none; of those that ended since we `came`, any.

    Stats what it depends on, so that it is for a child.
    """
    try:
        data = json.loads(Shelf(host.own).read(key) or b"null")
        report: Report | None = data and from_json(Report, data["report"])
        depends = from_json(tuple[Dependency, ...], data["depends"]) if report is not None else ()
    except (ShelfError, ValueError, RecursionError, KeyError, TypeError):
        return None
    if report is None:
        return None
    old = host.now() - report.taken_at
    awaited = came is not None and report.taken_at >= came
    if not timedelta() <= old <= age or (report.incomplete and not awaited):
        return None
    if any(list(each.times) != _times(each.path) for each in depends):
        return None
    return _noted(report, f"of a verdict that is {max(0, round(old.total_seconds()))} s old")


def shared(key: str, age: timedelta, patience: float, host: Host, check: Callable[[], Checked]) -> Report:
    """Return a verdict that another process is about to reach; otherwise check, and share it.

    A check that was not complete answers for those alone that waited for it. Whoever waits longer than `patience`
    seconds, or has no place to share, checks by itself.
    """
    came = host.now()
    try:
        shelf = Shelf(host.own)
        lock = shelf.locked(key, patience)
    except ShelfError as error:
        return _noted(check()[0], f"nothing is shared: {error}")
    with lock as held:
        found: Report | None = call("the shared verdict", partial(look, key, age, host, came), timeout=LOOK)
        if found is not None:
            return found
        report, depends = check()
        return _put(shelf, key, report, depends) if held else report


def _put(shelf: Shelf, key: str, report: Report, depends: Sequence[str]) -> Report:
    try:
        known = call("what a verdict depends on", partial(_looked_at, depends), timeout=LOOK)
        shelf.put(key, json.dumps({"report": to_json(report), "depends": to_json(known)}).encode())
    except EnvDoctorError as error:
        return _noted(report, f"nothing is shared: {error}")
    return report


def _looked_at(paths: Sequence[str]) -> tuple[Dependency, ...]:
    return tuple(Dependency(path, tuple(_times(path))) for path in paths)


def _noted(report: Report, said: str) -> Report:
    return replace(report, seen={**report.seen, "reuse": said})
