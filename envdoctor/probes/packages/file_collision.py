"""Two packages own one file, with different bytes.

Why it matters: the one that was installed last has overwritten the other's file, and the other still looks installed.
Typical are cu12 and cu13 wheels of one NVIDIA library, and opencv-python beside opencv-python-headless. `pip check`
sees nothing.

What to do: decide which one belongs here. Uninstalling the other one deletes the shared file as well, so reinstall the
survivor by force afterwards; an uninstall alone breaks it. Where the lock wants both, the lock is at fault. Licences,
read-me files and top-level tests that two packages ship are a note.
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
        paths = [collision.path for collision in collisions]
        locked = not isinstance(expected, Unavailable) and all(name in expected.allowed for name in names)
        yield Finding(
            _severity(paths, locked=locked),
            survivor.name,
            f"{' and '.join(names)} own the same {_files(collisions)} with different bytes; {_on_disk(collisions)}",
            {
                "packages": [f"{claim.name} {claim.version}" for claim in collisions[0].claims],
                "paths": paths[:50],
                "count": len(collisions),
                "on_disk": {collision.path: collision.on_disk for collision in collisions[:50]},
                **_blamed(names, blame),
            },
            _remedy(survivor, others, remedies, locked=locked) if not all(map(_beside_the_point, paths)) else (),
        )


def _severity(paths: Sequence[str], *, locked: bool) -> Severity:
    """Judge what is fought over: a library always, code unless the lock wants both, papers and tests hardly."""
    if all(map(_beside_the_point, paths)):
        return Severity.NOTE
    return Severity.WARNING if locked and not any(".so" in path for path in paths) else Severity.ERROR


def _beside_the_point(path: str) -> bool:
    """Tell whether no job imports or loads a file: licences and read-me files, top-level tests and examples."""
    folder, _, name = path.rpartition("/")
    papers = not folder and name.upper().startswith(("LICENSE", "LICENCE", "README", "CHANGELOG", "NOTICE", "COPYING"))
    return papers or path.startswith(("tests/", "test/", "docs/", "doc/", "examples/", "benchmarks/"))


def _remedy(survivor: Claim, others: Sequence[str], remedies: Remedies, *, locked: bool) -> tuple[str, ...]:
    if locked:
        return (f"the lock wants all of them: drop {' or '.join([survivor.name, *others])} from it",)
    return (*remedies.remove(others), *remedies.reinstall([(survivor.name, survivor.version)]))


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
    if not holders and not all(collision.compared for collision in collisions):
        return "too large to tell in a plain check whose bytes are on disk"
    return f"on disk are the bytes of {' and '.join(holders)}" if holders else "on disk are the bytes of neither"


def _blamed(names: Sequence[str], blame: Blame | Unavailable) -> dict[str, str]:
    if isinstance(blame, Unavailable):
        return {}
    return next((blame.evidence(name) for name in names if name in blame.cause_of), {})
