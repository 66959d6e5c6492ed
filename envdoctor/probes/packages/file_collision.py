"""Two packages own one file, with different bytes.

Why it matters: the one that was installed last has overwritten the other's file, and the other still looks installed.
Typical are cu12 and cu13 wheels of one NVIDIA library, and opencv-python beside opencv-python-headless. `pip check`
sees nothing.

What to do: decide which one belongs here. Uninstalling the other one deletes the shared file as well, so reinstall the
survivor by force afterwards; an uninstall alone breaks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envdoctor.facts.owners import Claim, Collision, Owners
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.views.blame import Blame
from envdoctor.views.expected import Expected
from envdoctor.views.remedies import Remedies
from envdoctor.views.requirements import Requirements


def check(
    owners: Owners,
    remedies: Remedies,
    requirements: Requirements,
    expected: Expected | Unavailable,
    blame: Blame | Unavailable,
) -> Iterable[Finding]:
    """Report one finding for each pair of packages."""
    pairs: dict[tuple[str, ...], list[Collision]] = {}
    for collision in owners.collisions:
        names = tuple(dict.fromkeys(claim.name for claim in collision.claims))
        pairs.setdefault(names, []).append(collision)
    for names, collisions in pairs.items():
        survivor = _survivor(collisions[0].claims, expected, requirements)
        others = [name for name in names if name != survivor.name]
        yield Finding(
            Severity.ERROR,
            survivor.name,
            f"{' and '.join(names)} own the same {_files(collisions)} with different bytes; {_on_disk(collisions)}",
            {
                "packages": [f"{claim.name} {claim.version}" for claim in collisions[0].claims],
                "paths": [collision.path for collision in collisions[:50]],
                "count": len(collisions),
                "on_disk": {collision.path: collision.on_disk for collision in collisions[:50]},
                **_blamed(names, blame),
            },
            (
                *remedies.remove(others),
                *remedies.reinstall([(survivor.name, survivor.version)]),
            ),
        )


def _survivor(claims: Sequence[Claim], expected: Expected | Unavailable, requirements: Requirements) -> Claim:
    """Keep the locked package, else one that others require, else the one that was there first."""
    locked = [claim for claim in claims if not isinstance(expected, Unavailable) and claim.name in expected.allowed]
    required = [claim for claim in claims if claim.name in requirements.required_by]
    return min(locked or required or claims, key=lambda claim: claim.installed_at)


def _files(collisions: Sequence[Collision]) -> str:
    return f"file {collisions[0].path}" if len(collisions) == 1 else f"{len(collisions)} files"


def _on_disk(collisions: Sequence[Collision]) -> str:
    holders = sorted({collision.on_disk for collision in collisions if collision.on_disk})
    if not any(collision.exists for collision in collisions):
        return "the file is gone"
    return f"on disk are the bytes of {' and '.join(holders)}" if holders else "on disk are the bytes of neither"


def _blamed(names: Sequence[str], blame: Blame | Unavailable) -> dict[str, str]:
    if isinstance(blame, Unavailable):
        return {}
    return next((blame.evidence(name) for name in names if name in blame.cause_of), {})
