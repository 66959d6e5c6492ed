"""`envdoctor smoke`."""

from __future__ import annotations

import math
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from envdoctor.cli.application import ConfigOption, DevicesOption, TargetOption, app, rendered, show

WIDE = (8, 38)
"""Columns of a device's name in the lines of progress, and of the name of a setting of threads."""


class SmokeFormat(StrEnum):
    """Report formats of `smoke`."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


class Depth(StrEnum):
    """Levels of `smoke`."""

    QUICK = "quick"
    FULL = "full"
    THREADS = "threads"


class Remedies(StrEnum):
    """What `smoke --level threads` can try against the race."""

    NONE = "none"
    GUARD = "guard"
    FORCE = "force"
    BARRIER = "barrier"


@app.command()
def smoke(
    target: TargetOption = None,
    devices: DevicesOption = None,
    level: Annotated[
        Depth,
        typer.Option(
            help="full adds float16, CUDA graphs and triton's tools; threads lets threads compile and train at once."
        ),
    ] = Depth.QUICK,
    timeout: Annotated[
        float,
        typer.Option(
            help="What any one step, or try of threads, may take; torch's import is a step.", min=1.0, metavar="SECONDS"
        ),
    ] = 120.0,
    cache: Annotated[
        str | None,
        typer.Option(
            help="Compile cache to use: a directory, or job for the job's own. Default: one that is thrown away.",
            metavar="DIR|job",
        ),
    ] = None,
    per_device: Annotated[
        str | None,
        typer.Option(
            help="With --level threads: threads on each device, one setting each. Default: 1,3.", metavar="LIST"
        ),
    ] = None,
    states: Annotated[
        str | None,
        typer.Option(
            help="With --level threads: the caches they find: cold, partly (warm for the first device), warm. "
            "Default: all.",
            metavar="LIST",
        ),
    ] = None,
    tries: Annotated[
        int | None,
        typer.Option(help="With --level threads: tries of each setting. Default: 3.", min=1, max=100, metavar="N"),
    ] = None,
    remedy: Annotated[
        Remedies | None,
        typer.Option(help="With --level threads: what to try against the race. Default: none.", show_default=False),
    ] = None,
    output: Annotated[SmokeFormat, typer.Option("--format", help="Report format.")] = SmokeFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Prove on each device that a compile works.

    Runs in the target's own interpreter, as training would: matrix products, torch.compile and flex_attention forward
    and backward against eager, and a fresh process that must hit the cache. Always ends, and leaves nothing behind.
    With --level threads instead: whether threads that compile and train at once in one process break each other.

    Exit status: 0 all passed, 1 a step failed or hung, 2 usage, 3 a step or device that was asked for was not tried.
    """
    from envdoctor import workflows
    from envdoctor.reports import smoke as people
    from envdoctor.smoke import threads, workflow

    if not math.isfinite(timeout):
        raise typer.BadParameter(f"{timeout} is no number of seconds.", param_hint="'--timeout'")
    racing = {"--per-device": per_device, "--states": states, "--tries": tries, "--remedy": remedy}
    _only_with_threads(level, cache, [name for name, value in racing.items() if value is not None])
    wanted = threads.wanted(per_device, states, tries, remedy.value if remedy is not None else None)
    asked = workflow.Asked(devices, level.value, timeout, cache, wanted)
    report = workflow.run(workflows.Wish(target, config=config), asked, workflows.LocalHost(), _progress, _announce)
    show(rendered(report, output, people.render))
    raise typer.Exit(report.status())


def _only_with_threads(level: Depth, cache: str | None, named: list[str]) -> None:
    """Refuse options that would have no effect."""
    from envdoctor.errors import UsageError

    if level != Depth.THREADS and named:
        raise UsageError(f"{', '.join(named)}: only with --level threads")
    if level == Depth.THREADS and cache is not None:
        raise UsageError("--cache: not with --level threads, which has throw-away caches of its own")


def _announce(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _progress(attempt: Any) -> None:  # noqa: ANN401 - facts are imported by the commands alone
    from envdoctor.printable import printable, redact
    from envdoctor.smoke.workflow import told

    name = f"{attempt.device:8}" if len(attempt.device) <= WIDE[0] else f"{attempt.device:{WIDE[1]}}"
    line = f"{name} {attempt.step:16} {attempt.state:10} {attempt.seconds:6.1f} s  {told(attempt)}"
    sys.stderr.write(printable(redact(line)).rstrip() + "\n")
    sys.stderr.flush()
