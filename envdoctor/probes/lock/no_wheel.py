"""No wheel that the lock names fits the environment.

Why it matters: without an sdist nothing can be installed; with one the package is built there, which takes a compiler,
time, and runs its build code. Python, ABI, machine and glibc must all fit: the three tags that end a wheel's name.

What to do: lock for this environment, or choose a release that has a wheel for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envdoctor.locks import Selection
from envdoctor.model import Finding, Lock, LockedPackage, Severity
from envdoctor.pointing import fault
from envdoctor.policy import Policy
from envdoctor.views.lock_pins import LockPins
from envdoctor.views.lock_targets import LockTargets


def check(lock: Lock, lock_pins: LockPins, lock_targets: LockTargets, policy: Policy) -> Iterable[Finding]:
    """Report each package once; where no target is stated, also what only an extra or group of the lock wants.

    One that has no wheel at all is lock/source-only, an environment that the lock is not for lock/python-excluded.
    """
    found: dict[int, tuple[LockedPackage, list[str]]] = {}
    for environment, selection in lock_pins.by_environment:
        tags = environment.tags() if environment.admitted(lock.requires_python) else None
        for package in _judged(selection, stated=lock_targets.stated) if tags is not None else ():
            if tags is not None and _without(package, tags):
                found.setdefault(id(package), (package, []))[1].append(environment.name)
    for package, environments in found.values():
        source = any(not item.name.endswith(".whl") for item in package.artifacts)
        if not (source and policy.builds(package.name)):
            yield _finding(lock, package, environments, source=source)


def _judged(selection: Selection, *, stated: bool) -> Iterator[LockedPackage]:
    if stated:
        yield from (package for name, package in selection.wanted.items() if name not in selection.conflicting)
    else:
        yield from (package for packages in selection.allowed.values() for package in packages)


def _without(package: LockedPackage, tags: frozenset[str]) -> bool:
    wheels = [item.name for item in package.artifacts if item.name.endswith(".whl")]
    return bool(wheels) and not any(tag in tags for name in wheels for tag in _tags(name))


def _tags(wheel: str) -> Iterator[str]:
    """Yield the tags that a wheel's name stands for (PEP 425: `cp311.cp312-abi3-linux_x86_64` is two)."""
    parts = wheel[: -len(".whl")].split("-")[-3:]
    if len(parts) == len(("python", "abi", "platform")):
        pythons, abis, platforms = (part.lower().split(".") for part in parts)
        yield from (f"{python}-{abi}-{platform}" for python in pythons for abi in abis for platform in platforms)


def _finding(lock: Lock, package: LockedPackage, environments: list[str], *, source: bool) -> Finding:
    what = f"{package.name} {package.version or ''}".rstrip()
    built = "; it is built from source there" if source else ", and no source archive"
    return fault(
        Severity.WARNING if source else Severity.ERROR,
        lock,
        package,
        f"{what} has no wheel for {environments[0]}{built}",
        text=package.raw_name,
        wheels=[item.name for item in package.artifacts if item.name.endswith(".whl")][:10],
        environments=environments,
        remedy=("lock again for this environment, or choose a release that has a wheel for it",),
    )
