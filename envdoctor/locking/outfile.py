"""The file that a lock is written to: its format by its name, what stands there already, and how it is replaced."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from envdoctor import locks
from envdoctor.errors import LockError, RefusedLockError, UsageError
from envdoctor.locking import tidying
from envdoctor.locking.accepting import accepted
from envdoctor.locking.resolvers import Format
from envdoctor.locks import files, header
from envdoctor.locks.header import Header
from envdoctor.printable import printable, redact
from envdoctor.system.placing import place

OTHERS = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pyproject.toml")
"""Names under which other tools read their own formats."""
_PYLOCK = re.compile(r"pylock\.(?:[^.]+\.)?toml")
_SEED = """\
lock-version = "1.0"
created-by = "envdoctor"
packages = []
"""


@dataclass(frozen=True, slots=True)
class Old:
    """The lock that stands there."""

    pins: tuple[tuple[str, str], ...] = ()
    """Name and version of what comes from an index."""
    header: Header | None = None


def format_of(path: str, said: Format | None) -> Format:
    """Return the format of a lock by its name (PEP 751). Raises UsageError if that is not the one asked for."""
    name = os.path.basename(path)
    if name in OTHERS:
        raise UsageError(f"-o: {printable(name)}: is the name of another tool's lock; call it NAME.txt or pylock.toml")
    named: Format = "pylock" if _PYLOCK.fullmatch(name) else "requirements"
    if said == "pylock" and named != "pylock":
        raise UsageError(f"-o: {printable(name)}: a pylock is called pylock.toml or pylock.NAME.toml (PEP 751)")
    if (said == "requirements" and named == "pylock") or (named == "requirements" and name.endswith(".toml")):
        raise UsageError(f"-o: {printable(name)}: is no name for a requirements lock, which others would take for TOML")
    return named


def old_lock(path: str, said: str) -> Old:
    """Read what stands there; nothing, or an empty file, pins nothing. Raises UsageError if it is no lock."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise UsageError(f"-o: {printable(said)}: {printable(folder)} is not a directory")
    if not os.path.lexists(path):
        return Old()
    try:
        data = files.read_bytes(path)
        if not data.strip():
            return Old()
        lock = locks.read(path)
    except LockError as error:
        raise UsageError(f"-o: {printable(said)}: is there and {error.problem}; name another file") from error
    if lock.format not in ("requirements", "pylock"):
        raise UsageError(f"-o: {printable(said)}: is there and is a lock of {lock.format}; name another file")
    pins = [
        (package.name, package.version) for package in lock.packages if package.source == "index" and package.version
    ]
    return Old(tuple(dict(pins).items()), header.parse(data.decode(errors="replace")))


def moved(old: Old, path: str) -> tuple[str, ...]:
    """Return the pins that are not what they were in the old lock; what came or went is not among them."""
    now = {package.name: package.version for package in locks.read(path).packages}
    return tuple(f"{name} {version} -> {now[name]}" for name, version in old.pins if now.get(name, version) != version)


def seed(old: Old, form: Format) -> str:
    """Write the old pins for a resolver to keep to, without their hashes, which it would take over unseen."""
    if form == "requirements":
        return tidying.seed(old.pins)
    packages = [f'[[packages]]\nname = "{name}"\nversion = "{version}"\n' for name, version in old.pins]
    return _SEED if not packages else _SEED.replace("packages = []\n", "\n") + "\n".join(packages)


def put(path: str, text: str, form: Format, said: str) -> None:
    """Put a lock in place if it may be used. Raises RefusedLockError, saying where the rejected one lies."""
    name, number = os.path.basename(path), os.getpid()
    stem = name.rsplit(".", 1)[0]
    scratch = f"pylock.envdoctor-{number}.toml" if form == "pylock" else f".{stem}.envdoctor-{number}.txt"

    def judge(written: str) -> list[str]:
        return [*tidying.leaks(text), *accepted(written)]

    problems = place(path, text, scratch, judge, rejected=redact(text))
    if problems:
        kept = "; the old one stays" if os.path.lexists(path) else ""
        raise RefusedLockError(f"{said}: not written, the lock is faulty{kept}; it lies in {said}.rejected", problems)
