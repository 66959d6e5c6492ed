"""The nouns: what was asked, what was found, and what is said about it. Values only; imports nothing of ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Any, Literal


class Severity(IntEnum):
    """How bad a finding is."""

    NOTE = 1
    """Worth printing only."""
    WARNING = 2
    """Works now, degraded or about to break."""
    ERROR = 3
    """Training cannot run, runs wrongly, or the environment is not what the lock says."""

    @property
    def label(self) -> str:
        """The word used on the command line and in reports."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Target:
    """The environment that is looked at, as the caller named it."""

    prefix: str
    """Absolute path of the environment's directory (what `sys.prefix` would be)."""
    python: str
    """Absolute path of its interpreter, whether or not it exists."""
    lock: str | None = None
    """Absolute path of the lock it is judged by."""
    other_locks: tuple[str, ...] = ()
    """Locks of the same project that were found and not chosen."""
    groups: tuple[str, ...] = ()
    """Dependency groups asked for beside the lock's default ones (PEP 735)."""
    extras: tuple[str, ...] = ()
    """Extras of the lock's own project asked for."""
    log: str | None = None
    """Absolute path of a failed run's log to look into."""
    deep: bool = False
    """True if every file with a recorded digest is to be hashed, not only suspect ones."""
    afresh: bool = False
    """True if what earlier runs hashed does not count, and nothing is to be remembered."""
    superseded: str = ""
    """Link of the environment that this was once: a generation of it, and not the one that it leads to now."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A fact that could not be read. What needs it is skipped with this reason, never counted as healthy."""

    reason: str
    failed: bool = False
    """True if the doctor failed at its work (deadline, unreadable target); False if there was nothing to read."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """One file that a lock allows for a package."""

    name: str
    """File name (wheel, sdist or archive), or "" where the lock names none."""
    url: str = ""
    """Where it comes from, secrets redacted; "" where the lock does not say."""
    hashes: tuple[str, ...] = ()
    """Digests as `sha256:<hex>`."""
    size: int | None = None
    """Bytes."""
    uploaded: str | None = None
    """Upload time, RFC 3339."""


SourceKind = Literal["index", "url", "vcs", "directory", "editable", "virtual"]


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """One pin of a lock. A name may have several, told apart by markers."""

    name: str
    """Normalised name (PEP 503)."""
    version: str | None
    """Version as written, local label included; None where a lock may leave it out (vcs, directory)."""
    marker: str | None = None
    """Environment marker (PEP 508) that must hold for this pin to apply."""
    source: SourceKind = "index"
    url: str = ""
    """Index, archive, repository or path it comes from, secrets redacted; "" where unrecorded."""
    artifacts: tuple[Artifact, ...] = ()
    hashes: tuple[str, ...] = ()
    """Digests that are not tied to a file name (requirements files), as `alg:hex`."""
    dependencies: tuple[LockedDependency, ...] = ()
    """What it needs, where the lock records a graph (uv.lock, some pylock.toml)."""
    extras: tuple[str, ...] = ()
    """Extras of the package itself that the pin names, e.g. `uvicorn[standard]==...`."""
    line: int = 0
    """1-based line of the pin in the lock's own file; 0 if unknown."""
    raw_name: str = ""
    """Name as written."""
    file: str = ""
    """The file that holds the pin, where it is not the lock itself (an include)."""
    operator: str = "=="
    """`==` or `===` as written; every other format pins by `==`."""
    via: tuple[str, ...] = ()
    """Who asks for it, as pip-compile's and uv's comments say: normalised names; `-r FILE`, `NAME (FILE)` and others as
    written."""
    requires_python: str | None = None
    """Which Pythons it is for, where the lock records that."""

    @property
    def hashed(self) -> bool:
        """True if it has a digest, of its own or for each of its files."""
        return bool(self.hashes) or (bool(self.artifacts) and all(item.hashes for item in self.artifacts))


@dataclass(frozen=True, slots=True)
class LockedDependency:
    """An edge of a lock's own graph."""

    name: str
    version: str | None = None
    """Given only where several versions of the name are locked."""
    marker: str | None = None
    extras: tuple[str, ...] = ()
    """Extras of `name` that this edge asks for."""
    when: tuple[str, ...] = ()
    """Empty for a plain dependency; `extra:NAME` or `group:NAME` when only that extra or group wants it."""
    url: str = ""
    """The source of the version meant, where several sources are locked for the name."""


@dataclass(frozen=True, slots=True)
class LockProblem:
    """A line of a lock that could not be understood; the rest of the lock was read."""

    line: int
    message: str
    file: str = ""
    rule: str = ""
    """The rule of the area `lock` that it breaks: `unpinned`, `malformed-hash`; "" if none is about it."""
    text: str = ""
    """What is wrong, as it is written there, secrets redacted."""
    subject: str = ""
    """Normalised name of the package it is about; "" if it is about none."""
    mild: bool = False
    """True if tools read it all the same, so that it is a warning."""


@dataclass(frozen=True, slots=True)
class LockOption:
    """An option line of a requirements file, or what stands for one in another format."""

    name: str
    """The long name: `--index-url`."""
    value: str
    """Secrets redacted; "" for a flag."""
    line: int = 0
    file: str = ""
    package: str = ""
    """Normalised name of the package whose line it stands on; "" for one that is for all."""
    text: str = ""
    """As it is written there; of one with a secret the name alone."""


@dataclass(frozen=True, slots=True)
class LockInput:
    """A file that a lock was compiled from, as its header records it."""

    name: str
    """As written there."""
    digest: str
    """sha256 of the file's bytes at that time, hex."""


@dataclass(frozen=True, slots=True)
class LockHeader:
    """What a lock says of its making, most of it in comments; each is "" where it does not."""

    tool: str = ""
    """`pip-compile`, `uv pip compile`, `uv export`, `envdoctor lock compile`; `created-by` of a pylock.toml."""
    command: str = ""
    """The command line, as written."""
    python: str = ""
    """`3.12`."""
    platform: str = ""
    """As the tool calls it: `x86_64-manylinux_2_28`, `linux`."""
    line: int = 0
    """Of the comment that says so."""
    inputs: tuple[LockInput, ...] = ()
    """Files that it was compiled from, where it records their digests."""


LockFormat = Literal["requirements", "pylock", "uv", "poetry", "pdm", "pipfile"]


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock file, read. Nothing is narrowed to a target yet; see `locks.select`."""

    path: str
    format: LockFormat
    packages: tuple[LockedPackage, ...]
    project: str | None = None
    """Normalised name of the lock's own project, where the lock says so."""
    roots: tuple[str, ...] = ()
    """Names of the packages from which a lock is walked; none if its pins say themselves when they apply."""
    requires_python: str | None = None
    environments: tuple[str, ...] = ()
    """Markers of the environments that the lock declares itself made for."""
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    default_groups: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    """Index addresses it names, secrets redacted."""
    problems: tuple[LockProblem, ...] = ()
    digest: str = ""
    """sha256 of the file's bytes, hex."""
    options: tuple[LockOption, ...] = ()
    conflicts: tuple[tuple[str, ...], ...] = ()
    """Sets of extras and groups that exclude each other, under the names that uv makes up for them in markers."""
    overridden: tuple[str, ...] = ()
    """Names of which the lock's makers have replaced what others, or their own metadata, ask for (uv.lock)."""
    header: LockHeader = field(default_factory=LockHeader)
    unsaid: str = ""
    """Why it is likely and not sure which pins are wanted: the lock does not record who asks for them. "" if it is."""


Evidence = Mapping[str, Any]
"""JSON values only."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of one thing."""

    severity: Severity
    subject: str
    """The thing at fault: a package's normalised name, a path, a variable, `cuda:N`."""
    message: str
    """One sentence."""
    evidence: Evidence = field(default_factory=dict)
    """Data that backs the message. The key `cause` names the package whose install brought the fault about."""
    remedy: tuple[str, ...] = ()
    """Commands or steps, in the order to try them."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one probe."""

    probe: str
    """The probe's id, e.g. `packages/foreign`."""
    findings: tuple[Finding, ...] = ()
    muted: tuple[Finding, ...] = ()
    skipped: Unavailable | None = None
    crashed: str | None = None
    """`ExceptionType: message (file:line)`, where the probe itself failed."""


@dataclass(frozen=True, slots=True)
class LockFaults:
    """What the rules for locks found in a run that sums them up."""

    found: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)
    """Id of the rule -> its findings."""
    told: frozenset[str] = frozenset()
    """Ids of all probes that found something themselves."""


TrialState = Literal["passed", "failed", "skipped", "never-ran"]


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of one step that was tried out on one device."""

    step: str
    """Id of the probe that judges it, e.g. `smoke/compile`."""
    device: str
    """`cuda:N`, as in the subject of its finding."""
    state: TrialState
    """`skipped` where the step does not apply to the device; `never-ran` where it was asked for and not reached."""
    seconds: float
    """How long it took; 0 if it never ran."""
    said: str
    """One phrase: what it measured, how it failed, or why it did not run; "" if there is nothing to say."""


Verdict = Literal["sick", "warnings", "healthy"]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that one run has to say."""

    target: Target | None
    python: str | None
    """Version of the target's interpreter, where known."""
    host: str
    taken_at: datetime
    seconds: float
    outcomes: tuple[Outcome, ...]
    config: str | None = None
    """The configuration file that was used."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Facts that the doctor failed to read, with the reason: also those that every probe could do without."""
    seen: Mapping[str, str | int] = field(default_factory=dict)
    """What was looked at, for the head of the report: packages, files, torch."""
    trials: tuple[Trial, ...] = ()
    """What was tried out, step by step and device by device, where the run tried something out."""

    def findings(self) -> Iterable[tuple[str, Finding]]:
        """All unmuted findings with their probe ids, worst first, otherwise in probe order."""
        pairs = [(o.probe, f) for o in self.outcomes for f in o.findings]
        return sorted(pairs, key=lambda pair: -pair[1].severity)

    def worst(self) -> Severity | None:
        """Return the highest severity found, or None."""
        return max((f.severity for _, f in self.findings()), default=None)

    @property
    def verdict(self) -> Verdict:
        """`sick` on any error; `healthy` where all was judged and nothing beats a note; otherwise `warnings`."""
        worst = self.worst()
        if worst == Severity.ERROR:
            return "sick"
        return "warnings" if worst == Severity.WARNING or self.incomplete else "healthy"

    @property
    def incomplete(self) -> bool:
        """True if the doctor failed at part of its work: a crashed probe, a fact lost to the deadline or unreadable."""
        return bool(self.failed) or any(o.crashed or (o.skipped and o.skipped.failed) for o in self.outcomes)

    def status(self, fail_on: Severity = Severity.ERROR) -> int:
        """Exit status: 1 findings at or above `fail_on`, 3 the doctor failed, 0 otherwise. 1 outranks 3."""
        worst = self.worst()
        if worst is not None and worst >= fail_on:
            return 1
        return 3 if self.incomplete else 0
