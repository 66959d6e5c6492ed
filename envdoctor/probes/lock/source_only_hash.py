"""The lock's digests admit nothing but a source archive, though the index has a wheel that fits.

Why it matters: pip and uv then build from source without a word. That runs the package's build code, takes a compiler
and much time, and gives other bytes than those that everybody else has.

What to do: lock again with the digests of all files of the release.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault
from envdoctor.views.lock_listed import LockListed
from envdoctor.views.lock_pins import LockPins


def check(lock: Lock, lock_listed: LockListed, lock_pins: LockPins) -> Iterable[Finding]:
    """Report each pin once, for the first environment; where a lock names files lock/source-only tells it."""
    if lock.format not in ("requirements", "pipfile"):
        return
    compared = {id(pin.package): pin for pin in lock_listed.pins}
    told: set[str] = set()
    for environment, package in lock_pins.wanted():
        pin, tags = compared.get(id(package)), environment.tags()
        wheel = pin.unused_wheel(tags) if pin is not None and tags is not None else None
        if wheel is not None and package.name not in told:
            told.add(package.name)
            yield fault(
                Severity.ERROR,
                lock,
                package,
                f"{package.name} {package.version} has digests of its source archive alone, and the index has {wheel}",
                text=package.hashes[0].partition(":")[2],
                wheel=wheel,
                environment=environment.name,
                remedy=("lock again with the digests of all files: pip-compile --generate-hashes",),
            )
