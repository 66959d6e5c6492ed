"""Everything observed in one run: a field a fact, and how they are gathered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from envdoctor.facts import (
    distributions,
    files,
    interpreter,
    launchers,
    lock,
    owners,
    seal,
    search_path,
    startup,
    torch_build,
    variables,
)
from envdoctor.model import Lock, Target, Unavailable
from envdoctor.seals import Seal
from envdoctor.system.forked import Task, gather
from envdoctor.system.host import Host
from envdoctor.wiring import needs, supply

NOT_GATHERED = Unavailable("not gathered: no selected probe needs it")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The facts of one run. What could not be read is `Unavailable` with the reason."""

    interpreter: interpreter.Interpreter | Unavailable = NOT_GATHERED
    search_path: search_path.SearchPath | Unavailable = NOT_GATHERED
    distributions: distributions.Distributions | Unavailable = NOT_GATHERED
    files: files.Files | Unavailable = NOT_GATHERED
    owners: owners.Owners | Unavailable = NOT_GATHERED
    startup: startup.Startup | Unavailable = NOT_GATHERED
    launchers: launchers.Launchers | Unavailable = NOT_GATHERED
    torch_build: torch_build.TorchBuild | Unavailable = NOT_GATHERED
    lock: Lock | Unavailable = NOT_GATHERED
    variables: variables.Variables | Unavailable = NOT_GATHERED
    seal: Seal | Unavailable = NOT_GATHERED

    def facts(self) -> dict[str, Any]:
        """Return the facts by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


COLLECTORS: Mapping[str, Callable[..., Any]] = {
    "interpreter": interpreter.collect,
    "search_path": search_path.collect,
    "lock": lock.collect,
    "seal": seal.collect,
    "files": files.collect,
    "owners": owners.collect,
    "distributions": distributions.collect,
    "torch_build": torch_build.collect,
    "startup": startup.collect,
    "launchers": launchers.collect,
    "variables": variables.collect,
}
"""Fact -> collector, the slow ones early: they are started in this order as soon as their needs are there."""


def take(target: Target, host: Host, wanted: Iterable[str], *, deadline: float) -> Snapshot:
    """Gather the wanted facts and what they need, each in a forked child, all within `deadline` seconds.

    Raises UsageError if the lock is no lock.
    """
    names = _closure(wanted)
    tasks = [_task(name, collect, target, host) for name, collect in COLLECTORS.items() if name in names]
    return Snapshot(**gather(tasks, deadline=deadline))


def _asked(collect: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(need.name for need in needs(collect) if need.name not in ("target", "host"))


def _closure(wanted: Iterable[str]) -> set[str]:
    names: set[str] = set()
    pending = list(wanted)
    while pending:
        name = pending.pop()
        if name not in names:
            names.add(name)
            pending += _asked(COLLECTORS[name])
    return names


def _task(name: str, collect: Callable[..., Any], target: Target, host: Host) -> Task:
    return Task(name, partial(_run, collect, target, host), needs=_asked(collect))


def _run(collect: Callable[..., Any], target: Target, host: Host, *facts: Any) -> Any:  # noqa: ANN401
    arguments = supply(needs(collect), {"target": target, "host": host, **dict(zip(_asked(collect), facts, strict=True))})
    return arguments if isinstance(arguments, Unavailable) else collect(*arguments)
