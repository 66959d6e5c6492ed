"""The deep comparison: every file with a recorded digest is hashed, unless it was, and is the same file still."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from envdoctor.errors import EnvDoctorError
from envdoctor.facts import hash_memory, stat_index
from envdoctor.facts.comparison import SHOWN, AlteredFile, Compared, Comparison, DistributionFiles
from envdoctor.facts.hashing import SETTLED, Fault, Hashed, Job, hash_all, identity
from envdoctor.facts.stat_index import SealedFiles, Times, times_of
from envdoctor.model import Target, Unavailable
from envdoctor.system.forked import Task, gather, time_left
from envdoctor.system.host import Host
from envdoctor.system.reading import head

RECORDING = (b"pip", b"uv")
"""Installers that record scripts as they wrote them (seen with pip 26.3 and uv 0.13.9); conda rewrites them later."""
HASHING = 0.9
"""Part of the time there is in which files are hashed; the rest is for what comes after."""
WITHOUT_LIMIT = 86400.0
"""Seconds that it may take where nobody has set a limit."""
Share = Sequence[tuple[str, str]]
"""(site-packages, dist-info) of several distributions."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """What a seal says of distributions."""

    lines: Mapping[str, bytes]
    """Of its stat index, by dist-info relative to the prefix."""
    records: Mapping[str, str]
    """Digest of each RECORD by `name-version`."""


@dataclass(slots=True)
class Pending:
    """A distribution of which something is to be hashed."""

    state: DistributionFiles
    site: str
    record: Times
    """Identity of its RECORD; empty if there is none."""
    known: dict[str, Times] = field(default_factory=dict)
    """Files, relative to site-packages, that had the recorded digest when they were as they are now."""
    todo: list[tuple[str, str, int]] = field(default_factory=list)
    """Path relative to site-packages, recorded digest, size."""

    def jobs(self) -> Iterator[Job]:
        """Yield what is to be hashed, in the order of `todo`."""
        base = self.site + "/"
        return ((base + path, digest, size) for path, digest, size in self.todo)

    def with_altered(self, altered: Sequence[AlteredFile]) -> DistributionFiles:
        """Return the state with these files added; what another row of the same file says does not count."""
        for fault in altered:
            self.known.pop(fault.path, None)
        shown = (*self.state.altered, *altered)[:SHOWN]
        return replace(self.state, altered=shown, altered_count=self.state.altered_count + len(altered))

    def line(self, began: float) -> bytes | None:
        """Return what to remember; nothing if the RECORD was written just before it was read, at `began`."""
        if not self.record or self.record[2] > (began - SETTLED) * 1e9:
            return None
        paths = sorted(self.known)
        sound = not (self.state.missing or self.state.altered)
        whole = sound and all(path in self.known for path, _, _ in self.todo)
        return stat_index.written(SealedFiles(self.record, paths, [self.known[path] for path in paths], whole)).encode()


@dataclass(slots=True)
class Part:
    """What one child looked at."""

    compared: Compared
    intact: list[str]
    """Dist-infos, relative to the prefix, that are as the memory says."""
    pending: list[Pending]
    remembered: int
    """Files that are."""


@dataclass(frozen=True, slots=True)
class Done:
    """All of it."""

    compared: Compared
    remembered: int
    """Files that an earlier check hashed."""
    lost: str | None
    """What could not be hashed, and why."""
    problem: str | None
    """Why nothing of it will be remembered."""


@dataclass(slots=True)
class Sums:
    """What has come of it so far."""

    compared: Compared
    remembered: int
    unreached: int = 0
    unreadable: list[str] = field(default_factory=list)

    def settle(self, pending: Sequence[Pending], hashed: Hashed) -> None:
        """Add what was hashed to the states of the distributions, and to what is known of them."""
        wrong = {state.metadata: state for state in self.compared.distributions}
        first = 0
        for item in pending:
            altered = []
            for number, (path, _, size) in enumerate(item.todo, first):
                if number in hashed.same:
                    self.compared.hashed += 1
                    if (known := hashed.same[number]) is not None:
                        item.known[path] = known
                elif self._is_altered(item, path, fault := hashed.faults.get(number)) and fault is not None:
                    altered.append(AlteredFile(path, fault.state, size, size))
            first += len(item.todo)
            if altered:
                item.state = wrong[item.state.metadata] = item.with_altered(altered)
        self.compared.distributions = list(wrong.values())

    def _is_altered(self, item: Pending, path: str, fault: Fault | None) -> bool:
        if fault is None:
            self.unreached += 1
        elif fault.state == "unreadable":
            self.unreadable.append(f"{os.path.join(item.site, path)}: {fault.said}")
        elif fault.state == "unknown":
            self.compared.unverified += 1
        else:
            self.compared.hashed += 1
            return True
        return False

    def lost(self, within: float) -> str | None:
        """Say what was not hashed."""
        if self.unreached:
            part = f"{self.unreached:,} of {self.compared.checked:,} files"
            return f"{part} were not hashed within {within:.1f} s; give it more with --deadline"
        if self.unreadable:
            others = len(self.unreadable) - 1
            return f"{self.unreadable[0]}" + (f", and {others} more cannot be read" if others else "")
        return None


class Deep(Comparison):
    """Compares as a plain check does, but for what it suspects: whatever the memory does not vouch for."""

    thorough = True

    def __init__(self, prefix: str, memory: Mapping[str, bytes], sealed: Sealed, root: str = "") -> None:
        super().__init__(prefix, memory, sealed=sealed.records, root=root)
        self.seal = sealed.lines
        self.intact: list[str] = []
        self.pending: list[Pending] = []
        self.remembered = 0
        self._now = Pending(DistributionFiles("", "", 0), "", [])

    def distribution(self, site: str, info: str) -> DistributionFiles:
        """Compare one distribution, and note what is to be hashed of it."""
        record = _measured(os.path.join(site, info, "RECORD"))  # before it is read: it may be written meanwhile
        self._now = Pending(DistributionFiles(info, "", 0), site, record)
        self.everywhere = head(os.path.join(site, info, "INSTALLER"), 16).strip() in RECORDING
        before = len(self.intact)
        state = super().distribution(site, info)
        if len(self.intact) == before and not state.problem:
            self._now.state = state
            self.pending.append(self._now)
        return state

    def in_order(self, known: SealedFiles, site: str, metadata: str, record: os.stat_result) -> bool:
        """Take the memory's word, but read a RECORD that is not the sealed one: it may be of another build."""
        relative = os.path.relpath(metadata, self.prefix)
        sealed = stat_index.parse(self.seal.get(relative)) if self.sealed else None
        unlike = self.sealed and (sealed is None or sealed.record != times_of(record))
        if unlike or not known.intact(site, identity(record), identity):
            return False
        self.intact.append(relative)
        self.remembered += len(known.paths)
        return True

    def times(self, known: SealedFiles, record: os.stat_result) -> Mapping[str, Times]:
        """Return what is remembered of single files; none if the RECORD changed, whose digests may be others now."""
        return known.by_path() if known.record == identity(record) else {}

    def suspect(self, path: str, known: Times | None, status: os.stat_result, deadline: int) -> bool:  # noqa: ARG002
        """Suspect every file that has changed since it was hashed, or never was."""
        if known is None or known != identity(status):
            return True
        self._now.known[path] = known
        self.remembered += 1
        return False

    def differs(self, base: str, path: str, digest: str, status: os.stat_result) -> str | None:  # noqa: ARG002
        """Put it on the list."""
        self._now.todo.append((path, digest, status.st_size))
        return None


def _measured(path: str) -> Times:
    try:
        return identity(os.stat(path))
    except OSError:
        return []


def compare(target: Target, host: Host, shares: Sequence[Share], sealed: Sealed) -> Done:
    """Compare all shares and hash what is to be hashed; remember it, unless the target is to be judged afresh.

    Raises EnvDoctorError if a share cannot be compared.
    """
    within = min(time_left() * HASHING, WITHOUT_LIMIT)
    began, ends = time.time(), time.monotonic() + within
    place = hash_memory.path_of(target, host)
    forgetful = target.afresh or not hash_memory.is_sure_of_times(target.prefix)
    memory = {} if forgetful else hash_memory.read(place)
    parts = _parts(partial(_part, target.prefix, memory, sealed, host.root), shares, within)
    sums = Sums(Compared(), sum(part.remembered for part in parts))
    for part in parts:
        sums.compared.add(part.compared)
    pending = [item for part in parts for item in part.pending]
    jobs = [job for item in pending for job in item.jobs()]
    sums.settle(pending, hash_all(jobs, ends, len(os.sched_getaffinity(0))))
    lines = {name: memory[name] for part in parts for name in part.intact}
    lines |= {
        name: line
        for item in pending
        if (name := os.path.relpath(item.state.metadata, target.prefix)) and (line := item.line(began))
    }
    problem = None if forgetful or lines == memory else _remember(place, lines)
    return Done(sums.compared, sums.remembered, sums.lost(within), problem)


def _parts(run: Callable[[Share], Part], shares: Sequence[Share], within: float) -> list[Part]:
    tasks = [Task(f"share {n}", partial(run, share), timeout=within) for n, share in enumerate(shares)]
    parts = list(gather(tasks, deadline=within, workers=len(shares)).values())
    for part in parts:
        if isinstance(part, Unavailable):
            raise EnvDoctorError(part.reason)
    return parts


def _part(prefix: str, memory: Mapping[str, bytes], sealed: Sealed, root: str, share: Share) -> Part:
    comparison = Deep(prefix, memory, sealed, root)
    return Part(comparison.all(share), comparison.intact, comparison.pending, comparison.remembered)


def _remember(place: str, lines: dict[str, bytes]) -> str | None:
    try:
        hash_memory.write(place, lines)
    except EnvDoctorError as error:
        return str(error)
    return None
