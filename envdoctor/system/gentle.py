"""Work that must not disturb: last for the processor and the disk, and first to go if memory runs out."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform

_IOPRIO_SET = {"x86_64": 251, "aarch64": 30, "riscv64": 30, "ppc64le": 273, "s390x": 282}
"""Number of ioprio_set by machine (Linux 6.12, syscall tables)."""
_WHO_PROCESS, _IDLE = 1, 3 << 13
"""IOPRIO_WHO_PROCESS and IOPRIO_CLASS_IDLE of include/uapi/linux/ioprio.h."""
_LAST_NICE = 19
_FIRST_TO_GO = "1000"
"""proc_pid_oom_score_adj(5)."""


def give_way() -> None:
    """Let this process, and all that it starts, run where nobody else wants to. What cannot be had is done without."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, _LAST_NICE)
    number = _IOPRIO_SET.get(platform.machine())
    if number is not None:
        ctypes.CDLL(None).syscall(ctypes.c_long(number), _WHO_PROCESS, 0, _IDLE)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as stream:
        stream.write(_FIRST_TO_GO)
