"""Every file that a RECORD names, against the disk: there or not, same size, and same bytes where the time is suspect.

A whole hash of everything is not taken here; a file is hashed if its time says that it was written after its
distribution was installed, or, with a seal, if its times differ from the sealed ones.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from stat import ST_MTIME

from envdoctor import seals
from envdoctor.facts import records
from envdoctor.facts.distributions import normalised
from envdoctor.facts.search_path import SearchPath
from envdoctor.model import Target, Unavailable
from envdoctor.seals import Index, Seal
from envdoctor.system.host import Host

SHOWN = 50
"""Paths kept of one distribution; the counts are of all."""
SLACK = 2
"""Seconds by which a file may be younger than its RECORD: file systems and clocks are not that exact."""
_KIND, _REGULAR = 0o170000, stat.S_IFREG
HASH_BUDGET = 256 << 20
"""Bytes that a plain check hashes at most."""


@dataclass(frozen=True, slots=True)
class AlteredFile:
    """A file that is not what was installed."""

    path: str
    """Relative to the site-packages directory."""
    how: str
    """`size`, `content` or `not a file`."""
    recorded_size: int | None
    size: int | None


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


@dataclass(frozen=True, slots=True)
class Files:
    """The disk against all RECORDs of the environment's own site-packages."""

    distributions: tuple[DistributionFiles, ...]
    checked: int
    """Rows compared."""
    hashed: int = 0
    unverified: int = 0
    """Files whose time was suspect and that were not hashed, the budget being spent."""
    rebuilt: tuple[str, ...] = ()
    """Dist-infos whose RECORD names other wheel contents than the sealed one of the same name and version."""


def collect(target: Target, host: Host, search_path: SearchPath, seal: Seal | Unavailable) -> Files:  # noqa: ARG001
    """Stat every recorded file of the environment's own site-packages."""
    index = seals.read_index(target.prefix, seal) if isinstance(seal, Seal) else {}
    comparison = Comparison(target.prefix, index, sealed=sealed_records(seal))
    found = [comparison.distribution(site, name) for site in search_path.site_dirs() for name in _infos(site)]
    wrong = tuple(state for state in found if state.missing or state.altered or state.outside or state.problem)
    return Files(wrong, comparison.checked, comparison.hashed, comparison.unverified, tuple(comparison.rebuilt))


def sealed_records(seal: Seal | Unavailable) -> dict[str, str]:
    """Return the RECORD digests of a seal by `name-version`."""
    sealed = seal.distributions if isinstance(seal, Seal) else ()
    return {f"{item.name}-{item.version}": item.record for item in sealed if item.record}


def _infos(site: str) -> list[str]:
    try:
        names = os.listdir(site)
    except OSError:
        return []
    return sorted(name for name in names if name.endswith(".dist-info") and not name.startswith("~"))


class Comparison:
    """Compares RECORDs with the disk and keeps count; collects a stat index on the way if asked to."""

    def __init__(
        self,
        prefix: str,
        index: Index,
        *,
        sealed: Mapping[str, str] | None = None,
        collected: dict[str, list[int]] | None = None,
    ) -> None:
        self.prefix = prefix
        self.index = index
        self.sealed = sealed or {}
        self.collected = collected
        self.rebuilt: list[str] = []
        self.checked = 0
        self.hashed = 0
        self.unverified = 0
        self.budget = HASH_BUDGET

    def distribution(self, site: str, info: str) -> DistributionFiles:
        """Compare one distribution."""
        metadata = os.path.join(site, info)
        name = info[: -len(".dist-info")]
        record = os.path.join(metadata, "RECORD")
        try:
            status = os.stat(record)
            if not stat.S_ISREG(status.st_mode):
                return DistributionFiles(name, metadata, 0, problem="RECORD is not a regular file")
            rows = records.read(record)
        except FileNotFoundError:
            return DistributionFiles(name, metadata, 0)  # packages/missing-record speaks of it
        except OSError as error:
            return DistributionFiles(name, metadata, 0, problem=f"RECORD cannot be read: {error.strerror}")
        except ValueError as error:
            return DistributionFiles(name, metadata, 0, problem=f"RECORD {error}")
        self._compare_build(name, metadata, rows, status)
        missing, altered, outside = self._rows(site, rows, status[ST_MTIME] + SLACK)
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

    def _compare_build(self, name: str, metadata: str, rows: Sequence[records.Row], status: os.stat_result) -> None:
        """See whether this is still the wheel that was sealed; a RECORD with its sealed times need not be digested."""
        key = os.path.relpath(os.path.join(metadata, "RECORD"), self.prefix)
        times = [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
        if self.collected is not None:
            self.collected[key] = times
        project, _, version = name.rpartition("-")
        sealed = self.sealed.get(f"{normalised(project)}-{version}")
        if sealed and self.index.get(key) != times and records.wheel_digest(rows) != sealed:
            self.rebuilt.append(metadata)

    def _rows(
        self, site: str, rows: Sequence[records.Row], deadline: int
    ) -> tuple[list[str], list[AlteredFile], list[str]]:
        """Walk the rows: this loop runs once for each of 70,000 files, so it does little for a file in order."""
        missing: list[str] = []
        altered: list[AlteredFile] = []
        outside: list[str] = []
        get_stat, base = os.stat, site + "/"
        relative = os.path.relpath(site, self.prefix) + "/"
        index, collected = self.index, self.collected
        checked = 0
        for path, digest, size in rows:
            if not digest or path.endswith(".pyc"):
                continue
            if (".." in path or path.startswith("/")) and records.is_outside(path):
                if not self._inside(site, path):
                    outside.append(path)
                continue
            checked += 1
            try:
                status = get_stat(base + path)
            except (OSError, ValueError) as error:
                missing.append(path if isinstance(error, FileNotFoundError) else f"{path} ({error})")
                continue
            fault = None
            if str(status.st_size) != size or status.st_mode & _KIND != _REGULAR:
                fault = _unlike(base + path, status, size)
            elif status[ST_MTIME] > deadline if not index else self._moved(relative + path, status, deadline):
                fault = "content" if self._differs(base + path, digest, status.st_size) else None
            if fault is not None:
                altered.append(AlteredFile(path, fault, _number(size), status.st_size))
            elif collected is not None:
                collected[relative + path] = [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
        self.checked += checked
        return missing, altered, outside

    def _moved(self, key: str, status: os.stat_result, deadline: int) -> bool:
        """Tell whether a file's times are not the sealed ones; one that was not sealed is judged as without a seal."""
        sealed = self.index.get(key)
        if sealed is None:
            return status[ST_MTIME] > deadline
        return sealed != [status.st_size, status.st_mtime_ns, status.st_ctime_ns]

    def _differs(self, path: str, digest: str, size: int) -> bool:
        """Hash a suspect file if the budget allows."""
        if size > self.budget:
            self.unverified += 1
            return False
        self.budget -= size
        self.hashed += 1
        return records.matches(path, digest) is False and not os.path.islink(path)

    def _inside(self, site: str, path: str) -> bool:
        whole = os.path.normpath(os.path.join(site, path))
        real = os.path.join(os.path.realpath(site), path)
        prefixes = (self.prefix, os.path.realpath(self.prefix))
        return any(
            spelled.startswith(prefix + "/") for spelled in (whole, os.path.normpath(real)) for prefix in prefixes
        )


def _unlike(path: str, status: os.stat_result, size: str) -> str | None:
    """Say how a file's kind or size differs from its row; a row without size and a link are not compared."""
    if status.st_mode & _KIND != _REGULAR:
        return "not a file"
    return None if not size or status.st_size == _number(size) or os.path.islink(path) else "size"


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None  # noqa: PLR2004
