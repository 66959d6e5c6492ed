"""A package is installed that the lock does not have, under any group or extra, for this platform.

Why it matters: what is not in the lock was never tested with it. Serving stacks (sglang, vllm, flashinfer, tilelang)
pin their own torch and transformers, so their coming moves the packages that training depends on, and nothing says so
afterwards: `pip check` is content with the result.

What to do: use a second environment for the other work, and make this one anew from its lock. If the package belongs
here, lock it, or name it in `allow` of the configuration. An intruder that overwrote or moved locked packages, or that
belongs to a known serving stack, is an error; any other is a warning. pip, setuptools, wheel and uv are left to
packages/drifted.
"""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote

from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.owners import Owners
from envdoctor.model import Finding, Lock, Severity, Target, Unavailable
from envdoctor.printable import moment_of
from envdoctor.views.blame import Blame, Cause
from envdoctor.views.expected import Expected
from envdoctor.views.remedies import Remedies
from envdoctor.views.requirements import Requirements


def check(
    blame: Blame,
    distributions: Distributions,
    expected: Expected,
    owners: Owners | Unavailable,
    lock: Lock,
    remedies: Remedies,
    requirements: Requirements,
    target: Target,
) -> Iterable[Finding]:
    """Judge each foreign package; one that is the root of others carries what its coming did."""
    overwritten = _overwritten(owners, expected)
    for name in blame.foreign:
        item = distributions.active[name]
        cause = blame.causes.get(name)
        harmful = name in blame.families or name in overwritten or bool(cause and cause.moved)
        evidence: dict[str, object] = {"version": item.version, "installer": item.installer, **blame.evidence(name)}
        if name in blame.families:
            evidence["family"] = blame.families[name]
        if name in overwritten:
            evidence["overwrote"] = overwritten[name]
        if cause is not None:
            evidence |= _came_with(cause)
        needed_by = sorted({edge.requirer for edge in requirements.required_by.get(name, ())} & set(expected.allowed))
        if needed_by and not harmful:
            yield _unlisted(item, needed_by, evidence, lock)
            continue
        yield Finding(
            Severity.ERROR if harmful else Severity.WARNING,
            name,
            f"{item.label} is not in {lock.path.rpartition('/')[2]}{_consequences(cause)}",
            evidence,
            (*_remedy(name, cause, owners, remedies), *(_anew(target) if harmful else ())),
        )


def _unlisted(item: Distribution, needed_by: list[str], evidence: dict[str, object], lock: Lock) -> Finding:
    """Speak of a package that the lock forgot: what it pins needs it, and removing it would break that."""
    return Finding(
        Severity.WARNING,
        item.name,
        f"{item.label} is not in {lock.path.rpartition('/')[2]}, though {', '.join(needed_by[:3])} there needs it",
        {**evidence, "needed_by": needed_by},
        (f"lock again with {item.name}: a lock without what its packages need rebuilds a broken environment",),
    )


def _remedy(name: str, cause: Cause | None, owners: Owners | Unavailable, remedies: Remedies) -> tuple[str, ...]:
    """Advise to remove it with its company, then to put back what it moved and what its removal would tear out."""
    company = [name, *(cause.added if cause else ())]
    back = {move.name: move.locked for move in (cause.moved if cause else ())}
    for shared in () if isinstance(owners, Unavailable) else owners.shared:
        if shared.owners.keys() & set(company):
            back = {other: version for other, version in shared.owners.items() if other not in company} | back
    step = remedies.reinstall(sorted(back.items())) if back else ()
    return (*remedies.remove(company), *step)


def _anew(target: Target) -> tuple[str]:
    """Advise to make all of it anew, which begins with a plan."""
    return (f"or envdoctor rebuild --target {quote(target.prefix)} --dry-run",)


def _overwritten(owners: Owners | Unavailable, expected: Expected) -> dict[str, list[str]]:
    """Return the paths of locked packages that each other package claims too."""
    found: dict[str, list[str]] = {}
    for collision in () if isinstance(owners, Unavailable) else owners.collisions:
        names = [claim.name for claim in collision.claims]
        if any(name in expected.allowed for name in names):
            for name in names:
                found.setdefault(name, []).append(collision.path)
    return found


def _came_with(cause: Cause) -> dict[str, object]:
    return {
        "installed_at": moment_of(cause.installed_at),
        "added": list(cause.added),
        "moved": [f"{move.name} {move.locked} -> {move.installed}" for move in cause.moved],
    }


def _consequences(cause: Cause | None) -> str:
    if cause is None or not (cause.added or cause.moved):
        return ""
    parts = []
    if cause.moved:
        parts.append("moved " + ", ".join(f"{m.name} {m.locked} -> {m.installed}" for m in cause.moved[:3]))
    if len(cause.moved) > 3:
        parts[-1] += f" and {len(cause.moved) - 3} more"
    if cause.added:
        parts.append(f"added {len(cause.added)} package{'s' if len(cause.added) > 1 else ''}")
    return "; its install also " + " and ".join(parts)
