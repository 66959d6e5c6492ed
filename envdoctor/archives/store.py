"""The doctor's own store of archives: private to the user, named by sha256, and never believed.

    <folder>/<first 2 hex>/<sha256>/<file name>     an archive
    <folder>/incoming-*/                            what a running doctor fetches; swept up once it has ended
    <folder>/built/<key>.json                       which wheel was built from which source archive

A file gets its name when it is whole: written beside, synced, renamed. Whatever is taken out is hashed again.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import BinaryIO

from envdoctor.archives import Archive
from envdoctor.errors import EnvDoctorError
from envdoctor.locks.text import ARCHIVES, name_and_version, normalised
from envdoctor.system.people import others_who_write, user_name
from envdoctor.system.reading import opened

BLOCK = 1 << 20
"""Bytes read at a time."""
_DIGEST = re.compile(r"[0-9a-f]{64}")
_INCOMING = "incoming-"
_ALGORITHMS = ("sha256", "sha384", "sha512")


def place(env: Mapping[str, str]) -> str:
    """Return the store's directory (XDG base directory specification: a relative one is ignored).

    `env` are the variables of whoever runs the doctor, HOME among them.
    """
    caches = env.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(caches):
        caches = os.path.join(env["HOME"], ".cache")
    return os.path.join(caches, "envdoctor", "archives")


def has(folder: str, wanted: Iterable[str]) -> bool:
    """Tell whether a store in this directory seems to hold a file of one of these digests; nothing is made or read."""
    named = (digest.partition(":")[2] for digest in wanted if digest.startswith("sha256:"))
    return any(os.path.isdir(os.path.join(folder, each[:2], each)) for each in named)


def digests(path: str, algorithms: Iterable[str] = ("sha256",)) -> frozenset[str]:
    """Hash a regular file; return `algorithm:hex` for each. Raises OSError, ValueError for something else."""
    with opened(path) as stream:
        return _hashed(stream, algorithms)


def _has(path: str, wanted: set[str]) -> bool:
    try:
        return wanted <= digests(path, {digest.partition(":")[0] for digest in wanted})
    except (OSError, ValueError):
        return False


def _hashed(stream: BinaryIO, algorithms: Iterable[str]) -> frozenset[str]:
    hashes = [hashlib.new(name) for name in algorithms]
    while block := stream.read(BLOCK):
        for each in hashes:
            each.update(block)
    return frozenset(f"{each.name}:{each.hexdigest()}" for each in hashes)


class Store:
    """The store in one directory, made if need be.

    Raises EnvDoctorError if it cannot be made, or if somebody else could put files there.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.dropped: list[str] = []
        """Names of files that were not what they are named for, and were removed."""
        try:
            for each in (os.path.dirname(folder), folder):
                os.makedirs(each, mode=0o700, exist_ok=True)
            status = os.stat(folder)
        except OSError as error:
            raise EnvDoctorError(f"the store {folder} cannot be made: {error.strerror or error}") from error
        doubt = _doubt(status)
        if doubt:
            raise EnvDoctorError(f"the store {folder} {doubt}, so nothing in it can be trusted; remove it")

    def put(self, path: str, filename: str = "", *, built_from: str = "") -> Archive:
        """Take a copy of a file, under its own name unless another is given. Raises EnvDoctorError.

        What lies in an `incoming` directory is moved instead.
        """
        filename = _checked(filename or os.path.basename(path))
        try:
            if path.startswith(os.path.join(self.folder, _INCOMING)):
                return self._keep(path, filename, built_from)
            with self.incoming() as beside:
                copy = os.path.join(beside, filename)
                with opened(path) as source, open(copy, "xb") as stream:
                    shutil.copyfileobj(source, stream, BLOCK)
                return self._keep(copy, filename, built_from)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise EnvDoctorError(f"{path} cannot be taken into the store {self.folder}: {reason}") from error

    def _keep(self, path: str, filename: str, built_from: str) -> Archive:
        """Move a file that lies in the same file system to its place."""
        os.chmod(path, 0o400)  # whatever the umask and the tool that wrote it say
        with opened(path) as stream:
            (digest,) = _hashed(stream, ("sha256",))
            os.fsync(stream.fileno())
        sha256 = digest.partition(":")[2]
        folder = self._home(sha256)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        kept = os.path.join(folder, filename)
        with self._locked():
            os.replace(path, kept)
        _sync(folder)
        return _archive(kept, sha256, built_from)

    def find(self, wanted: Iterable[str], rank: Callable[[str], int | None] = lambda _: 0) -> Archive | None:
        """Return a file that has one of these digests (`algorithm:hex`), None if there is none.

        `rank` says of a file name how good it is, the lowest the best, None for not at all. A file that is not what it
        is named for is removed.
        """
        found: list[tuple[int, str, Archive]] = []
        for digest in wanted:
            algorithm, _, value = digest.partition(":")
            archive = self._at(value if algorithm == "sha256" else self._linked(digest))
            order = rank(archive.filename) if archive is not None else None
            if archive is not None and order is not None:
                found.append((order, digest, archive))
        for _, digest, archive in sorted(found, key=lambda each: each[0]):
            if self._is(archive.path, {f"sha256:{archive.sha256}", digest}):
                return archive
        return None

    def alias(self, archive: Archive, digest: str) -> None:
        """Remember that an archive is also known by this digest, of another algorithm; it is checked at each use."""
        algorithm, _, value = digest.partition(":")
        if algorithm in _ALGORITHMS[1:]:
            folder = os.path.join(self.folder, algorithm)
            with contextlib.suppress(OSError):
                os.makedirs(folder, mode=0o700, exist_ok=True)
                os.symlink(archive.sha256, os.path.join(folder, value))

    def _linked(self, digest: str) -> str:
        algorithm, _, value = digest.partition(":")
        if algorithm not in _ALGORITHMS or not re.fullmatch(r"[0-9a-f]+", value):
            return ""
        try:
            return os.readlink(os.path.join(self.folder, algorithm, value))
        except OSError:
            return ""

    def _home(self, sha256: str) -> str:
        return os.path.join(self.folder, sha256[:2], sha256)

    def _at(self, sha256: str) -> Archive | None:
        folder = self._home(sha256)
        if not _DIGEST.fullmatch(sha256):
            return None
        with contextlib.suppress(OSError):
            for name in sorted(os.listdir(folder)):
                if name.endswith(ARCHIVES):
                    return _archive(os.path.join(folder, name), sha256)
        return None

    def _is(self, path: str, wanted: set[str]) -> bool:
        """Hash a file of the store; remove it if it is not what it should be.

        It is hashed again before that, while nobody else can put the right one in its place.
        """
        if _has(path, wanted):
            return True
        with self._locked():
            if _has(path, wanted):
                return True
            self.dropped.append(os.path.basename(path))
            with contextlib.suppress(OSError):
                os.unlink(path)
        return False

    def _locked(self) -> contextlib.AbstractContextManager[None]:
        return _locked(os.path.join(self.folder, "lock"))

    @contextlib.contextmanager
    def incoming(self) -> Iterator[str]:
        """Give a directory for what is on its way, in the file system of the store; it is gone afterwards.

        Those of doctors that were killed are swept up: their lock is let go of by the kernel.
        """
        try:
            with self._locked():
                self._sweep()
                folder = tempfile.mkdtemp(prefix=_INCOMING, dir=self.folder)
                descriptor = _tried(folder)
        except OSError as error:
            raise EnvDoctorError(f"the store {self.folder} cannot be written: {error.strerror or error}") from error
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            if descriptor is not None:
                os.close(descriptor)

    def _sweep(self) -> None:
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            if name.startswith(_INCOMING) and (descriptor := _tried(path)) is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(descriptor)


def flat(archives: Iterable[Archive], folder: str) -> None:
    """Lay archives out under their own names in a directory, for --find-links; links, so that it costs no space.

    They are symbolic: both installers read them, and what is done to a link does nothing to the file in the store.
    Raises EnvDoctorError.
    """
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for archive in archives:
            os.symlink(archive.path, os.path.join(folder, archive.filename))
    except OSError as error:
        raise EnvDoctorError(f"{folder}: {error.strerror or error}") from error


def _archive(path: str, sha256: str, built_from: str = "") -> Archive:
    filename = os.path.basename(path)
    name, version = name_and_version(filename) or (filename, "")
    return Archive(normalised(name), version, filename, sha256, path, os.stat(path).st_size, built_from)


def _checked(filename: str) -> str:
    if filename != os.path.basename(filename) or not filename.endswith(ARCHIVES) or filename[0] in ".-":
        raise EnvDoctorError(f"{filename!r} is no file name of a wheel or source archive")
    return filename


def _doubt(status: os.stat_result) -> str | None:
    """Say why somebody else may have written into the store; None if nobody can have."""
    if not stat.S_ISDIR(status.st_mode):
        return "is no directory"
    if status.st_uid != os.geteuid():
        return f"belongs to user {user_name(status.st_uid)}"
    others = others_who_write(status)
    return f"can be written by {others}" if others else None


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Hold a lock file for a moment; it is never held while something is fetched."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _tried(folder: str) -> int | None:
    """Lock a directory, None if somebody else has: the descriptor holds the lock until it is closed."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _sync(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
