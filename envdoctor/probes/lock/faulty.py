"""The lock itself breaks rules.

Why it matters: a lock is what an environment is rebuilt from. One that is not hashed, not pinned or not meant for this
machine rebuilds something else than what was tested, and what no tool understands is read by each in its own way.

What to do: `envdoctor lock audit` tells every place. What a probe of the environment has told already is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote

from envdoctor.model import Finding, Lock, LockFaults, Severity

COUNTERPARTS = {
    "lock/companion-mismatch": "packages/companion-mismatch",
    "lock/compromised": "packages/compromised",
    "lock/cpu-build": "packages/torch-cpu-build",
    "lock/cuda-mix": "cuda/wheel-mix",
    "lock/driver-too-old": "cuda/driver-too-old",
    "lock/extension-mismatch": "packages/extension-abi",
    "lock/file-collision": "packages/file-collision",
    "lock/broken-requirement": "packages/broken-requirement",
}
"""Rule -> the probe that tells the same of what is installed."""


def check(lock: Lock, lock_faults: LockFaults) -> Iterable[Finding]:
    """Sum up all that beats a note, in one warning."""
    serious = {
        rule: sum(finding.evidence.get("count", 1) for finding in found if finding.severity > Severity.NOTE)
        for rule, found in lock_faults.found.items()
        if COUNTERPARTS.get(rule) not in lock_faults.told
    }
    counts = {rule: count for rule, count in sorted(serious.items()) if count}
    if counts:
        said = ", ".join(f"{rule.partition('/')[2]} {count:,}" for rule, count in counts.items())
        yield Finding(
            Severity.WARNING,
            lock.path,
            f"the lock {lock.path} breaks {len(counts)} rule{'s' * (len(counts) > 1)}: {said}",
            {"file": lock.path, "rules": counts},
            (f"envdoctor lock audit {quote(lock.path)}",),
        )
