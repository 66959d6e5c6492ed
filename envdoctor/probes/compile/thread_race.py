"""Threads of one process share torch's flag that says "FX is tracing".

Why it matters: up to torch 2.13 the flag is one for the whole process. While one thread traces (AOTAutograd, the joint
graph of flex_attention, make_fx, torch.export), each call of a compiled function in another thread raises "Detected
that you are using FX to symbolically trace a dynamo-optimized function", though it was compiled long ago; traces that
cross leave the flag raised for good. A compile cache that is warm for everything does not help: flex_attention with
gradients traces in every process. torch 2.13 does not look at the flag while torch.compile compiles; any other trace
breaks it as before. From 2.14 the flag is each thread's own; that several threads trace at once is still not supported.

What to do: start the job with `envdoctor run --guard fx-race -- CMD`, move to torch 2.14, or run one process a GPU;
`envdoctor smoke --level threads` tries out whether threads break each other. Say `threads = true` in the configuration
if threads of one process drive the job's GPUs: a shared flag is then a warning, in 2.13 too, else a note, and an error
where a log (--log) shows the failure. What can be done in the job itself: first passes, forward and backward, one
thread after the other with all of them held at a barrier until the last is done (a new shape opens the race again, and
a lock alone does not help); or torch._dynamo.config.force_compile_during_fx_trace = True, which exists from 2.11 and
from 2.12 has to be set in each thread, for each has a configuration of its own. Switching error_on_nested_fx_trace off
is no cure: the call then runs uncompiled.

Measured on two H200s with torch 2.11.0, a thread a GPU, flex_attention forward and backward, cache warm for both; tries
that failed, the first three by `envdoctor smoke --level threads`, the others by scripts of the same kind:
- nothing done: 3 of 5, and in the other 2 no call met a trace (cold cache 2 of 5, warm for one GPU 4 of 5)
- the guard: 0 of 13, of which 3 met a trace
- first passes in turn and then a barrier: 0 of 5
- a lock around the first passes alone: 3 of 3
- the forced compile: 0 of 3
- three threads a GPU, cold cache, nothing done: a deadlock in 3 of 3 that started together, the error in 3 of 3 in turn

Measured on two CPU cores, three threads that train, each a graph of its own, backend aot_eager, cold cache; runs that
failed with torch 2.11.0 and with 2.12.0:
- nothing done: 20 of 20, 10 of 10
- the guard: 0 of 20, 0 of 10
- a lock alone: 5 of 5, 3 of 3
- a lock and then a barrier: 0 of 5, 0 of 3
- the forced compile: 0 of 5, 0 of 3
- torch 2.13.0, nothing done: 0 of 5; compiled calls beside a make_fx of another thread: 3 of 3, with the guard 0 of 3
- all figures were those of one thread uncompiled
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor import hooks
from envdoctor.facts.fx_flag import FxFlag, is_guardable
from envdoctor.facts.job_log import JobLog
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.facts.variables import Variables
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.policy import Policy
from envdoctor.views.devices import Devices
from envdoctor.views.races import FX, fx_cures


def check(
    fx_flag: FxFlag,
    torch_build: TorchBuild,
    devices: Devices | Unavailable,
    variables: Variables | Unavailable,
    job_log: JobLog | Unavailable,
    policy: Policy,
) -> Iterable[Finding]:
    """Judge whose the flag is, and whether threads of the job meet it; in a guarded job they do not."""
    if fx_flag.shared and is_guardable(torch_build) and _has_guard(variables):
        return
    torch = f"torch {torch_build.version or 'of unknown version'}"
    evidence = {"torch": torch_build.version, "flag": fx_flag.kind, "file": fx_flag.path, "line": fx_flag.line}
    if fx_flag.shared and policy.threads:
        visible = None if isinstance(devices, Unavailable) else len(devices.visible) + len(devices.untold)
        message = f"{_fault(torch, fx_flag)}; {_users(visible)}"
        yield Finding(Severity.WARNING, "torch", message, evidence | {"visible": visible}, fx_cures(torch_build))
    elif fx_flag.shared:
        steps = fx_cures(torch_build) if _has_happened(job_log) else ()
        yield Finding(Severity.NOTE, "torch", _fault(torch, fx_flag), evidence, steps)
    elif fx_flag.kind == "thread-local" and policy.threads:
        message = f"{torch} has an FX-tracing flag for each thread; traces in several at once are not supported even so"
        yield Finding(Severity.NOTE, "threads", message, evidence, ("let one thread trace at a time",))


def _fault(torch: str, flag: FxFlag) -> str:
    fault = f"{torch} has one FX-tracing flag for all threads: while one traces, compiled calls of the others raise"
    return f"{fault}, unless it is torch.compile that traces" if flag.kind == "masked" else fault


def _users(visible: int | None) -> str:
    """Say whose threads those are; `visible` is the number of GPUs that the process would see, None if not known."""
    if not visible:
        return "the job uses threads"
    return f"the job's threads drive {visible} GPUs" if visible > 1 else "the job's threads may share its one GPU"


def _has_guard(variables: Variables | Unavailable) -> bool:
    return not isinstance(variables, Unavailable) and hooks.is_guarded(variables.get("PYTHONPATH"))


def _has_happened(log: JobLog | Unavailable) -> bool:
    return not isinstance(log, Unavailable) and any(match.id == FX for match in log.matches)
