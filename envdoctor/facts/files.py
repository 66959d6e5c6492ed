"""Every file that a RECORD names, against the disk: there or not, same size, and same bytes where the time is suspect.

A whole hash of everything is not taken here; a file is hashed if its time says that it was written after its
distribution was installed, or, with a seal, if its times differ from the sealed ones.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from stat import ST_MTIME

from envdoctor.errors import EnvDoctorError
from envdoctor.facts import records, stat_index
from envdoctor.facts.metadata import normalised
from envdoctor.facts.search_path import SearchPath
from envdoctor.facts.stat_index import Times, times_of
from envdoctor.model import Target, Unavailable
from envdoctor.seals import Seal
from envdoctor.system.forked import Task, gather
from envdoctor.system.host import Host

SHOWN = 50
"""Paths kept of one distribution; the counts are of all."""
SLACK = 2
"""Seconds by which a file may be younger than its RECORD: file systems and clocks are not that exact."""
SHARES = 2
"""Children that share the work. More gain little: the kernel's path look-ups are most of it."""
WITHIN = 9.0
"""Seconds; a little less than the fact may take, so that the reason given is this one."""
_KIND, _REGULAR = 0o170000, stat.S_IFREG
HASH_BUDGET = 256 << 20
"""Bytes that a plain check hashes at most."""


@dataclass(frozen=True, slots=True)
class AlteredFile:
    """A file that is not what was installed."""

    path: str
    """Relative to the site-packages directory."""
    how: str
    """`size`, `content`, `not a file`, or `link`: a link has taken its place, to a file with other bytes."""
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
    index_lost: bool = False
    """True if there is a seal whose stat index is gone or damaged: edits that keep size and time then go unseen."""
    rebuilt: tuple[str, ...] = ()
    """Dist-infos whose RECORD names other wheel contents than the sealed one of the same name and version."""


def collect(target: Target, host: Host, search_path: SearchPath, seal: Seal | Unavailable) -> Files:  # noqa: ARG001
    """Stat every recorded file of the environment's own site-packages, on two cores."""
    shares = _shared_out([info for site in search_path.site_dirs() for info in _infos(site)])
    sealed = stat_index.lines(target.prefix, seal) if isinstance(seal, Seal) else {}
    tasks = [Task(f"share {n}", partial(_compare, target, share, sealed, seal)) for n, share in enumerate(shares)]
    parts = gather(tasks, deadline=WITHIN, workers=SHARES).values()
    for part in parts:
        if isinstance(part, Unavailable):
            raise EnvDoctorError(part.reason)
    return Files(
        tuple(sorted((state for part in parts for state in part.distributions), key=lambda state: state.metadata)),
        sum(part.checked for part in parts),
        sum(part.hashed for part in parts),
        sum(part.unverified for part in parts),
        isinstance(seal, Seal) and seal.index_name is not None and not sealed,
        tuple(sorted(metadata for part in parts for metadata in part.rebuilt)),
    )


def _shared_out(infos: Sequence[tuple[int, tuple[str, str]]]) -> list[list[tuple[str, str]]]:
    """Give the largest first, each to the share that has least: torch alone is a third of the work."""
    loads = [0] * SHARES
    shares: list[list[tuple[str, str]]] = [[] for _ in loads]
    for size, info in sorted(infos, reverse=True):
        lightest = loads.index(min(loads))
        loads[lightest] += size
        shares[lightest].append(info)
    return shares


def _infos(site: str) -> list[tuple[int, tuple[str, str]]]:
    """List a directory's dist-infos with the size of their RECORDs, by which the work is shared out."""
    try:
        names = os.listdir(site)
    except OSError:
        return []
    infos = [name for name in names if name.endswith(".dist-info") and not name.startswith("~")]
    return [(_size(os.path.join(site, name, "RECORD")), (site, name)) for name in infos]


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _compare(
    target: Target, share: Sequence[tuple[str, str]], sealed: Mapping[str, bytes], seal: Seal | Unavailable
) -> Files:
    comparison = Comparison(target.prefix, sealed, sealed=sealed_records(seal))
    found = [comparison.distribution(site, name) for site, name in share]
    wrong = tuple(state for state in found if state.missing or state.altered or state.outside or state.problem)
    return Files(wrong, comparison.checked, comparison.hashed, comparison.unverified, rebuilt=tuple(comparison.rebuilt))


def sealed_records(seal: Seal | Unavailable) -> dict[str, str]:
    """Return the RECORD digests of a seal by `name-version`."""
    sealed = seal.distributions if isinstance(seal, Seal) else ()
    return {f"{item.name}-{item.version}": item.record for item in sealed if item.record}


class Comparison:
    """Compares RECORDs with the disk, helped by the stat index of a seal where there is one, and keeps count."""

    def __init__(self, prefix: str, index: Mapping[str, bytes], *, sealed: Mapping[str, str] | None = None) -> None:
        self.prefix = prefix
        self.index = index
        self.sealed = sealed or {}
        self.rebuilt: list[str] = []
        self.checked = 0
        self.hashed = 0
        self.unverified = 0
        self.budget = HASH_BUDGET // SHARES

    def distribution(self, site: str, info: str) -> DistributionFiles:
        """Compare one distribution."""
        metadata = os.path.join(site, info)
        name = info[: -len(".dist-info")]
        record = os.path.join(metadata, "RECORD")
        known = stat_index.parse(self.index.get(os.path.relpath(metadata, self.prefix)))
        try:
            status = os.stat(record)
            if known is not None and known.intact(site, times_of(status)):
                self.checked += len(known.paths)
                return DistributionFiles(name, metadata, len(known.paths))
            rows = records.read(record)
        except FileNotFoundError:
            return DistributionFiles(name, metadata, 0)  # packages/missing-record speaks of it
        except OSError as error:
            return DistributionFiles(name, metadata, 0, problem=f"RECORD cannot be read: {error.strerror}")
        except ValueError as error:
            return DistributionFiles(name, metadata, 0, problem=f"RECORD {error}")
        self._compare_build(name, metadata, rows)
        sealed = known.by_path() if known is not None else {}
        missing, altered, outside = self._rows(site, rows, int(status.st_mtime) + SLACK, sealed)
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

    def _compare_build(self, name: str, metadata: str, rows: Sequence[records.Row]) -> None:
        """See whether this is still the wheel that was sealed."""
        project, _, version = name.rpartition("-")
        sealed = self.sealed.get(f"{normalised(project)}-{version}")
        if sealed and records.wheel_digest(rows) != sealed:
            self.rebuilt.append(metadata)

    def _rows(
        self, site: str, rows: Sequence[records.Row], deadline: int, sealed: Mapping[str, Times]
    ) -> tuple[list[str], list[AlteredFile], list[str]]:
        """Walk the rows: this loop runs once for each of 70,000 files, so it does little for a file in order."""
        missing: list[str] = []
        altered: list[AlteredFile] = []
        outside: list[str] = []
        get_stat, base = os.stat, site + "/"
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
            if fault is None and (
                status[ST_MTIME] > deadline if not sealed else _moved(sealed.get(path), status, deadline)
            ):
                fault = self._differs(base + path, digest, status.st_size)
            if fault is not None:
                altered.append(AlteredFile(path, fault, _number(size), status.st_size))
        self.checked += checked
        return missing, altered, outside

    def _differs(self, path: str, digest: str, size: int) -> str | None:
        """Hash a suspect file if the budget allows; say how it differs."""
        if size > self.budget:
            self.unverified += 1
            return None
        self.budget -= size
        self.hashed += 1
        same = records.matches(path, digest)
        self.unverified += same is None
        return ("link" if os.path.islink(path) else "content") if same is False else None

    def _inside(self, site: str, path: str) -> bool:
        whole = os.path.normpath(os.path.join(site, path))
        real = os.path.join(os.path.realpath(site), path)
        prefixes = (self.prefix, os.path.realpath(self.prefix))
        return any(
            spelled.startswith(prefix + "/") for spelled in (whole, os.path.normpath(real)) for prefix in prefixes
        )


def _moved(sealed: Times | None, status: os.stat_result, deadline: int) -> bool:
    """Tell whether a file's times are not the sealed ones; one that was not sealed is judged as without a seal."""
    return status[ST_MTIME] > deadline if sealed is None else sealed != times_of(status)


def _unlike(path: str, status: os.stat_result, size: str) -> str | None:
    """Say how a file's kind or size differs from its row; a row without size is not compared."""
    if status.st_mode & _KIND != _REGULAR:
        return "not a file"
    if not size or status.st_size == _number(size):
        return None
    return "link" if os.path.islink(path) else "size"


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None
