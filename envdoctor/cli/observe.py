"""`envdoctor snapshot` and `envdoctor schema`."""

from __future__ import annotations

import os
from typing import Annotated, Literal

import typer

from envdoctor.cli.application import (
    ConfigOption,
    DeadlineOption,
    DeepOption,
    ExtraOption,
    GroupOption,
    LockOption,
    LogOption,
    RootOption,
    TargetOption,
    app,
    complain,
    show,
)


@app.command()
def snapshot(
    *,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Where to. Default: standard output.", metavar="FILE")
    ] = None,
    target: TargetOption = None,
    lock: LockOption = None,
    group: GroupOption = None,
    extra: ExtraOption = None,
    config: ConfigOption = None,
    root: RootOption = None,
    log: LogOption = None,
    deadline: DeadlineOption = None,
    deep: DeepOption = False,
) -> None:
    """Write down all that a check would look at.

    `envdoctor check --snapshot FILE` judges it, on any machine. Secrets that can be told are hidden.

    Exit status: 0 written, 2 usage, 3 written or not, something could not be read.
    """
    from envdoctor import recorded, workflows
    from envdoctor.errors import UsageError
    from envdoctor.system.host import write_all, write_atomically

    if output is not None and os.path.lexists(output) and not os.path.isfile(output):
        raise UsageError(f"-o: {output} is there and is no file")
    within = workflows.within(deadline, deep=deep)
    chosen = tuple(group or ()), tuple(extra or ())
    wish = workflows.Wish(target, lock, config, *chosen, workflows.one_log(log or ()), deep)
    host = workflows.LocalHost(patience=within / 2, root=workflows.root_of(root))
    taken = workflows.observe(wish, host, deadline=within)
    text = recorded.render(taken)
    if output is None:
        show(text)
    else:
        write_atomically(os.path.abspath(output), lambda descriptor: write_all(descriptor, text.encode()), mode=0o600)
    for fact, reason in taken.facts.failed().items():
        complain(f"{fact}: {reason}")
    raise typer.Exit(3 if taken.facts.failed() else 0)


@app.command()
def schema(
    what: Annotated[
        Literal["report", "snapshot", "diff"], typer.Argument(help="report, snapshot or diff.", metavar="WHAT")
    ],
) -> None:
    """Print the JSON Schema of a report, snapshot or diff.

    WHAT is `report` (what `check --format json` prints), `snapshot` or `diff`. Draft-07.
    """
    from envdoctor import schemas

    show(schemas.render(what))
