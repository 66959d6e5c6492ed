"""`envdoctor warm`."""

from __future__ import annotations

import math
import sys
from typing import Annotated

import typer

from envdoctor.cli.application import ConfigOption, DevicesOption, Format, TargetOption, app, colour, show, width


@app.command()
def warm(
    *,
    words: Annotated[list[str] | None, typer.Argument(help="The command, after `--`.", metavar="[-- CMD...]")] = None,
    entry: Annotated[
        str | None,
        typer.Option(
            help="A function, found as `python -m` finds modules: f(torch.device) if its first argument is required or "
            "called device, else f().",
            metavar="PKG.MOD:FUNCTION",
        ),
    ] = None,
    script: Annotated[str | None, typer.Option(help="A script for the target's python.", metavar="FILE")] = None,
    devices: DevicesOption = None,
    expect_keys: Annotated[
        int | None,
        typer.Option(help="Keys of AOTAutograd's that each device must have. Default: the mark.", min=1, metavar="N"),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(help="What one process may take. Default: any time.", min=0.1, metavar="SECONDS")
    ] = None,
    cache: Annotated[
        str | None, typer.Option(help="The cache. Default: the one that the job would use.", metavar="DIR")
    ] = None,
    save: Annotated[bool, typer.Option("--save", help="Save the cache, once everything is proven.")] = False,
    no_state: Annotated[bool, typer.Option("--no-state", help="Raise no marks.")] = False,
    target: TargetOption = None,
    output: Annotated[Format, typer.Option("--format", help="Report format.")] = Format.TEXT,
    config: ConfigOption = None,
) -> None:
    """Fill the compile cache for every device, and prove it.

    Each device has a process of its own, with all devices visible and that one current; ENVDOCTOR_DEVICE names it too.
    Then a fresh process a device must hit: no miss, no bypass, no new file. What they print goes to stderr.

    Exit status: 0 all warm and proven, 1 a device is not, 2 usage, 3 it could not be done, or no device.
    """
    from envdoctor import workflows
    from envdoctor.warming import workflow
    from envdoctor.warming.values import Asked

    if timeout is not None and not math.isfinite(timeout):
        raise typer.BadParameter(f"{timeout} is no number of seconds.", param_hint="'--timeout'")
    asked = Asked(entry, script, tuple(words or ()), devices, expect_keys, cache, timeout, save, not no_state)
    document = workflow.warm(workflows.Wish(target, config=config), asked, workflows.LocalHost(), progress)
    from envdoctor.reports import warm as report
    from envdoctor.reports.text import Style

    show(report.as_json(document) if output is Format.JSON else report.as_text(document, Style(width(), colour())))
    raise typer.Exit(document["status"])


def progress(device: str, phase: str, said: str) -> None:
    """Say on stderr what is going on."""
    from envdoctor.printable import printable, redact

    sys.stderr.write(printable(redact(f"{device:8} {phase:8} {said}")) + "\n")
    sys.stderr.flush()
