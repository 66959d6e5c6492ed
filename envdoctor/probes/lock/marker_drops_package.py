"""A package that is needed is locked under markers that hold nowhere in the environment the lock is meant for.

Why it matters: every pin of it is left out, and installers hardly say so: pip prints `Ignoring`, uv nothing, and both
succeed. The environment has no torch, or whatever was on it before.

What to do: lock for this environment, or widen the marker. What only other systems need is dropped rightly.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.lock_source import LockSource
from envdoctor.model import Finding, Lock, LockedPackage, Severity, Unavailable
from envdoctor.pointing import fault
from envdoctor.views.lock_pins import LockEnvironment, LockPins
from envdoctor.views.requirements import applies, parsed


def check(lock: Lock, lock_pins: LockPins, lock_source: LockSource | Unavailable) -> Iterable[Finding]:
    """Report torch, and what the lock's source asks for in that environment; in a graph each edge decides itself."""
    dropped: dict[str, list[LockEnvironment]] = {}
    for environment, selection in lock_pins.by_environment if lock.format != "uv" else ():
        for name in {package.name for package in lock.packages} - selection.allowed.keys():
            if name == "torch" or _asked(name, environment, lock_source):
                dropped.setdefault(name, []).append(environment)
    for name in sorted(dropped):
        yield _finding(lock, [pin for pin in lock.packages if pin.name == name], dropped[name])


def _asked(name: str, environment: LockEnvironment, source: LockSource | Unavailable) -> bool:
    """Tell whether the source asks for a name, in every environment or by a marker that holds in this one."""
    wanted = () if isinstance(source, Unavailable) else (item for file in source.inputs for item in file.wanted)
    texts = [parsed(item.text) for item in wanted if item.name == name and not item.group]
    return any(text is not None and applies(text, environment.markers, "") for text in texts)


def _finding(lock: Lock, pins: list[LockedPackage], environments: list[LockEnvironment]) -> Finding:
    return fault(
        Severity.ERROR,
        lock,
        pins[0],
        f"no pin of {pins[0].name} applies to {environments[0].name}: its marker is {pins[0].marker}",
        text=pins[0].raw_name,
        lines=[pin.line for pin in pins],
        environments=[environment.name for environment in environments],
        remedy=("lock again for this environment",),
    )
