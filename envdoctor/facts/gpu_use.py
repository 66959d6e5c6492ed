"""Who the processes are that hold GPU memory, as far as this process may see them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from envdoctor.facts.driver import Driver
from envdoctor.model import Target, Unavailable
from envdoctor.system import processes
from envdoctor.system.host import Host
from envdoctor.system.people import user_name


@dataclass(frozen=True, slots=True)
class Holder:
    """A process on a GPU."""

    pid: int
    state: Literal["alive", "zombie", "gone"]
    """`gone`: there is no such process, here and now."""
    user: str = ""
    command: str = ""
    """The kernel's short name of it; arguments may hold secrets."""


@dataclass(frozen=True, slots=True)
class GpuUse:
    """The holders of GPU memory."""

    holders: tuple[Holder, ...] = ()
    hidden: str | None = None
    """Why processes may exist that are not seen from here; None if all are seen."""

    def holder(self, pid: int) -> Holder:
        """Return what is known of a process."""
        return next((holder for holder in self.holders if holder.pid == pid), Holder(pid, "gone"))


def collect(target: Target, host: Host, driver: Driver) -> GpuUse | Unavailable:  # noqa: ARG001
    """Look every process up that NVML named."""
    if driver.problem:
        return driver.problem
    pids = {process.pid for gpu in driver.gpus for process in gpu.processes or ()}
    return GpuUse(tuple(look_up(pid, host) for pid in sorted(pids)), hidden(host))


def hidden(host: Host) -> str | None:
    """Say why other processes may be invisible."""
    return processes.hidden(host.at("/proc"))


def look_up(pid: int, host: Host) -> Holder:
    """Describe a process by /proc (proc(5))."""
    folder = host.at(f"/proc/{pid}")
    try:
        owner = os.stat(folder).st_uid
    except OSError:
        return Holder(pid, "gone")
    found = processes.standing(folder)
    dead = found is not None and found.state in ("Z", "X")
    return Holder(pid, "zombie" if dead else "alive", user_name(owner), found.command if found else "")
