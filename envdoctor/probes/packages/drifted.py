"""A locked package is installed at another version or build than the lock names.

Why it matters: the job no longer runs what was tested. A build label counts: `2.1.0+cpu` is another library than the
`2.1.0+cu121` of the lock, though installers call the requirement satisfied and a plain install changes nothing.

What to do: force the locked version back (`pip install --force-reinstall --no-deps NAME==VERSION`, the label
included), or make the environment anew from its lock. Packages that venv brings (pip, setuptools, wheel, uv) are
compared with the lock where it pins them, otherwise with the seal, as a note.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.batches import SEEDS
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.seal import Seal
from envdoctor.model import Finding, Lock, LockedPackage, Severity, Unavailable
from envdoctor.printable import moment_of
from envdoctor.versions import label, same_build, same_release
from envdoctor.views.blame import Blame, alternatives
from envdoctor.views.expected import Expected
from envdoctor.views.remedies import Remedies


def check(
    expected: Expected,
    distributions: Distributions,
    blame: Blame,
    lock: Lock,
    remedies: Remedies,
    seal: Seal | Unavailable,
) -> Iterable[Finding]:
    """Compare every installed version with the pin that holds here."""
    for name, item in distributions.active.items():
        pins = [pin for pin in alternatives(expected, name) if pin.version is not None]
        if name == lock.project or item.version is None or not pins:
            continue
        if not any(same_build(item.version, pin.version) for pin in pins):
            yield _finding(item, pins[0], blame, lock, remedies)
    if isinstance(seal, Seal):
        yield from _seeds(expected, distributions, seal)


def _finding(item: Distribution, pin: LockedPackage, blame: Blame, lock: Lock, remedies: Remedies) -> Finding:
    installed, locked = item.version or "", pin.version or ""
    only_label = same_release(installed, locked)
    unnamed = only_label and not label(locked) and not pin.artifacts
    message = f"{item.name} is {installed}, the lock says {locked}"
    if only_label:
        message += "; the same release in another build, which a plain install would leave as it is"
    if unnamed:
        message += " (the lock names no build)"
    return Finding(
        Severity.WARNING if unnamed and label(installed) != "cpu" else Severity.ERROR,
        item.name,
        message,
        {
            "installed": installed,
            "locked": locked,
            "file": lock.path,
            "line": pin.line,
            "installed_at": moment_of(item.installed_at),
            "installer": item.installer,
            **blame.evidence(item.name),
        },
        remedies.reinstall([(item.name, locked)]),
    )


def _seeds(expected: Expected, distributions: Distributions, seal: Seal) -> Iterable[Finding]:
    sealed = {item.name: item.version for item in seal.distributions}
    for name in sorted(SEEDS - set(expected.allowed)):
        item = distributions.active.get(name)
        was, now = sealed.get(name), item.version if item else None
        if was is not None and now != was:
            yield Finding(
                Severity.NOTE,
                name,
                f"{name} was {was} when the environment was sealed and is {now or 'gone'} now",
                {"sealed": was, "installed": now, "sealed_at": seal.taken_at},
            )
