"""The seal: the record of an environment's good state, kept inside it.

`<prefix>/.envdoctor/seal.json` holds what was seen; the stat index, a hundred times larger, lies beside it in a file of
its own, named by the seal, so that what needs only the small part reads only that. Where the prefix cannot be written
the folder is below XDG state, named for the prefix.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from envdoctor.codec import from_json, to_json
from envdoctor.errors import EnvDoctorError
from envdoctor.system.host import write_atomically

SCHEMA = 1
_LIMIT = 256 << 20


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
    state = env.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
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
        if os.path.exists(path) and not os.path.isfile(path):
            raise EnvDoctorError(f"{path} is not a regular file; run `envdoctor seal` again")
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read(_LIMIT)
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
        if not os.path.isfile(path):
            return []
        with open(path, "rb") as stream:
            return [stream.readline()] if first else stream.readlines()
    except OSError:
        return []


def recorded_lock(prefix: str) -> str | None:
    """Return the lock that the seal names: its origin while that exists, otherwise the copy."""
    try:
        found = _find(prefix)
        seal = None if found is None else parse(_read(found), found)
    except EnvDoctorError:
        return None
    if found is None or seal is None or seal.lock_name is None:
        return None
    copy = os.path.join(os.path.dirname(found), os.path.basename(seal.lock_name))
    return next((path for path in (seal.lock_origin, copy) if path and os.path.isfile(path)), None)


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


def _write_in(folder: str, seal: Seal, index: Sequence[str], lock: bytes | None) -> str:
    if seal.index_name is not None:
        _put(os.path.join(folder, seal.index_name), os.fsencode("\n".join(index)))
    if lock is not None and seal.lock_name is not None:
        _put(os.path.join(folder, seal.lock_name), lock)
    path = os.path.join(folder, "seal.json")
    _put(path, json.dumps(to_json(seal), indent=1, sort_keys=True).encode("utf-8", "surrogateescape") + b"\n")
    _sweep(folder, {"seal.json", seal.index_name, seal.lock_name})
    return path


def _put(path: str, data: bytes) -> None:
    def write_all(descriptor: int) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]

    write_atomically(path, write_all)


def _sweep(folder: str, keep: set[str | None]) -> None:
    """Remove the files of an earlier seal, and the half-written ones of a seal that was killed."""
    for name in os.listdir(folder):
        if name not in keep and name.startswith(("index-", "lock-", ".index-", ".lock-", ".seal.json.")):
            os.unlink(os.path.join(folder, name))
