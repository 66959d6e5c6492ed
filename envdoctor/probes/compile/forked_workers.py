"""Compile workers are forked from the training process.

Why it matters: a fork copies locks that other threads hold at that moment, and nobody in the child ever releases them.
Training has many threads by the time it compiles: compilation then never ends, and memory may grow without bound.

What to do: unset TORCHINDUCTOR_WORKER_START, so that torch starts workers as processes of their own (the default of
torch 2.13), or compile in the process itself with TORCHINDUCTOR_COMPILE_THREADS=1. Launch scripts that set it on
purpose are common and mostly work, so it is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.torch_build import TorchBuild
from envdoctor.facts.variables import Variables
from envdoctor.model import Finding, Severity

VARIABLE, THREADS = "TORCHINDUCTOR_WORKER_START", "TORCHINDUCTOR_COMPILE_THREADS"


def check(variables: Variables, torch_build: TorchBuild) -> Iterable[Finding]:
    """Judge the variable; with one thread no worker is started."""
    if variables.get(VARIABLE) == "fork" and variables.get(THREADS) not in ("0", "1"):
        yield Finding(
            Severity.WARNING,
            VARIABLE,
            f"{VARIABLE}=fork: torch {torch_build.version} forks its compile workers from a process with threads, "
            "and a worker that inherits a held lock hangs for ever",
            {"torch": torch_build.version, "variable": VARIABLE},
            (f"unset {VARIABLE}", f"or export {THREADS}=1"),
        )
