"""One RECORD against the disk: each file that it names is there, of its size, and where it is suspect of its bytes."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from stat import ST_MTIME
from typing import Literal

from envdoctor.facts import records, stat_index
from envdoctor.facts.metadata import normalised
from envdoctor.facts.stat_index import SealedFiles, Times, times_of
from envdoctor.system.rooted import joined

SHOWN = 50
"""Paths kept of one distribution; the counts are of all."""
SLACK = 2
"""Seconds by which a file may be younger than its RECORD: file systems and clocks are not that exact."""
HASH_BUDGET = 128 << 20
"""Bytes that one child of a plain check hashes at most."""
_KIND, _REGULAR = 0o170000, stat.S_IFREG


@dataclass(frozen=True, slots=True)
class AlteredFile:
    """A file that is not what was installed."""

    path: str
    """Relative to the site-packages directory."""
    how: str
    """`size`, `content`, `not a file`, or `link`: a link has taken its place, to a file with other bytes."""
    recorded_size: int | None
    size: int | None
    changed_at: float | None = None
    """Its mtime, seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class DistributionFiles:
    """What is wrong with one distribution's files. Distributions in order are not kept."""

    name: str
    """The stem of its dist-info, `project-version`."""
    metadata: str
    """Its dist-info, absolute."""
    rows: int
    missing: tuple[str, ...] = ()
    missing_count: int = 0
    altered: tuple[AlteredFile, ...] = ()
    altered_count: int = 0
    outside: tuple[str, ...] = ()
    """Rows that name a file outside the environment."""
    problem: str | None = None
    """Why its RECORD could not be read."""


@dataclass(slots=True)
class Compared:
    """What came of comparing several distributions."""

    distributions: list[DistributionFiles] = field(default_factory=list)
    checked: int = 0
    hashed: int = 0
    unverified: int = 0
    rebuilt: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    """Files of an image (--root) that this user may not look at: nothing is known of them."""

    def add(self, other: Compared) -> None:
        """Take in what another process compared."""
        self.distributions += other.distributions
        self.checked += other.checked
        self.hashed += other.hashed
        self.unverified += other.unverified
        self.rebuilt += other.rebuilt
        self.unseen += other.unseen

    def hidden(self) -> str | None:
        """Say what was not looked at, None if nothing."""
        if not self.unseen:
            return None
        others = f", and {len(self.unseen) - 1:,} more" if len(self.unseen) > 1 else ""
        return f"{self.unseen[0]}{others} may not be looked at by this user; check as one who may"


class Comparison:
    """Compares RECORDs with the disk, helped by the stat index of a seal where there is one, and keeps count."""

    thorough = False
    """True if every file is suspect of which the index does not say otherwise."""
    everywhere = False
    """True if files outside site-packages, scripts mostly, are compared as well."""

    def __init__(
        self, prefix: str, index: Mapping[str, bytes], *, sealed: Mapping[str, str] | None = None, root: str = ""
    ) -> None:
        self.prefix = prefix
        self.root = root
        self.index = index
        self.sealed = sealed or {}
        self.found = Compared()
        self.budget = HASH_BUDGET

    def all(self, share: Sequence[tuple[str, str]]) -> Compared:
        """Compare the distributions of a share; those that are in order are not kept."""
        states = [self.distribution(site, info) for site, info in share]
        self.found.distributions = [s for s in states if s.missing or s.altered or s.outside or s.problem]
        return self.found

    def distribution(self, site: str, info: str) -> DistributionFiles:
        """Compare one distribution."""
        metadata = os.path.join(site, info)
        name = info[: -len(".dist-info")]
        record = os.path.join(metadata, "RECORD")
        known = stat_index.parse(self.index.get(os.path.relpath(metadata, self.prefix)))
        try:
            status = os.stat(record)
            if known is not None and self.in_order(known, site, metadata, status):
                self.found.checked += len(known.paths)
                return DistributionFiles(name, metadata, len(known.paths))
            rows = records.read(record)
        except FileNotFoundError:
            return DistributionFiles(name, metadata, 0)  # packages/missing-record speaks of it
        except OSError as error:
            return DistributionFiles(name, metadata, 0, problem=f"RECORD cannot be read: {error.strerror}")
        except ValueError as error:
            return DistributionFiles(name, metadata, 0, problem=f"RECORD {error}")
        self._compare_build(name, metadata, rows)
        times = self.times(known, status) if known is not None else {}
        missing, altered, outside = self._rows(site, rows, int(status.st_mtime) + SLACK, times)
        return DistributionFiles(
            name,
            metadata,
            len(rows),
            tuple(missing[:SHOWN]),
            len(missing),
            tuple(altered[:SHOWN]),
            len(altered),
            tuple(outside[:SHOWN]),
        )

    def in_order(self, known: SealedFiles, site: str, metadata: str, record: os.stat_result) -> bool:  # noqa: ARG002
        """Tell whether a distribution is in order by what the index says, so that its RECORD need not be read."""
        return known.intact(site, times_of(record))

    def times(self, known: SealedFiles, record: os.stat_result) -> Mapping[str, Times]:  # noqa: ARG002
        """Return what the index says of single files, though not all is as it says."""
        return known.by_path()

    def _compare_build(self, name: str, metadata: str, rows: Sequence[records.Row]) -> None:
        """See whether this is still the wheel that was sealed."""
        project, _, version = name.rpartition("-")
        sealed = self.sealed.get(f"{normalised(project)}-{version}")
        if sealed and records.wheel_digest(rows) != sealed:
            self.found.rebuilt.append(metadata)

    def _rows(
        self, site: str, rows: Sequence[records.Row], deadline: int, known: Mapping[str, Times]
    ) -> tuple[list[str], list[AlteredFile], list[str]]:
        """Walk the rows: this loop runs once for each of 70,000 files, so it does little for a file in order."""
        missing: list[str] = []
        altered: list[AlteredFile] = []
        outside: list[str] = []
        get_stat, base, thorough = os.stat, site + "/", self.thorough or bool(known)
        checked = 0
        for path, digest, size in rows:
            if not digest or (path.endswith(".pyc") and "__pycache__/" in path):
                continue  # installers write byte code anew; what lies elsewhere is the wheel's own
            if (".." in path or path.startswith("/")) and records.is_outside(path):
                inside = self._inside(site, path)
                if not inside:
                    outside.append(path)
                if not (inside and self.everywhere) or path.startswith("/"):
                    continue
            checked += 1
            try:
                status = get_stat(base + path)
            except (OSError, ValueError) as error:
                missing += self._gone(base, path, error)
                continue
            fault = None
            if str(status.st_size) != size or status.st_mode & _KIND != _REGULAR:
                fault = _unlike(base + path, status, size)
            if fault is None and (
                self.suspect(path, known.get(path), status, deadline) if thorough else status[ST_MTIME] > deadline
            ):
                fault = self.differs(base, path, digest, status)
            if fault is not None:
                altered.append(AlteredFile(path, fault, _number(size), status.st_size, status.st_mtime))
        self.found.checked += checked
        return missing, altered, outside

    def _gone(self, base: str, path: str, error: Exception) -> tuple[str, ...]:
        """Say what is missing: nothing where an image's file is only hidden from this user, who runs no job there."""
        if self.root and isinstance(error, PermissionError):
            self.found.unseen.append(base + path)
            return ()
        return (path if isinstance(error, FileNotFoundError) else f"{path} ({error})",)

    def suspect(self, path: str, known: Times | None, status: os.stat_result, deadline: int) -> bool:  # noqa: ARG002
        """Tell whether a file's times are not the sealed ones; one that was not sealed is judged as without a seal."""
        return status[ST_MTIME] > deadline if known is None else known != times_of(status)

    def differs(self, base: str, path: str, digest: str, status: os.stat_result) -> str | None:
        """Hash a suspect file if the budget allows; say how it differs."""
        if status.st_size > self.budget:
            self.found.unverified += 1
            return None
        self.budget -= status.st_size
        self.found.hashed += 1
        same = records.matches(base + path, digest)
        self.found.unverified += same is None
        return content_fault(base + path) if same is False else None

    def _inside(self, site: str, path: str) -> bool:
        spellings = (joined(self.root, site, path), joined(self.root, os.path.realpath(site), path))
        prefixes = (self.prefix, os.path.realpath(self.prefix))
        return any(spelled.startswith(prefix + "/") for spelled in spellings for prefix in prefixes)


def content_fault(path: str) -> Literal["link", "content"]:
    """Name the fault of a file whose bytes are not the recorded ones: a link has taken its place, or it was edited."""
    return "link" if os.path.islink(path) else "content"


def _unlike(path: str, status: os.stat_result, size: str) -> str | None:
    """Say how a file's kind or size differs from its row; a row without size is not compared."""
    if status.st_mode & _KIND != _REGULAR:
        return "not a file"
    if not size or status.st_size == _number(size):
        return None
    return "link" if os.path.islink(path) else "size"


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None
