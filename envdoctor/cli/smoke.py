"""`envdoctor smoke`."""

from __future__ import annotations

import math
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from envdoctor.cli.application import ConfigOption, TargetOption, app, rendered, show


class SmokeFormat(StrEnum):
    """Report formats of `smoke`."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


class Depth(StrEnum):
    """Levels of `smoke`."""

    QUICK = "quick"
    FULL = "full"


@app.command()
def smoke(
    target: TargetOption = None,
    devices: Annotated[
        str | None,
        typer.Option(
            help="all, cpu, or torch's device numbers, such as 0,5-7. Default: the visible GPUs that no process uses.",
            metavar="LIST",
        ),
    ] = None,
    level: Annotated[Depth, typer.Option(help="full adds float16, CUDA graphs and triton's tools.")] = Depth.QUICK,
    timeout: Annotated[
        float,
        typer.Option(help="What any one step may take, torch's import included.", min=1.0, metavar="SECONDS"),
    ] = 120.0,
    cache: Annotated[
        str | None,
        typer.Option(
            help="Compile cache to use: a directory, or job for the job's own. Default: one that is thrown away.",
            metavar="DIR|job",
        ),
    ] = None,
    output: Annotated[SmokeFormat, typer.Option("--format", help="Report format.")] = SmokeFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Prove on each device that a compile works.

    Runs in the target's own interpreter, as training would: matrix products, torch.compile and flex_attention forward
    and backward against eager, and a fresh process that must hit the cache. Always ends, and leaves nothing behind.

    Exit status: 0 all passed, 1 a step failed or hung, 2 usage, 3 a step or device that was asked for was not tried.
    """
    from envdoctor import workflows
    from envdoctor.reports import smoke as people
    from envdoctor.smoke import workflow

    if not math.isfinite(timeout):
        raise typer.BadParameter(f"{timeout} is no number of seconds.", param_hint="'--timeout'")
    asked = workflow.Asked(devices, level.value, timeout, cache)
    report = workflow.run(workflows.Wish(target, config=config), asked, workflows.LocalHost(), _progress)
    show(rendered(report, output, people.render))
    raise typer.Exit(report.status())


def _progress(attempt: Any) -> None:  # noqa: ANN401 - facts are imported by the commands alone
    from envdoctor.printable import printable, redact
    from envdoctor.smoke.workflow import told

    line = f"{attempt.device:8} {attempt.step:16} {attempt.state:10} {attempt.seconds:6.1f} s  {told(attempt)}"
    sys.stderr.write(printable(redact(line)).rstrip() + "\n")
    sys.stderr.flush()
