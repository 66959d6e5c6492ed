"""Which package brought a fault about: what is foreign, what came with it, and what its coming moved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from envdoctor import knowledge
from envdoctor.facts.batches import SEEDS, Batch
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.model import Lock, LockedPackage, Target
from envdoctor.policy import Policy
from envdoctor.versions import same_build, satisfies
from envdoctor.views.expected import Expected
from envdoctor.views.requirements import Requirements

DOCTOR = "gpu-envdoctor"


@dataclass(frozen=True, slots=True)
class Move:
    """A locked package that is at another version now."""

    name: str
    locked: str
    installed: str


@dataclass(frozen=True, slots=True)
class Cause:
    """One package whose coming explains other findings."""

    root: str
    version: str | None
    installed_at: float | None
    """End of its install batch, seconds since the epoch; None where the times prove nothing."""
    added: tuple[str, ...]
    """Foreign packages that came with it, itself left out; those of serving stacks first."""
    moved: tuple[Move, ...]


@dataclass(frozen=True)
class Blame:
    """Foreign packages and their consequences."""

    foreign: tuple[str, ...]
    """Installed, and in the lock under no group or extra for this platform."""
    families: Mapping[str, str]
    """Foreign package -> serving stack that it belongs to (knowledge/serving.toml)."""
    causes: Mapping[str, Cause] = field(default_factory=dict)
    """By root."""
    cause_of: Mapping[str, str] = field(default_factory=dict)
    """Package, foreign or moved -> root of its cause."""

    def evidence(self, name: str) -> dict[str, str]:
        """Return the `cause` entry for a finding about `name`; empty where nobody is to blame."""
        return {"cause": self.cause_of[name]} if name in self.cause_of else {}


def view(
    expected: Expected,
    distributions: Distributions,
    requirements: Requirements,
    policy: Policy,
    lock: Lock,
    target: Target,
) -> Blame:
    """Tell the foreign from the locked, and give each foreign or moved package a root where there is evidence."""
    foreign = _foreign(expected, distributions, requirements, policy, lock, target)
    rows = {row["name"]: row["family"] for row in knowledge.rows("serving")}
    families = {name: rows[name] for name in foreign if name in rows}
    roots = _roots(foreign, families, distributions, requirements)
    cause_of = _company(roots, foreign, distributions, requirements)
    moved = tuple(moves(expected, distributions))
    _follow(moved, cause_of, distributions, requirements, _telling_batches(expected, moved, foreign, distributions))
    by_stack = sorted(foreign, key=lambda name: (name not in families, name))
    return Blame(tuple(foreign), families, _causes(cause_of, by_stack, moved, distributions), cause_of)


def _foreign(
    expected: Expected,
    distributions: Distributions,
    requirements: Requirements,
    policy: Policy,
    lock: Lock,
    target: Target,
) -> list[str]:
    # seeds are judged against the lock only where it pins them
    names = {item.name for item in distributions.own if not _is_own(item, lock, target)}
    allowed = {name for name in names if policy.allows(name)} | {DOCTOR}
    locked = set(expected.allowed)
    # what an allowed package needs is allowed with it
    tolerated = requirements.reachable(allowed) | SEEDS
    return sorted(names - locked - tolerated)


def _is_own(item: Distribution, lock: Lock, target: Target) -> bool:
    """Tell whether it is the project itself that all the rest is for, which no lock of requirements names.

    That is the lock's own, or one that is installed editable from the folder in which the environment lies.
    """
    if item.direct_url is None:
        return False
    folder = item.direct_url.folder
    inside = item.direct_url.editable and folder and target.prefix.startswith(f"{folder}/")
    return item.name == lock.project or bool(inside)


def _roots(
    foreign: list[str], families: Mapping[str, str], distributions: Distributions, requirements: Requirements
) -> list[str]:
    """Return the foreign packages that nothing foreign needs, requested ones first, serving stacks before others."""
    inside = set(foreign)
    needed = {name for other in foreign for name in requirements.needs.get(other, ()) if name != other} & inside
    active = distributions.active
    ranked = sorted(foreign, key=lambda name: (name not in families, not active[name].requested, name))
    tops = [name for name in ranked if name not in needed]
    reached = set(requirements.reachable(tops))
    for name in ranked:  # what is left needs each other in a ring, and has no top
        if name not in reached:
            tops.append(name)
            reached |= requirements.reachable([name])
    return tops


def _company(
    roots: list[str], foreign: list[str], distributions: Distributions, requirements: Requirements
) -> dict[str, str]:
    """Give each foreign package the first root that needs it, one of its own install batch before others."""
    reach = {root: requirements.reachable([root]) for root in roots}
    batch_of = distributions.batch_of
    cause_of: dict[str, str] = {}
    for name in foreign:
        candidates = [root for root in roots if name in reach[root]]
        together = [root for root in candidates if name in batch_of and batch_of.get(root) is batch_of[name]]
        cause_of[name] = (together or candidates)[0]
    return cause_of


def moves(expected: Expected, distributions: Distributions) -> Iterable[Move]:
    """Yield what is installed in another version or build than is locked."""
    active = distributions.active
    for name, package in expected.wanted.items():
        item = active.get(name)
        if item is None or item.version is None or package.version is None:
            continue
        if not same_build(item.version, package.version):
            yield Move(name, package.version, item.version)


def alternatives(expected: Expected, name: str) -> tuple[LockedPackage, ...]:
    """Return the pins that are right for a name: the wanted one, or any allowed one where none is wanted."""
    return (expected.wanted[name],) if name in expected.wanted else expected.allowed.get(name, ())


def _telling_batches(
    expected: Expected, moved: tuple[Move, ...], foreign: list[str], distributions: Distributions
) -> frozenset[Batch]:
    """Return the install batches whose company proves something: those that are not mostly an install of the lock."""
    odd = {*foreign, *(move.name for move in moved)}
    return frozenset(
        batch
        for batch in distributions.batches
        if sum(name in odd for name in batch.members)
        >= sum(name in expected.wanted and name not in odd for name in batch.members)
    )


def _follow(
    moved: tuple[Move, ...],
    cause_of: dict[str, str],
    distributions: Distributions,
    requirements: Requirements,
    telling: frozenset[Batch],
) -> None:
    """Give moved packages the cause of what moved them, requirements before company.

    In rounds: a package that was moved moves others in its turn, wherever in the lock they stand.
    """
    while True:
        open_moves = [move for move in moved if move.name not in cause_of]
        found = {move.name: _ruled_out_by(move, cause_of, distributions, requirements) for move in open_moves}
        if not any(found.values()):
            found = {move.name: _came_with(move, cause_of, distributions, telling) for move in open_moves}
        if not any(found.values()):
            return
        cause_of |= {name: cause_of[culprit] for name, culprit in found.items() if culprit}


def _ruled_out_by(
    move: Move, cause_of: Mapping[str, str], distributions: Distributions, requirements: Requirements
) -> str | None:
    """Find a package with a known cause whose requirement admits the present version and rules the locked one out."""
    for edge in requirements.required_by.get(move.name, ()):
        rules_out = edge.satisfied and not satisfies(move.locked, edge.specifier)
        if edge.requirer in cause_of and rules_out and not _came_later(edge.requirer, move.name, distributions):
            return edge.requirer
    return None


def _came_later(name: str, other: str, distributions: Distributions) -> bool:
    """Tell whether one was installed after the other had been, so that it cannot have moved it."""
    one, two = distributions.batch_of.get(name), distributions.batch_of.get(other)
    return one is not None and two is not None and one.started > two.ended


def _came_with(
    move: Move, cause_of: Mapping[str, str], distributions: Distributions, telling: frozenset[Batch]
) -> str | None:
    """Find a package with a known cause in the same install batch; what was asked for by name moved for itself."""
    batch = None if distributions.active[move.name].requested else distributions.batch_of.get(move.name)
    company = batch.roots + batch.members if batch in telling and batch is not None else ()
    return next((name for name in company if name in cause_of), None)


def _causes(
    cause_of: Mapping[str, str], foreign: list[str], moved: tuple[Move, ...], distributions: Distributions
) -> dict[str, Cause]:
    causes = {}
    for root in dict.fromkeys(cause_of.values()):
        item: Distribution = distributions.active[root]
        batch = distributions.batch_of.get(root)
        causes[root] = Cause(
            root,
            item.version,
            batch.ended if batch else None,
            tuple(name for name in foreign if cause_of[name] == root and name != root),
            tuple(move for move in moved if cause_of.get(move.name) == root),
        )
    return causes
