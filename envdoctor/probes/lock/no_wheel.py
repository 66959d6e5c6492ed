"""No wheel that the lock names fits the environment.

Why it matters: without an sdist nothing can be installed; with one the package is built there, which takes a compiler,
time, and runs its build code. Python, ABI, machine and glibc must all fit: the three tags that end a wheel's name.

What to do: lock for this environment, or choose a release that has a wheel for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault
from envdoctor.policy import Policy
from envdoctor.views.lock_pins import LockEnvironment, LockPins


def check(lock: Lock, lock_pins: LockPins, policy: Policy) -> Iterable[Finding]:
    """Report each package once.

    One that has no wheel at all is lock/source-only, an environment that the lock is not for lock/python-excluded.
    """
    found: dict[str, tuple[LockedPackage, list[LockEnvironment]]] = {}
    for environment, selection in lock_pins.by_environment:
        tags = environment.tags() if environment.admitted(lock.requires_python) else None
        for name, package in selection.wanted.items() if tags is not None else ():
            if tags is not None and name not in selection.conflicting and _without(package, tags):
                found.setdefault(name, (package, []))[1].append(environment)
    for package, environments in found.values():
        source = any(not item.name.endswith(".whl") for item in package.artifacts)
        if not (source and policy.builds(package.name)):
            yield _finding(lock, package, environments, source=source)


def _without(package: LockedPackage, tags: frozenset[str]) -> bool:
    wheels = [item.name for item in package.artifacts if item.name.endswith(".whl")]
    return bool(wheels) and not any(tag in tags for name in wheels for tag in _tags(name))


def _tags(wheel: str) -> Iterator[str]:
    """Yield the tags that a wheel's name stands for (PEP 425: `cp311.cp312-abi3-linux_x86_64` is two)."""
    parts = wheel[: -len(".whl")].split("-")[-3:]
    if len(parts) == len(("python", "abi", "platform")):
        pythons, abis, platforms = (part.lower().split(".") for part in parts)
        yield from (f"{python}-{abi}-{platform}" for python in pythons for abi in abis for platform in platforms)


def _finding(lock: Lock, package: LockedPackage, environments: Sequence[LockEnvironment], *, source: bool) -> Finding:
    what = f"{package.name} {package.version or ''}".rstrip()
    built = "; it is built from source there" if source else ", and no source archive"
    return fault(
        Severity.WARNING if source else Severity.ERROR,
        lock,
        package,
        f"{what} has no wheel for {environments[0].name}{built}",
        text=package.raw_name,
        wheels=[item.name for item in package.artifacts if item.name.endswith(".whl")][:10],
        environments=[environment.name for environment in environments],
        remedy=("lock again for this environment, or choose a release that has a wheel for it",),
    )
