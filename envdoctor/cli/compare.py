"""`envdoctor diff`."""

from __future__ import annotations

from typing import Annotated

import typer

from envdoctor.cli.application import (
    ConfigOption,
    DeadlineOption,
    ExtraOption,
    Format,
    GroupOption,
    LockOption,
    TargetOption,
    app,
    colour,
    show,
    width,
)


@app.command()
def diff(
    before: Annotated[str, typer.Argument(help="The earlier snapshot.", metavar="[A]", show_default=False)] = "healthy",
    after: Annotated[str, typer.Argument(help="The later one.", metavar="[B]", show_default=False)] = "now",
    target: TargetOption = None,
    lock: LockOption = None,
    group: GroupOption = None,
    extra: ExtraOption = None,
    output: Annotated[Format, typer.Option("--format", help="Report format.")] = Format.TEXT,
    config: ConfigOption = None,
    deadline: DeadlineOption = None,
) -> None:
    """Tell what is different between two snapshots.

    A and B are files of `envdoctor snapshot` (- is stdin), times (3d, 2026-06-03, 2026-06-03T14:10) or ids of runs in
    the history, `healthy` (its last healthy run, the default for A), or `now` (taken on the spot, the default for B).
    A day is its beginning as A, its end as B.

    Exit status: 0 no change, 1 changes, 2 usage or no such snapshot, 3 something could not be read.
    """
    from envdoctor import workflows
    from envdoctor.changes import telling

    within = workflows.within(deadline, deep=False)
    wish = workflows.Wish(target, lock, config, tuple(group or ()), tuple(extra or ()))
    host = workflows.LocalHost(patience=within / 2)
    told = telling.diff(before, after, wish, host, deadline=within)
    if output is Format.JSON:
        import json

        show(json.dumps(told.document, indent=2, ensure_ascii=True) + "\n")
    else:
        from envdoctor.reports import changes
        from envdoctor.reports.layout import Style

        show(changes.render(told.document, Style(width(), colour())))
    raise typer.Exit(told.status)
