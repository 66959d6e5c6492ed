"""Prove an installed venv: every byte is what the verified archives say, and nothing else is there.

Measured: a shared installer cache that was poisoned, file and RECORD together, is installed by
`uv --require-hashes --link-mode copy` with exit status 0. So nothing that an installer wrote is believed: the digests
are those of the RECORD *inside* each archive, whose own sha256 is the lock's. To be called when all is installed and
before byte code is made (compiling.py) or anything of the venv is run.
"""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from envdoctor.archives import Archive
from envdoctor.facts import hashing, records
from envdoctor.facts.hashing import Job
from envdoctor.installing import Fault, bookkeeping, bundled, commands, contents
from envdoctor.installing.contents import Contents, Member
from envdoctor.installing.hashed import compare
from envdoctor.installing.layout import Found, Layout, walk
from envdoctor.installing.own import own_faults
from envdoctor.installing.strays import strays
from envdoctor.installing.tables import read_all
from envdoctor.installing.unlocked import Unlocked, unlocked
from envdoctor.progress import Progress, Work
from envdoctor.system.zips import UNREADABLE


@dataclass(frozen=True, slots=True)
class Proof:
    """What a proof found."""

    files: int
    """Compared with an archive, or with what stands in for one."""
    bytes: int
    faults: tuple[Fault, ...]
    """Empty if the venv is proven."""
    notes: tuple[str, ...]
    """What is odd and no tampering."""


@dataclass(slots=True)
class _Case:
    """A proof while it is being made."""

    layout: Layout
    found: Found
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    owners: dict[str, tuple[Contents, Member]] = field(default_factory=dict)
    doubles: dict[str, str] = field(default_factory=dict)
    """Paths that a second archive has with other bytes, and the digest of those."""
    jobs: list[Job] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    """Of the jobs, relative to the prefix."""

    def fault(self, name: str, path: str, how: str) -> None:
        """Put down a fault of a path relative to the prefix."""
        self.faults.append(Fault(name, self.layout.at(path), how))


def prove(
    prefix: str,
    archives: Sequence[Archive],
    *,
    editable: AbstractSet[str] = frozenset(),
    extra: AbstractSet[str] = frozenset(),
    cores: int,
    work: Work,
    deadline: float,
) -> Proof:
    """Compare a venv with its archives within `deadline` seconds. Raises StepError if that cannot be done.

    `editable` are the user's own projects, `extra` what ensurepip brought (normalised names): the first are held to
    their own RECORD, the second to the wheel bundled with the base interpreter where that is to be found.
    """
    ends = time.monotonic() + deadline
    work.tell(Progress("verify", "archives", 0, len(archives), "packages"))
    layout = Layout.of(prefix)
    case = _Case(layout, walk(prefix))
    bundles, alone = bundled.found(layout, case.found, extra - {archive.name for archive in archives}, case.notes)
    known = read_all([*archives, *bundles], layout, cores=cores, ends=ends)
    for one in known:
        _expect(one, case)
    others = unlocked(layout, case.found, editable, alone)
    case.faults += others.faults
    case.jobs += others.jobs
    case.places += others.places
    _hash(case, others, cores, ends, work)
    for one in known:
        _judge(one, case)
    named = {folder for one in known for folder in one.folders}
    case.faults += strays(case.found, _owned(known, others, case), named, layout)
    case.faults += own_faults(layout, case.found)
    return Proof(len(case.jobs), sum(size for _, _, size in case.jobs), tuple(case.faults), tuple(case.notes))


def _expect(one: Contents, case: _Case) -> None:
    """Look for every file of an archive, and set down the digest that it must have."""
    case.faults += one.faults
    case.notes += one.notes
    name = one.archive.name
    for path, member in one.files.items():
        entry = case.found.entries.get(path)
        if entry is None:
            if not path.endswith(contents.SIGNATURES):
                case.fault(name, path, "is missing")
        elif entry.fault:
            case.fault(name, path, entry.fault)
        elif path in case.owners:
            _collide(case.owners[path], (one, member), path, case)
            continue
        elif not member.rewritten:
            case.jobs.append((case.layout.at(path), member.digest, entry.size))
            case.places.append(path)
        case.owners[path] = (one, member)


def _collide(first: tuple[Contents, Member], second: tuple[Contents, Member], path: str, case: _Case) -> None:
    """Note a path that two archives have with different bytes: either will do; packages/file-collision judges it."""
    if first[1].digest != second[1].digest or first[1].rewritten != second[1].rewritten:
        names = f"{first[0].archive.name} and {second[0].archive.name}"
        case.notes.append(f"{path} is in both {names}, with different bytes; the one installed last is there")
        case.doubles[path] = second[1].digest


def _hash(case: _Case, others: Unlocked, cores: int, ends: float, work: Work) -> None:
    """Compare digests; a file that is the archive's, and not what the archive's own RECORD says, is noted."""
    for number, fault in compare(case.jobs, cores=cores, ends=ends, work=work).items():
        path, digest, _ = case.jobs[number]
        place = case.places[number]
        one, member = case.owners.get(place, (None, None))
        name = one.archive.name if one else others.owners.get(place, "")
        if one and member and fault.state == "content" and _is_the_members(one.archive, member, path):
            case.notes.append(
                f"{one.archive.filename}: its RECORD is wrong about {member.name!r}; the file is the wheel's"
            )
        elif not (place in case.doubles and records.matches(path, case.doubles[place])):
            case.fault(name, place, _said(fault, digest, "the archive has" if one else "its own RECORD says"))


def _is_the_members(archive: Archive, member: Member, path: str) -> bool:
    try:
        with zipfile.ZipFile(archive.path) as wheel:
            true = contents.digest_of(wheel, member.name)
    except UNREADABLE:
        return False
    return records.matches(path, true) is True


def _said(fault: hashing.Fault, digest: str, known: str) -> str:
    if fault.state in ("content", "link"):
        return f"is not what {known}"
    if fault.state == "unknown":
        return f"has a digest that this Python cannot make: {digest.partition('=')[0]}"
    return f"cannot be read: {fault.said}"


def _judge(one: Contents, case: _Case) -> None:
    """Judge what the installer made of one archive: bookkeeping, commands, first lines."""
    if one.info in case.found.folders:
        case.faults += bookkeeping.judge(one, case.layout, case.found)
        case.faults += commands.judge(one, case.layout, case.found)


def _owned(known: Iterable[Contents], others: Unlocked, case: _Case) -> set[str]:
    """Return every file that is somebody's."""
    owned = set(others.owners)
    for one in known:
        owned.update(one.files)
        owned.update(f"{one.info}/{name}" for name in contents.WRITTEN)
        owned.update(f"bin/{name}" for name in commands.targets(one, case.found))
    return owned
