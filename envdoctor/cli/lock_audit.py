"""`envdoctor lock audit`."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from envdoctor.cli.application import ConfigOption, ExtraOption, GroupOption, ReportFormat, locks, rendered, show
from envdoctor.cli.check import Level


@locks.command()
def audit(
    files: Annotated[list[str], typer.Argument(help="Locks.", metavar="FILE...")],
    target: Annotated[
        str | None, typer.Option(help="Judge for this environment: directory or its python.", metavar="DIR|PYTHON")
    ] = None,
    python: Annotated[str | None, typer.Option(help="Judge for this Python: 3.12.", metavar="VERSION")] = None,
    platform: Annotated[
        str | None,
        typer.Option(
            help="Judge for this platform: manylinux_2_28_x86_64; linux_x86_64 if glibc is not known.", metavar="TAG"
        ),
    ] = None,
    wheelhouse: Annotated[
        str | None, typer.Option(help="Wheels whose metadata says what locked releases require.", metavar="DIR")
    ] = None,
    group: GroupOption = None,
    extra: ExtraOption = None,
    output: Annotated[ReportFormat, typer.Option("--format", help="Report format.")] = ReportFormat.TEXT,
    fail_on: Annotated[Level, typer.Option(help="Lowest severity that makes the exit status 1.")] = Level.ERROR,
    config: ConfigOption = None,
    deadline: Annotated[
        float,
        typer.Option(
            help="After so long, what one lock needs and has not got is given up.", min=0.1, metavar="SECONDS"
        ),
    ] = 60.0,
    *,
    online: Annotated[
        bool, typer.Option("--online", help="Ask pip's own index and pip-audit: yanked, unlisted, vulnerable.")
    ] = False,
) -> None:
    """Hold the rules for locks against lock files.

    Findings stand at file:line:column. Without a target, each environment that a lock itself declares is judged; this
    machine never counts.

    Exit status: 0 nothing at or above --fail-on, 1 findings, 2 usage, not a lock, 3 the doctor could not do its work.
    """
    from envdoctor import workflows
    from envdoctor.audit import workflow
    from envdoctor.model import Severity

    if not math.isfinite(deadline):
        raise typer.BadParameter("is no number of seconds.", param_hint="'--deadline'")
    chosen = (tuple(group or ()), tuple(extra or ()))
    resolve = None
    if online:
        from envdoctor.locking import dry_run

        resolve = dry_run.dry_run
    asked = workflow.Asked(target, python, platform, wheelhouse, online, *chosen, config, deadline, resolve)
    report = workflow.audit(files, asked, workflows.LocalHost())
    show(rendered(report, output))
    raise typer.Exit(report.status(Severity[fail_on.name]))
