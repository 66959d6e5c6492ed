"""Everything observed in one run: a field a fact, and how they are gathered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from envdoctor.model import Lock, Target, Unavailable
from envdoctor.system import inside
from envdoctor.system.forked import Task, gather
from envdoctor.system.host import Host
from envdoctor.wiring import needs, supply

if TYPE_CHECKING:
    from envdoctor.facts.arch_list import ArchList
    from envdoctor.facts.cache_marks import CacheMarks
    from envdoctor.facts.compile_caches import CompileCaches
    from envdoctor.facts.distributions import Distributions
    from envdoctor.facts.driver import Driver
    from envdoctor.facts.extensions import Extensions
    from envdoctor.facts.files import Files
    from envdoctor.facts.freeze import Freeze
    from envdoctor.facts.fx_flag import FxFlag
    from envdoctor.facts.gpu_use import GpuUse
    from envdoctor.facts.interpreter import Interpreter
    from envdoctor.facts.jit_tools import JitTools
    from envdoctor.facts.job_log import JobLog
    from envdoctor.facts.launchers import Launchers
    from envdoctor.facts.loader import Loader
    from envdoctor.facts.lock_scan import LockScan
    from envdoctor.facts.lock_source import LockSource
    from envdoctor.facts.node import Node
    from envdoctor.facts.nvidia_wheels import NvidiaWheels
    from envdoctor.facts.owners import Owners
    from envdoctor.facts.search_path import SearchPath
    from envdoctor.facts.startup import Startup
    from envdoctor.facts.toolkits import Toolkits
    from envdoctor.facts.torch_build import TorchBuild
    from envdoctor.facts.variables import Variables
    from envdoctor.seals import Seal

NOT_GATHERED = Unavailable("not gathered: no selected probe needs it")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The facts of one run. What could not be read is `Unavailable` with the reason."""

    interpreter: Interpreter | Unavailable = NOT_GATHERED
    search_path: SearchPath | Unavailable = NOT_GATHERED
    distributions: Distributions | Unavailable = NOT_GATHERED
    files: Files | Unavailable = NOT_GATHERED
    owners: Owners | Unavailable = NOT_GATHERED
    startup: Startup | Unavailable = NOT_GATHERED
    freeze: Freeze | Unavailable = NOT_GATHERED
    launchers: Launchers | Unavailable = NOT_GATHERED
    torch_build: TorchBuild | Unavailable = NOT_GATHERED
    fx_flag: FxFlag | Unavailable = NOT_GATHERED
    arch_list: ArchList | Unavailable = NOT_GATHERED
    toolkits: Toolkits | Unavailable = NOT_GATHERED
    jit_tools: JitTools | Unavailable = NOT_GATHERED
    extensions: Extensions | Unavailable = NOT_GATHERED
    nvidia_wheels: NvidiaWheels | Unavailable = NOT_GATHERED
    loader: Loader | Unavailable = NOT_GATHERED
    node: Node | Unavailable = NOT_GATHERED
    driver: Driver | Unavailable = NOT_GATHERED
    gpu_use: GpuUse | Unavailable = NOT_GATHERED
    compile_caches: CompileCaches | Unavailable = NOT_GATHERED
    cache_marks: CacheMarks | Unavailable = NOT_GATHERED
    lock: Lock | Unavailable = NOT_GATHERED
    lock_scan: LockScan | Unavailable = NOT_GATHERED
    lock_source: LockSource | Unavailable = NOT_GATHERED
    variables: Variables | Unavailable = NOT_GATHERED
    seal: Seal | Unavailable = NOT_GATHERED
    job_log: JobLog | Unavailable = NOT_GATHERED

    def facts(self) -> dict[str, Any]:
        """Return the facts by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def failed(self) -> dict[str, str]:
        """Return the facts that the doctor failed to read, or to read in full (`lost`), with the reason."""
        lost = {
            name: fact.reason if isinstance(fact, Unavailable) and fact.failed else getattr(fact, "lost", None)
            for name, fact in self.facts().items()
        }
        return {name: reason for name, reason in lost.items() if reason is not None}

    def known(self, fact: str, attribute: str) -> Any:  # noqa: ANN401 - each has its own type
        """Return one value of a fact, None if the fact could not be read."""
        value = getattr(self, fact)
        return None if isinstance(value, Unavailable) else getattr(value, attribute)


FACTS: Mapping[str, tuple[str, ...]] = {
    "interpreter": (),
    "lock": (),
    "seal": (),
    "job_log": (),
    "variables": (),
    "driver": (),
    "toolkits": (),
    "node": (),
    "lock_scan": ("lock",),
    "lock_source": ("lock",),
    "search_path": ("interpreter",),
    "files": ("search_path", "seal"),
    "owners": ("search_path", "seal"),
    "distributions": ("search_path",),
    "nvidia_wheels": ("distributions",),
    "extensions": ("distributions", "torch_build"),
    "loader": ("interpreter", "search_path", "nvidia_wheels", "torch_build"),
    "launchers": ("interpreter",),
    "startup": ("interpreter", "search_path"),
    "freeze": ("search_path", "seal"),
    "torch_build": ("search_path",),
    "jit_tools": ("interpreter", "search_path"),
    "fx_flag": ("torch_build",),
    "arch_list": ("interpreter", "torch_build"),
    "compile_caches": ("torch_build", "node"),
    "cache_marks": ("torch_build", "jit_tools", "driver"),
    "gpu_use": ("driver",),
}
"""Fact -> the facts that its collector asks for, the slow ones early: each is started as soon as its needs are there.

Said here as well as in the collectors' signatures (a test holds the two together), so that the first children start
before the modules of the others are imported.
"""
UNHURRIED = {"job_log": "the log was not read to its end within {limit:g} s; give it more with --deadline"}
"""Facts that may take all the time there is, and what is said if it was too little: a log may hold gigabytes."""


def take(
    target: Target,
    host: Host,
    wanted: Iterable[str],
    *,
    deadline: float,
    meanwhile: Iterable[object] = (),
    instead: Mapping[str, Unavailable] = MappingProxyType({}),
    took: dict[str, float] | None = None,
) -> Snapshot:
    """Gather the wanted facts and what they need, each in a forked child, all within `deadline` seconds.

    `instead` holds what to say of facts that are not to be looked at, whoever needs them. `took` is filled with the
    seconds of each.
    Raises UsageError if the lock is no lock. `meanwhile` is what the parent does while it waits.
    """
    work = tasks(target, host, wanted, deadline=deadline, instead=instead)
    return Snapshot(**gather(work, deadline=deadline, meanwhile=meanwhile, took=took))


def tasks(
    target: Target,
    host: Host,
    wanted: Iterable[str],
    *,
    deadline: float,
    instead: Mapping[str, Unavailable] = MappingProxyType({}),
) -> list[Task]:
    """Return the work of gathering these facts, for whoever has other work to be done beside it."""
    names = _closure(wanted)
    return [
        Task(name, partial(instead.get, name))
        if name in instead
        else _task(name, partial(_run, name, target, host), needed, _within(name, target, deadline))
        for name, needed in FACTS.items()
        if name in names
    ]


def _within(name: str, target: Target, deadline: float) -> float | None:
    """Return the seconds that a fact may take, if they are not those of any other."""
    return deadline if name in UNHURRIED or (name == "files" and target.deep) else None


def _task(name: str, run: Callable[..., Any], needed: tuple[str, ...], within: float | None) -> Task:
    task = Task(name, run, needed) if within is None else Task(name, run, needed, within)
    return replace(task, late=UNHURRIED[name]) if name in UNHURRIED else task


def load() -> Iterator[None]:
    """Import the modules of all facts, one a step; unpickling an answer needs them."""
    for name in FACTS:
        import_module(f"envdoctor.facts.{name}")
        yield


def _closure(wanted: Iterable[str]) -> set[str]:
    names: set[str] = set()
    pending = list(wanted)
    while pending:
        name = pending.pop()
        if name not in names:
            names.add(name)
            pending += FACTS[name]
    return names


def _run(name: str, target: Target, host: Host, *facts: Any) -> Any:  # noqa: ANN401
    inside.enter(host.root)
    collect = import_module(f"envdoctor.facts.{name}").collect
    values = {"target": target, "host": host, **dict(zip(FACTS[name], facts, strict=True))}
    arguments = supply(needs(collect), values)
    return arguments if isinstance(arguments, Unavailable) else collect(*arguments)
