"""The high-water marks of this environment's compile caches: how many keys there once were."""

from __future__ import annotations

import os
from dataclasses import dataclass

from envdoctor.facts.driver import Driver
from envdoctor.facts.jit_tools import JitTools
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Target, Unavailable
from envdoctor.state import marks, place
from envdoctor.state.marks import Key, Mark
from envdoctor.system.host import Host


@dataclass(frozen=True, slots=True)
class CacheMarks:
    """What is remembered, and under which key."""

    key: Key
    path: str
    """The state's file."""
    marks: tuple[Mark, ...] = ()
    problem: str | None = None
    """Why nothing could be read; the file may be damaged."""

    def of(self, kind: str, device: str = "") -> Mark | None:
        """Return one mark."""
        return next((mark for mark in self.marks if (mark.kind, mark.device) == (kind, device)), None)


def collect(
    target: Target, host: Host, torch_build: TorchBuild, jit_tools: JitTools | Unavailable, driver: Driver | Unavailable
) -> CacheMarks | Unavailable:
    """Read the marks of this host, user, environment and build."""
    if host.root:
        return Unavailable("--root: what was remembered of this machine says nothing of that one")
    triton = None if isinstance(jit_tools, Unavailable) else jit_tools.triton
    key = Key(
        host.name,
        str(os.geteuid()),
        target.prefix,
        torch_build.version or "",
        (triton.version or "") if triton else "",
        _arch(driver),
    )
    path = place.path_of(host.own, host.own["HOME"], host.name)
    try:
        return CacheMarks(key, path, marks.read(path, key, host.now().timestamp()))
    except place.StateError as error:
        return CacheMarks(key, path, problem=str(error))


def _arch(driver: Driver | Unavailable) -> str:
    """Return the capabilities of the machine's GPUs: `9.0`; caches of one kind of GPU say nothing of another."""
    if isinstance(driver, Unavailable) or driver.problem:
        return ""
    found = {gpu.capability for gpu in driver.gpus if gpu.capability}
    return " ".join(".".join(map(str, capability)) for capability in sorted(found))
