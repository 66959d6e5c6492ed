"""Try the new environment out before it becomes the active one, on whatever there is to try it on."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from envdoctor import snapshot
from envdoctor.facts.smoke import Attempt
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.locate import Wish, locate
from envdoctor.model import Report, Unavailable
from envdoctor.rebuild.planning import Level
from envdoctor.smoke import workflow
from envdoctor.smoke.devices import CPU
from envdoctor.snapshot import Snapshot
from envdoctor.system.forked import call
from envdoctor.system.host import Host

WITHIN = 30.0
"""Seconds for reading the node."""
FACTS = ("interpreter", "search_path", "distributions", "torch_build", "driver", "variables")


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be tried out."""

    devices: str | None
    """As --devices says it; None for the GPUs that nobody uses."""
    said: str
    """One phrase."""
    wanted: bool = True


@dataclass(frozen=True, slots=True)
class Smoked:
    """What came of it."""

    said: str
    """One phrase."""
    report: Report | None = None
    """None if nothing was tried out."""

    @property
    def status(self) -> int:
        """As the exit status of `envdoctor smoke`; 0 if nothing was to be tried out."""
        return 0 if self.report is None else self.report.status()


def choose(level: Level, named: str | None, taken: Snapshot) -> Chosen:
    """Choose by what was asked, by torch's build, and by the GPUs of the host."""
    if level == "none":
        return Chosen(None, "none, as asked", wanted=False)
    if named is not None:
        return Chosen(named, f"{level} on {named}, as asked")
    build = taken.torch_build
    if not isinstance(build, TorchBuild):
        return Chosen(None, f"none: {build.reason}", wanted=False)
    if build.cuda is None:
        return Chosen(CPU, f"{level} on the CPU, as torch {build.version} is built without CUDA")
    if reason := _without_gpu(taken):
        return Chosen(CPU, f"{level} on the CPU, as {reason}")
    return Chosen(None, f"{level} on the GPUs that no process uses")


def _without_gpu(taken: Snapshot) -> str:
    """Say why there is no GPU on this host; "" if there is one, or that cannot be told."""
    if isinstance(taken.driver, Unavailable):
        return "" if taken.driver.failed else f"there is no GPU on this host ({taken.driver.reason})"
    if taken.driver.gpus or taken.driver.device_nodes:
        return ""
    return "no GPU is open to this machine or container" if taken.driver.pci else "there is no GPU on this host"


def smoke(place: str, level: Level, named: str | None, host: Host, tell: Callable[[Attempt], None]) -> Smoked:
    """Smoke a generation by its own path. Raises UsageError and EnvDoctorError as `envdoctor smoke` does."""
    wish = Wish(place, os.devnull)
    target, _ = call("the search for the new environment", partial(locate, wish, host), timeout=WITHIN)
    taken = snapshot.take(target, host, FACTS, deadline=WITHIN, meanwhile=snapshot.load())
    chosen = choose(level, named, taken)
    if level == "none" or not chosen.wanted:
        return Smoked(chosen.said)
    report = workflow.run(wish, workflow.Asked(chosen.devices, level), host, tell)
    return Smoked(f"{chosen.said}: {_outcome(report)}", report)


def _outcome(report: Report) -> str:
    states = [trial.state for trial in report.trials]
    if not states:
        return next(iter(report.failed.values()), "nothing was tried out")
    if report.status() == 0:
        return f"all {states.count('passed')} steps passed"
    broken = [f"{trial.step.partition('/')[2]} on {trial.device}" for trial in report.trials if trial.state != "passed"]
    return f"{states.count('failed')} of {len(states)} steps failed ({', '.join(broken[:3])})"
