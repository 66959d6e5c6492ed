"""Every file that a RECORD names, against the disk: there or not, same size, and same bytes where the time is suspect.

A plain check hashes a file if its time says that it was written after its distribution was installed, or, with a
seal, if its times differ from the sealed ones. A deep one hashes all of them (facts/deep.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from envdoctor.errors import EnvDoctorError
from envdoctor.facts import deep, stat_index
from envdoctor.facts.comparison import Compared, Comparison, DistributionFiles
from envdoctor.facts.deep import Sealed
from envdoctor.facts.search_path import SearchPath
from envdoctor.model import Target, Unavailable
from envdoctor.seals import Seal
from envdoctor.system.forked import Task, gather
from envdoctor.system.host import Host

SHARES = 2
"""Children that share the work. More gain little: the kernel's path look-ups are most of it."""
WITHIN = 9.0
"""Seconds; a little less than the fact may take, so that the reason given is this one."""


@dataclass(frozen=True, slots=True)
class Files:
    """The disk against all RECORDs of the environment's own site-packages."""

    distributions: tuple[DistributionFiles, ...]
    checked: int
    """Rows compared."""
    hashed: int = 0
    unverified: int = 0
    """Files whose time was suspect and that were not hashed, the budget being spent; those of an unknown algorithm."""
    index_lost: bool = False
    """True if there is a seal whose stat index is gone or damaged: edits that keep size and time then go unseen."""
    deep: bool = False
    """True if every file with a recorded digest was to be hashed."""
    remembered: int = 0
    """Files of these that an earlier deep check hashed, and that have not changed since."""
    lost: str | None = None
    """What the doctor failed to do, if anything; all else holds."""
    forgotten: str | None = None
    """Why the next deep check will have to hash these again, if so."""
    rebuilt: tuple[str, ...] = ()
    """Dist-infos whose RECORD names other wheel contents than the sealed one of the same name and version."""


def collect(target: Target, host: Host, search_path: SearchPath, seal: Seal | Unavailable) -> Files:
    """Stat every recorded file of the environment's own site-packages, on two cores; with --deep hash it, on all."""
    infos = [info for site in search_path.site_dirs() for info in _infos(site)]
    shares = _shared_out(infos, len(os.sched_getaffinity(0)) if target.deep else SHARES)
    sealed = stat_index.lines(target.prefix, seal) if isinstance(seal, Seal) else {}
    index_lost = isinstance(seal, Seal) and seal.index_name is not None and not sealed
    if target.deep:
        done = deep.compare(target, host, shares, Sealed(sealed, sealed_records(seal)))
        more = {"remembered": done.remembered, "lost": done.lost, "forgotten": done.problem}
        return _files(done.compared, index_lost=index_lost, deep=True, **more)
    compare = partial(_compare, target, sealed=sealed, records=sealed_records(seal), root=host.root)
    tasks = [Task(f"share {n}", partial(compare, share)) for n, share in enumerate(shares)]
    compared = Compared()
    for part in gather(tasks, deadline=WITHIN, workers=SHARES).values():
        if isinstance(part, Unavailable):
            raise EnvDoctorError(part.reason)
        compared.add(part)
    return _files(compared, index_lost=index_lost)


def _files(compared: Compared, **more: Any) -> Files:  # noqa: ANN401 - the fields of each kind of run
    return Files(
        tuple(sorted(compared.distributions, key=lambda state: state.metadata)),
        compared.checked,
        compared.hashed,
        compared.unverified,
        rebuilt=tuple(sorted(compared.rebuilt)),
        **{**more, "lost": more.get("lost") or compared.hidden()},
    )


def _compare(
    target: Target, share: Sequence[tuple[str, str]], sealed: Mapping[str, bytes], records: Mapping[str, str], root: str
) -> Compared:
    return Comparison(target.prefix, sealed, sealed=records, root=root).all(share)


def _shared_out(infos: Sequence[tuple[int, tuple[str, str]]], count: int) -> list[list[tuple[str, str]]]:
    """Give the largest first, each to the share that has least: torch alone is a third of the work."""
    loads = [0] * count
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


def sealed_records(seal: Seal | Unavailable) -> dict[str, str]:
    """Return the RECORD digests of a seal by `name-version`."""
    sealed = seal.distributions if isinstance(seal, Seal) else ()
    return {f"{item.name}-{item.version}": item.record for item in sealed if item.record}
