"""The seal: the record of an environment's good state, kept inside it.

`<prefix>/.envdoctor/seal.json` holds what was seen; the stat index, a hundred times larger, lies beside it in a file of
its own, named by the seal, so that what needs only the small part reads only that. Where the prefix cannot be written
the folder is below XDG state, named for the prefix.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from envdoctor.codec import from_json, to_json
from envdoctor.errors import EnvDoctorError
from envdoctor.system.host import write_all, write_atomically
from envdoctor.system.reading import regular
from envdoctor.system.rooted import below

SCHEMA = 1
_LIMIT = 16 << 20
"""Bytes of a seal; 200 distributions take 40 KB."""
_LITTER = re.compile(r"\.(?:index-|lock-|seal\.json\.)|index-\d{8}T\d{6}-\d+\.jsonl\Z")
"""What a seal that was killed half-way leaves, and no seal names."""
_INDEX_LIMIT = 512 << 20
"""Bytes of a stat index; 42,000 files take 4.5 MB."""


@dataclass(frozen=True, slots=True)
class SealedDistribution:
    """One distribution as it was."""

    name: str
    version: str | None
    record: str
    """Digest of the rows of its RECORD that come from the wheel itself; "" where there was none."""
    tags: tuple[str, ...] = ()
    editable: bool = False


@dataclass(frozen=True, slots=True)
class Seal:
    """The state that was called good."""

    taken_at: str
    """RFC 3339, UTC."""
    envdoctor: str
    """Version that wrote it."""
    host: str
    python_version: str | None
    python_path: str
    """The file behind bin/python."""
    distributions: tuple[SealedDistribution, ...]
    torch_version: str | None = None
    """Of torch/version.py, label included."""
    torch_git: str | None = None
    pth: tuple[str, ...] = ()
    """Names of the .pth files that were there."""
    variables: Mapping[str, str] = field(default_factory=dict)
    toolkits: Mapping[str, str] = field(default_factory=dict)
    """CUDA toolkits: real directory -> version; under `build`, the directory of the one that a build would take."""
    driver: str | None = None
    """Version of the NVIDIA driver."""
    lock_origin: str | None = None
    lock_digest: str | None = None
    lock_name: str | None = None
    """File name of the copy beside the seal."""
    frozen: bool = False
    index_name: str | None = None
    """File name of the stat index beside the seal."""
    schema: int = SCHEMA


def folders(prefix: str, env: Mapping[str, str] | None = None) -> tuple[str, str]:
    """Return where a seal may lie: inside the prefix, and where that cannot be written."""
    env = os.environ if env is None else env
    state = env.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):  # the XDG base directory specification: a relative one is to be ignored
        state = os.path.join(os.path.expanduser("~"), ".local", "state")
    key = hashlib.sha256(os.path.realpath(prefix).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return os.path.join(prefix, ".envdoctor"), os.path.join(state, "envdoctor", "seals", key)


def read(prefix: str) -> Seal | None:
    """Read the seal of an environment; None if it has none. Raises EnvDoctorError if it cannot be understood."""
    found = _find(prefix)
    return None if found is None else parse(_read(found), found)


def _find(prefix: str) -> str | None:
    """Return the younger of two seals: one in the prefix may have become read-only before the other was taken."""
    paths = (os.path.join(folder, "seal.json") for folder in folders(prefix))
    return max(filter(os.path.lexists, paths), key=lambda path: os.lstat(path).st_mtime, default=None)


def _read(path: str) -> str:
    try:
        return regular(path, _LIMIT).decode("utf-8", "surrogateescape")
    except ValueError as error:
        raise EnvDoctorError(f"{path}: {error}; run `envdoctor seal` again") from error
    except OSError as error:
        raise EnvDoctorError(f"{path}: {error.strerror or error}") from error


def parse(text: str, path: str) -> Seal:
    """Read a seal's text. Raises EnvDoctorError naming what does not fit."""
    try:
        data = json.loads(text)
        if data.get("schema") != SCHEMA:
            raise EnvDoctorError(f"{path}: seal schema {data.get('schema')!r} is not {SCHEMA}; seal again")
        seal: Seal = from_json(Seal, data)
    except (ValueError, AttributeError, RecursionError) as error:
        raise EnvDoctorError(f"{path}: damaged seal ({error}); run `envdoctor seal` again") from error
    return seal


def read_index(prefix: str, seal: Seal, *, first: bool = False) -> list[bytes]:
    """Read the lines of a seal's stat index, or only the first; none if it is gone, so that all is judged unsealed."""
    found = _find(prefix)
    if found is None or seal.index_name is None:
        return []
    path = os.path.join(os.path.dirname(found), os.path.basename(seal.index_name))
    try:
        data = regular(path, _INDEX_LIMIT)
    except (OSError, ValueError):
        return []
    return [b"".join(data.partition(b"\n")[:2])] if first else data.splitlines(keepends=True)


def recorded_lock(prefix: str, root: str = "") -> str | None:
    """Return the lock that the seal names: its origin while that exists, otherwise the copy.

    `root` is the directory in which the machine's files lie that the seal was taken on.
    """
    try:
        found = _find(prefix)
        seal = None if found is None else parse(_read(found), found)
    except EnvDoctorError:
        return None
    if found is None or seal is None or seal.lock_name is None:
        return None
    copy = os.path.join(os.path.dirname(found), os.path.basename(seal.lock_name))
    origin = below(root, seal.lock_origin) if seal.lock_origin else None
    return next((path for path in (origin, copy) if path and os.path.isfile(path)), None)


def write(prefix: str, seal: Seal, index: Sequence[str], lock: bytes | None) -> str:
    """Write a seal and what belongs to it; return its path. The seal itself is replaced last, in one step.

    Raises EnvDoctorError if neither folder can be written.
    """
    problem: EnvDoctorError | None = None
    for folder in folders(prefix):
        try:
            return _write_in(folder, seal, index, lock)
        except EnvDoctorError as error:
            problem = problem or error
    raise problem or EnvDoctorError(f"{prefix}: nowhere to write a seal")


def thaw(prefix: str) -> None:
    """Let the seal of an environment say that it is not frozen; what was called good stays what it was.

    Raises EnvDoctorError if that cannot be done.
    """
    found = _find(prefix)
    if found is not None:
        with _locked(os.path.dirname(found)):
            _put_seal(found, replace(parse(_read(found), found), frozen=False))


def _put_seal(path: str, seal: Seal) -> None:
    _put(path, json.dumps(to_json(seal), indent=1, sort_keys=True).encode("utf-8", "surrogateescape") + b"\n")


def _write_in(folder: str, seal: Seal, index: Sequence[str], lock: bytes | None) -> str:
    with _locked(folder):
        path = os.path.join(folder, "seal.json")
        former = _names(path)
        if seal.index_name is not None:
            _put(os.path.join(folder, seal.index_name), os.fsencode("\n".join(index)))
        if lock is not None and seal.lock_name is not None:
            _put(os.path.join(folder, seal.lock_name), lock, mode=0o600)
        _put_seal(path, seal)
        _sweep(folder, former, keep={seal.index_name, seal.lock_name})
        return path


@contextlib.contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Hold the folder of a seal against other seals. A link in its place would lead the seal somewhere else."""
    try:
        os.makedirs(folder, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise EnvDoctorError(f"{folder}: no place for a seal: {error.strerror or error}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with _writable(descriptor):
            yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _writable(descriptor: int) -> Iterator[None]:
    """Let a folder of this user's be written to that a freeze has closed."""
    status = os.fstat(descriptor)
    if status.st_mode & 0o200 or status.st_uid != os.geteuid():
        yield
        return
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode) | 0o200)
    try:
        yield
    finally:
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _names(path: str) -> set[str | None]:
    """Return the names of the files that belong to the seal there; none if there is no sound one."""
    try:
        seal = parse(_read(path), path)
    except EnvDoctorError:
        return set()
    return {os.path.basename(name) for name in (seal.index_name, seal.lock_name) if name}


def _put(path: str, data: bytes, *, mode: int = 0o644) -> None:
    write_atomically(path, lambda descriptor: write_all(descriptor, data), mode=mode)


def _sweep(folder: str, former: set[str | None], keep: set[str | None]) -> None:
    """Remove the files of the former seal, and the half-written ones of a seal that was killed."""
    for name in os.listdir(folder):
        if name not in keep and (name in former or _LITTER.match(name)):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))
