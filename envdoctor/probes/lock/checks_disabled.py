"""The lock forces builds from source, or turns the check of digests off.

Why it matters: a build runs code that no digest of a wheel covers and makes other bytes on each machine; without the
check of digests whatever the index serves is installed.

What to do: drop the option. A package that has no wheel is named by itself: `--no-binary NAME`.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, LockOption, Severity
from envdoctor.pointing import fault


def check(lock: Lock) -> Iterable[Finding]:
    """Report each option line; `--no-binary` with names is a choice."""
    for option in lock.options:
        if effect := _effect(option):
            yield fault(Severity.ERROR, lock, option, f"{option.text} {effect}", remedy=("drop the line",))


def _effect(option: LockOption) -> str:
    if option.name == "--no-binary" and ":all:" in option.value.split(","):
        return "makes installers build every package from source"
    return "makes pip install without a digest" if option.name == "--no-require-hashes" else ""
