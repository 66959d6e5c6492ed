"""`envdoctor check` and `envdoctor seal`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envdoctor.cli.application import (
    ConfigOption,
    DeadlineOption,
    DeepOption,
    ExtraOption,
    Format,
    GroupOption,
    LockOption,
    LogOption,
    ReportFormat,
    RootOption,
    SnapshotOption,
    TargetOption,
    app,
    complain,
    rendered,
    show,
)

if TYPE_CHECKING:
    from datetime import timedelta


SelectOption = Annotated[
    list[str] | None, typer.Option(help="Only these probes: id or prefix. Repeatable.", metavar="PREFIX")
]
IgnoreOption = Annotated[list[str] | None, typer.Option(help="Not these probes. Repeatable.", metavar="PREFIX")]
ReuseOption = Annotated[
    str | None,
    typer.Option(help="Take a verdict no older than that, if this node has one: 30s, 10m, 2h.", metavar="AGE"),
]
NoStateOption = Annotated[
    bool, typer.Option("--no-state", help="Write nothing outside: no marks of caches, no memory of hashed files.")
]


class Level(StrEnum):
    """Severities on the command line."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@app.command()
def check(
    target: TargetOption = None,
    lock: LockOption = None,
    group: GroupOption = None,
    extra: ExtraOption = None,
    select: SelectOption = None,
    ignore: IgnoreOption = None,
    output: Annotated[ReportFormat, typer.Option("--format", help="Report format.")] = ReportFormat.TEXT,
    fail_on: Annotated[Level, typer.Option(help="Lowest severity that makes the exit status 1.")] = Level.ERROR,
    config: ConfigOption = None,
    root: RootOption = None,
    snapshot: SnapshotOption = None,
    log: LogOption = None,
    deadline: DeadlineOption = None,
    reuse: ReuseOption = None,
    *,
    deep: DeepOption = False,
    no_state: NoStateOption = False,
) -> None:
    """Judge an environment against its lock.

    Its own records, and its seal if it has one, count as well.

    Exit status: 0 nothing at or above --fail-on, 1 findings, 2 usage, 3 the doctor could not do its work.
    """
    from envdoctor import workflows
    from envdoctor.model import Severity

    named = workflows.one_log(log or ())
    within = workflows.within(deadline, deep=deep)
    chosen = tuple(group or ()), tuple(extra or ())
    wish = workflows.Wish(target, lock, config, *chosen, named, deep, no_state)
    selection = workflows.Selection(tuple(select or ()), tuple(ignore or ()))
    host = workflows.LocalHost(patience=within / 2, root=workflows.root_of(root))
    if snapshot is not None:
        others = {"group": group, "extra": extra, "root": root, "log": log, "reuse": reuse, "deep": deep}
        alone("--snapshot", target=target, lock=lock, **others)
        report = workflows.replay(snapshot, config, selection, host, deadline=within)
    else:
        kept = age(reuse, no_state=no_state)
        report = workflows.check(wish, selection, host, deadline=within, keep=not no_state, reuse=kept)
    show(rendered(report, output))
    raise typer.Exit(report.status(Severity[fail_on.name]))


def alone(option: str, **others: Any) -> None:  # noqa: ANN401 - options of any type
    """Raise UsageError if an option that says all is given with one that has no say beside it."""
    given = [f"--{name}" for name, value in others.items() if value]
    if given:
        from envdoctor.errors import UsageError

        raise UsageError(f"{option} holds all that was observed; it goes with no {' or '.join(given)}")


def age(reuse: str | None, *, no_state: bool) -> timedelta | None:
    """Return --reuse, None if it was not said. Raises UsageError, also for one beside --no-state."""
    if reuse is None:
        return None
    from envdoctor.errors import UsageError
    from envdoctor.reuse import age_of

    if no_state:
        raise UsageError("--reuse keeps verdicts for others, and --no-state keeps nothing: say one of them")
    return age_of(reuse)


@app.command()
def seal(
    *,
    target: TargetOption = None,
    lock: LockOption = None,
    group: GroupOption = None,
    extra: ExtraOption = None,
    config: ConfigOption = None,
    force: Annotated[bool, typer.Option("--force", help="Seal even what is sick.")] = False,
) -> None:
    """Record the present state as the good one.

    Later checks compare with it. A sick environment is refused.
    """
    from envdoctor import sealing, workflows

    wish = workflows.Wish(target, lock, config, tuple(group or ()), tuple(extra or ()))
    done = sealing.seal(wish, workflows.LocalHost(), force=force)
    if done.path is None:
        show(rendered(done.report, Format.TEXT))
        complain("not sealed: mend the errors above, or seal it as it is with --force")
        raise typer.Exit(1)
    show(f"sealed {done.report.target.prefix if done.report.target else ''} in {done.path}\n{done.summary}\n")
