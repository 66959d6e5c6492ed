"""Take the write bits off an environment, and give them back as they were.

Modes hold no root; for whoever runs pip as root, the environment's own pip.conf requires hashes, which a careless
`pip install` has none of. uv reads neither pip.conf nor, as root, modes.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from envdoctor.codec import to_json
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.facts.freeze import PIP_CONF, requires_hashes
from envdoctor.generations.changes import Changes, Content, content
from envdoctor.generations.freeze_record import OWN, OWNER, WRITE, Record, noted, read_record, record_path
from envdoctor.generations.pip_conf import hashed, unhashed
from envdoctor.system.people import user_name


@dataclass(frozen=True, slots=True)
class Frozen:
    """What a freeze did."""

    paths: int
    """Files and directories that are without write bits now."""
    shared: int
    """Files of these that have another name somewhere, as an installer's cache hard-links them: it is the same file."""


def refuse_unsuitable(prefix: str) -> None:
    """Raise UsageError for what is not to be frozen or thawed: no venv, or somebody else's."""
    if os.path.isdir(os.path.join(prefix, "conda-meta")):
        raise UsageError(f"{prefix} is a conda environment: conda would not know that it is frozen; pin it there")
    if not os.path.isfile(os.path.join(prefix, "pyvenv.cfg")):
        raise UsageError(f"{prefix} is no virtual environment: it has no pyvenv.cfg")
    owner = os.stat(prefix).st_uid
    if os.geteuid() not in (0, owner):
        raise UsageError(f"{prefix} belongs to {user_name(owner)}: only its owner can freeze or thaw it")


def freeze_tree(prefix: str, changes: Changes | None = None) -> Frozen:
    """Take all write bits off an environment and let its pip require hashes; again, if that was bypassed.

    `.envdoctor` stays writable. Raises UsageError for what is not to be frozen, EnvDoctorError if it cannot be done;
    then all is as it was before.
    """
    prefix = os.path.realpath(prefix)
    refuse_unsuitable(prefix)
    found = list(_survey(prefix))
    record = noted(prefix, found)
    with (changes or Changes()).or_none() as doing:
        _lift(doing, prefix)
        doing.folder(os.path.join(prefix, OWN))
        _lift(doing, os.path.join(prefix, OWN))
        # first of all: who is killed from here on finds in it what there is to give back
        doing.put(record_path(prefix), Content(json.dumps(to_json(record)).encode(), 0o600))
        doing.put(os.path.join(prefix, PIP_CONF), _refusing(prefix))
        for path, mode, _ in found:
            if mode & WRITE and path not in (prefix, os.path.join(prefix, PIP_CONF)):
                doing.mode(path, mode, mode & ~WRITE)
        _drop(doing, prefix)
    return Frozen(len(found), sum(shared for _, _, shared in found))


def thaw_tree(prefix: str, changes: Changes | None = None) -> None:
    """Give back what a freeze took, where it is not back already; to the owner alone, if nothing says what it took.

    Raises as `freeze_tree` does; then all is as it was before.
    """
    prefix = os.path.realpath(prefix)
    refuse_unsuitable(prefix)
    record = read_record(prefix) or Record()
    with (changes or Changes()).or_none() as doing:
        _lift(doing, os.path.join(prefix, OWN))
        for path, mode, _ in _survey(prefix):
            bits = record.taken(prefix, path)
            if bits and not mode & WRITE:
                doing.mode(path, mode, mode | bits)
        _lift(doing, prefix)
        doing.put(os.path.join(prefix, PIP_CONF), _as_before(prefix, record))
        doing.put(record_path(prefix), None)
        if not record.taken(prefix, prefix):
            _drop(doing, prefix)


def open_directories(prefix: str) -> None:
    """Let the owner write in every directory of an environment, so that it can be removed. Errors show in removing."""
    pending = [os.path.realpath(prefix)]
    while pending:
        folder = pending.pop()
        try:
            mode = os.lstat(folder).st_mode
            if mode & 0o700 != 0o700:
                os.chmod(folder, stat.S_IMODE(mode) | 0o700)
            with os.scandir(folder) as entries:
                pending += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue


def is_frozen(prefix: str) -> bool:
    """Tell whether an environment has the record of a freeze."""
    return os.path.lexists(record_path(os.path.realpath(prefix)))


def frozen_within(prefix: str, tell: Callable[[Frozen], object]) -> AbstractContextManager[None]:
    """Return a context that freezes an environment, for its seal to be written in: it stays so if that goes well.

    Raises UsageError at once for what is not to be frozen. `tell` is given what was done.
    """
    refuse_unsuitable(os.path.realpath(prefix))
    return _frozen_within(os.path.realpath(prefix), tell)


@contextlib.contextmanager
def _frozen_within(prefix: str, tell: Callable[[Frozen], object]) -> Iterator[None]:
    with Changes().or_none() as changes:
        tell(freeze_tree(prefix, changes))
        yield
        # the seal is written: who clears the environment away, as `venv --clear` does, cannot begin with it
        _drop(changes, os.path.join(prefix, OWN))


@contextlib.contextmanager
def thawed_within(prefix: str) -> Iterator[None]:
    """Thaw an environment: it stays so if all goes well in this context."""
    with Changes().or_none() as changes:
        thaw_tree(prefix, changes)
        yield


def _survey(prefix: str) -> Iterator[tuple[str, int, bool]]:
    """Yield path, permissions and whether it has another name, of all that is no link; our own folder is left out.

    Raises EnvDoctorError for a directory that cannot be looked into, UsageError for what is somebody else's.
    """
    yield prefix, stat.S_IMODE(os.lstat(prefix).st_mode), False
    pending, mine, own = [prefix], os.geteuid(), os.path.join(prefix, OWN)
    while pending:
        for path, status in _listed(pending.pop()):
            kind = status.st_mode
            if stat.S_ISLNK(kind) or path == own:
                continue
            if kind & WRITE and mine not in (0, status.st_uid):
                raise UsageError(f"{path} belongs to {user_name(status.st_uid)}: its mode is not yours to change")
            if stat.S_ISDIR(kind):
                pending.append(path)
            yield path, stat.S_IMODE(kind), stat.S_ISREG(kind) and status.st_nlink > 1


def _listed(folder: str) -> list[tuple[str, os.stat_result]]:
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # byte code and temporary files come and go
                    found.append((entry.path, entry.stat(follow_symlinks=False)))
    except OSError as error:
        raise EnvDoctorError(f"{folder}: cannot be looked into: {error.strerror or error}") from error
    return found


def _refusing(prefix: str) -> Content:
    """Return the pip.conf of a frozen environment: what is there, and that hashes are required."""
    path = os.path.join(prefix, PIP_CONF)
    target = os.path.realpath(path)
    found = (content(target) if os.path.isfile(target) else None) or Content()
    if requires_hashes(found.data):
        return Content(found.data, found.mode & ~WRITE)
    try:
        return Content(hashed(found.data), found.mode & ~WRITE)
    except ValueError as error:
        raise UsageError(f"{path}: no place for `require-hashes`: {error}") from error


def _as_before(prefix: str, record: Record) -> Content | None:
    """Return the pip.conf that was there; what somebody has made of it since stays, but for our line."""
    now, before = content(os.path.join(prefix, PIP_CONF)), record.before()
    if now is None or now.link is not None:
        return before if now is None else now
    told = base64.b64decode(record.pip_conf) if record.pip_conf is not None else b""
    if record.pip_conf_link is not None or now.data in (told, hashed(told)):
        return before
    return Content(unhashed(now.data), now.mode | (record.pip_conf_mode & WRITE))


def _lift(doing: Changes, path: str) -> None:
    """Let the owner write to a directory, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.lstat(path).st_mode)
        if not mode & OWNER:
            doing.mode(path, mode, mode | OWNER)


def _drop(doing: Changes, path: str) -> None:
    """Take all write bits off a directory."""
    mode = stat.S_IMODE(os.lstat(path).st_mode)
    if mode & WRITE:
        doing.mode(path, mode, mode & ~WRITE)
