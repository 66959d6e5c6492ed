"""What a rebuild would do, as data: nothing here is done yet, and nothing is read.

The same plan is printed by --dry-run, asked about, performed and kept in the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from envdoctor import envs
from envdoctor.facts.batches import SEEDS
from envdoctor.generations.jobs import Jobs
from envdoctor.generations.layout import DIGITS, Kind
from envdoctor.model import Finding, Unavailable
from envdoctor.versions import same_build

Level = Literal["quick", "full", "none"]
"""How much is tried out before the switch."""


@dataclass(frozen=True, slots=True)
class Installed:
    """One distribution of the present environment."""

    name: str
    version: str | None
    editable: str = ""
    """Directory of the project that it leads to; "" if it is a copy."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """A package that the new environment will not have."""

    name: str
    version: str | None
    culprit: str = ""
    """Package whose install brought it; "" if it came alone, or that is not known."""


@dataclass(frozen=True, slots=True)
class Change:
    """A package that will be another release or build."""

    name: str
    before: str | None
    after: str | None
    culprit: str = ""


@dataclass(frozen=True, slots=True)
class Loss:
    """What lies in the present environment and in no lock: it stays in the old generation alone."""

    what: Literal["editable project", "unowned files", "changed script", "directory", "file"]
    path: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Project:
    """A project of the user's own that is installed last, editable as it was."""

    name: str
    folder: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes, None where they are not known."""

    present: int | None
    """What the present environment takes."""
    fetched: int | None
    """Archives that must be fetched, as far as the lock records their sizes."""
    needed: int | None
    """What must be free."""
    free: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is decided before anything is done."""

    link: str
    kind: Kind
    """What lies there now."""
    current: str
    """Real path of the present environment; "" if there is none."""
    lock: str
    digest: str
    python: str
    """Base interpreter of the new environment."""
    version: str
    installer: str
    pip: bool
    """True if the new environment gets the pip of its interpreter."""
    wanted: int
    """Packages of the lock that this target gets."""
    leaves: tuple[Leaving, ...]
    changes: tuple[Change, ...]
    arrives: tuple[Change, ...]
    repaired: tuple[str, ...]
    """Packages of the right version whose files are not what was installed."""
    stays: int
    losses: tuple[Loss, ...]
    projects: tuple[Project, ...]
    sizes: Sizes
    jobs: Jobs | Unavailable
    smoke: str
    """What will be tried out, one phrase."""
    unread: str = ""
    """Why the present environment could not be compared; "" if it was."""
    frozen: bool = False
    """True if the new environment is to be frozen."""
    keep: int = 2
    network: str = ""
    """Type of the file system, if it is one of the network, where nothing is collected."""

    @property
    def blocked(self) -> str:
        """Say which running jobs forbid a switch; "" for none."""
        return "" if isinstance(self.jobs, Unavailable) else self.jobs.blocking

    def steps(self) -> Iterator[str]:
        """Yield what will be done, in order."""
        yield f"hold the lock of {self.link}, so that nobody else changes it"
        yield f"fetch {self.wanted} packages into the archive store, each known by the digest in the lock"
        yield f"make {self.place()} with {self.python} (Python {self.version}){', with its pip' if self.pip else ''}"
        yield f"install them with {self.installer} from the store alone, copied, no cache"
        yield from (f"install {project.name} editable from {project.folder}" for project in self.projects)
        yield "hash every installed file against the RECORD inside its archive, then make the byte code"
        yield from ("take the write bits off it, and let its pip refuse installs",) if self.frozen else ()
        yield "check it and seal it"
        yield f"smoke: {self.smoke}"
        yield from self._switched()
        yield (
            f"collect nothing: {self.network} is a network file system, whose other hosts cannot be seen"
            if self.network
            else f"remove generations beyond the {self.keep} last that are older than a day and in nobody's use"
        )

    def place(self) -> str:
        """Return where the new environment will lie, its time left open."""
        return f"{envs.home_of(self.link)}/{self.digest[:DIGITS]}-<time>"

    def _switched(self) -> Iterator[str]:
        if self.kind == "directory":
            yield f"exchange the directory {self.link} with a link to it, in one step; it is kept as a generation"
        elif self.kind == "missing":
            yield f"let {self.link} lead to it"
        else:
            yield f"let {self.link} lead to it, in one step; what it leads to now is kept"


@dataclass(frozen=True, slots=True)
class Wanted:
    """One package that the new environment gets."""

    name: str
    version: str
    size: int | None = None
    """Bytes of its archive, where the lock records them."""


def compared(
    installed: Sequence[Installed], wanted: Sequence[Wanted], findings: Mapping[str, Sequence[Finding]]
) -> tuple[tuple[Leaving, ...], tuple[Change, ...], tuple[Change, ...], tuple[str, ...], int]:
    """Return what leaves, changes, arrives, is repaired, and the count of what stays.

    `findings` are those of probes of the present environment, by probe: they know who brought what about.
    """
    before = {item.name: item for item in installed}
    after = {item.name: item for item in wanted}
    blamed = _culprits(findings)
    leaves = [
        Leaving(name, item.version, _other(blamed.get(name, ""), name))
        for name, item in sorted(before.items())
        if name not in after and name not in SEEDS and not item.editable
    ]
    moved = [name for name in sorted(before.keys() & after.keys()) if not _same(before[name], after[name])]
    changes = [Change(name, before[name].version, after[name].version, blamed.get(name, "")) for name in moved]
    arrives = [Change(name, None, after[name].version) for name in sorted(after.keys() - before.keys())]
    kept = before.keys() & after.keys() - set(moved)
    broken = {_subject(f, kept) for probe in REPAIRED for f in findings.get(probe, ())}
    repaired = tuple(sorted(broken & kept))
    return tuple(leaves), tuple(changes), tuple(arrives), repaired, len(kept) - len(repaired)


REPAIRED = ("packages/altered-file", "packages/missing-file", "packages/altered-build", "packages/missing-record")
"""Probes that find a package of the right version broken."""


def _same(before: Installed, after: Wanted) -> bool:
    return before.version is not None and not before.editable and same_build(before.version, after.version)


def _subject(finding: Finding, names: Iterable[str]) -> str:
    return finding.subject if finding.subject in set(names) else ""


def _culprits(findings: Mapping[str, Sequence[Finding]]) -> dict[str, str]:
    found = (finding for probe in ("packages/foreign", "packages/drifted") for finding in findings.get(probe, ()))
    return {finding.subject: str(finding.evidence["cause"]) for finding in found if finding.evidence.get("cause")}


def _other(culprit: str, name: str) -> str:
    return "" if culprit == name else culprit


def projects(
    installed: Iterable[Installed], own: Iterable[str], root: str
) -> tuple[tuple[Project, ...], tuple[Loss, ...]]:
    """Tell the user's own editable projects, which are installed again, from others, which are lost.

    Own is what the lock calls its own (`own`, normalised names), and what lies in the target's project, `root`.
    """
    names, kept, lost = set(own), list[Project](), list[Loss]()
    for item in installed:
        if item.editable and (item.name in names or item.editable == root):
            kept.append(Project(item.name, item.editable))
        elif item.editable:
            said = f"{item.name} is no part of this project or its lock; install it again with pip install -e --no-deps"
            lost.append(Loss("editable project", item.editable, said))
    return tuple(kept), tuple(lost)


def sizes(present: int | None, wanted: Sequence[Wanted], there: frozenset[str], free: int | None) -> Sizes:
    """Add up what is known; `there` are names whose archives are in the store or a wheelhouse already.

    The new environment is taken to be as large as the present one, or four times its archives where there is none: a
    wheel of text unpacks to about thrice its size, and byte code comes beside it.
    """
    known = [item.size for item in wanted if item.size is not None]
    missing = [item.size for item in wanted if item.size is not None and item.name not in there]
    whole = len(known) == len(wanted)
    fetched = sum(missing) if whole else None
    made = present if present is not None else 4 * sum(known) if known and whole else None
    needed = None if made is None else int(made * 1.1) + (fetched or 0)
    return Sizes(present, fetched, needed, free)
