"""What each install batch brought, moved and overwrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from envdoctor import knowledge
from envdoctor.facts.batches import SEEDS, Batch
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.owners import Owners
from envdoctor.history.events import Installed, Moved, Named, Overwrote
from envdoctor.model import Unavailable
from envdoctor.seals import Seal
from envdoctor.versions import same_build
from envdoctor.views.blame import Blame, moves
from envdoctor.views.expected import Expected
from envdoctor.views.requirements import Requirements


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an installation is told from; views and facts that there are not are `Unavailable`."""

    distributions: Distributions
    requirements: Requirements
    expected: Expected | Unavailable
    blame: Blame | Unavailable
    seal: Seal | Unavailable
    owners: Owners | Unavailable


def installs(evidence: Evidence) -> Iterator[Installed]:
    """Yield the batches as events, oldest first."""
    distributions = evidence.distributions
    moved = {move.name: move for move in _moved(evidence)}
    overwrote = list(_overwrote(evidence))
    known = len(distributions.batch_of) < len({item.name for item in distributions.own})
    for batch in distributions.batches:
        first = not known
        known = known or not SEEDS.issuperset(batch.members)
        yield _installed(batch, evidence, moved, overwrote, first=first)


def _installed(
    batch: Batch, evidence: Evidence, moved: Mapping[str, Moved], overwrote: Iterable[Overwrote], *, first: bool
) -> Installed:
    members = [name for name in dict.fromkeys(batch.members) if evidence.distributions.batch_of[name] is batch]
    active = evidence.distributions.active
    newer = {name for name in members if name in moved and moved[name].recorded}
    foreign = () if isinstance(evidence.blame, Unavailable) else evidence.blame.foreign
    families = _families(evidence)
    return Installed(
        batch.started,
        batch.ended,
        batch.installer,
        tuple(_named(active[name]) for name in batch.roots if name in members),
        tuple(_named(active[name]) for name in members if name not in batch.roots and name not in newer),
        tuple(moved[name] for name in members if name in moved),
        tuple(item for item in overwrote if item.name in members),
        tuple(name for name in members if name in foreign),
        tuple(name for name in members if name in families),
        0
        if isinstance(evidence.expected, Unavailable)
        else sum(_as_locked(n, evidence.expected, moved) for n in members),
        first,
    )


def _as_locked(name: str, expected: Expected, moved: Mapping[str, Moved]) -> bool:
    return name in expected.wanted and name not in moved


def _named(item: Distribution) -> Named:
    return Named(item.name, item.version, item.requested)


def _families(evidence: Evidence) -> Mapping[str, str]:
    """Return serving stacks by package: of what is foreign, and without a lock those that serve."""
    if isinstance(evidence.blame, Unavailable):
        return {row["name"]: row["family"] for row in knowledge.rows("serving") if row.get("engine")}
    return evidence.blame.families


def _moved(evidence: Evidence) -> Iterator[Moved]:
    """Yield what is at another version than the lock says; of the rest, than the seal says, or an older requirement."""
    told: set[str] = set()
    if not isinstance(evidence.expected, Unavailable):
        found = moves(evidence.expected, evidence.distributions)
        yield from (Moved(move.name, move.locked, move.installed, "lock") for move in found)
        told |= evidence.expected.allowed.keys()
    if not isinstance(evidence.seal, Unavailable):
        sealed = {item.name: item.version for item in evidence.seal.distributions if item.name not in told}
        yield from _unlike(sealed, evidence.distributions)
        told |= sealed.keys()
    yield from (move for move in _out_of_requirements(evidence) if move.name not in told)


def _unlike(sealed: Mapping[str, str | None], distributions: Distributions) -> Iterator[Moved]:
    for name, was in sealed.items():
        now = distributions.active[name].version if name in distributions.active else None
        if was is not None and now is not None and not same_build(now, was):
            yield Moved(name, was, now, "seal")


def _out_of_requirements(evidence: Evidence) -> Iterator[Moved]:
    """Yield what something that was there before requires in exactly another version."""
    batch_of = evidence.distributions.batch_of
    for edge in evidence.requirements.edges:
        mine, theirs = batch_of.get(edge.name), batch_of.get(edge.requirer)
        exact = _exact(edge.specifier)
        if edge.satisfied or exact is None or edge.installed is None or mine is None or theirs is mine:
            continue
        if theirs is None or theirs.ended < mine.started:
            yield Moved(edge.name, exact, edge.installed, edge.requirer)


def _exact(specifier: str) -> str | None:
    """Return the version that a specifier pins."""
    version = specifier.removeprefix("===").removeprefix("==")
    return version if version != specifier and not set(version) & set(",*<>=!~") else None


def _overwrote(evidence: Evidence) -> Iterator[Overwrote]:
    """Yield who wrote over whose files, and left other bytes there than those recorded."""
    found: dict[tuple[str, str], list[str]] = {}
    for collision in () if isinstance(evidence.owners, Unavailable) else evidence.owners.collisions:
        claims = sorted(collision.claims, key=lambda claim: claim.installed_at)
        last = collision.on_disk or claims[-1].name
        for claim in claims:
            if claim.name != last:
                found.setdefault((last, claim.name), []).append(collision.path)
    for (name, of), paths in found.items():
        yield Overwrote(name, of, tuple(paths))
