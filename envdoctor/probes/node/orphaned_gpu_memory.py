"""GPU memory is held by processes that have ended.

Why it matters: a job that was killed in an unlucky moment leaves its memory behind, and the next one runs out of it
though `nvidia-smi` names no process.

What to do: end what is left of the old job (its children, a zombie's parent); if nothing is left, reset the idle GPU
or restart the machine. Judged only in the host's own PID namespace and where /proc shows all processes: elsewhere a
living holder cannot be told from a dead one.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding, Severity
from envdoctor.printable import size_of
from envdoctor.views.orphans import Orphan, Orphans


def check(orphans: Orphans) -> Iterable[Finding]:
    """Report each GPU once."""
    for orphan in orphans.gpus:
        gpu = orphan.gpu
        yield Finding(
            Severity.WARNING,
            gpu.uuid,
            f"GPU {gpu.index}: {_what(orphan)}",
            {
                **gpu.identity,
                "dead": [{"pid": holder.pid, "state": holder.state} for holder in orphan.dead],
                "unaccounted": orphan.unaccounted,
                "used": gpu.memory_used,
            },
            (f"fuser -v /dev/nvidia{gpu.index}", f"with nothing left on it: nvidia-smi --gpu-reset -i {gpu.uuid}"),
        )


def _what(orphan: Orphan) -> str:
    if not orphan.dead:
        return f"{size_of(orphan.unaccounted)} are in use and no process holds them"
    used = {process.pid: process.used or 0 for process in orphan.gpu.processes or ()}
    held = sum(used[holder.pid] for holder in orphan.dead)
    named = ", ".join(f"{holder.pid} ({holder.state})" for holder in orphan.dead)
    return f"{size_of(held)} belong to processes that have ended: {named}"
