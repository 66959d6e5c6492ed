"""`envdoctor run`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from envdoctor.cli.application import (
    ConfigOption,
    ExtraOption,
    Format,
    GroupOption,
    LockOption,
    TargetOption,
    app,
    complain,
    show,
)
from envdoctor.cli.check import IgnoreOption, Level, NoStateOption, ReuseOption, SelectOption, age
from envdoctor.cli.warm import progress
from envdoctor.errors import UsageError


class Separated(TyperCommand):
    """A command whose own options end at `--`; all that follows is the user's, whatever it looks like."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's own types are private
        """Parse what stands before `--`; keep the rest in `ctx.args`."""
        at = args.index("--") if "--" in args else len(args)
        own, command = args[:at], args[at + 1 :]
        if not {"-h", "--help"} & {*own} and not command:
            raise UsageError(
                "run: no command; say it after `--`: envdoctor run [OPTIONS] -- CMD..., such as "
                "`envdoctor run -- python train.py`"
            )
        super().parse_args(ctx, own)
        ctx.args = command
        return command


class Guard(StrEnum):
    """Guards on the command line."""

    FX_RACE = "fx-race"


@app.command(cls=Separated, options_metavar="[OPTIONS] -- CMD...")
def run(
    context: typer.Context,
    *,
    target: TargetOption = None,
    guard: Annotated[
        Guard | None, typer.Option(help="Make torch's FX-tracing flag each thread's own, in this job and its children.")
    ] = None,
    check: Annotated[bool, typer.Option("--check/--no-check", help="Check the environment first.")] = True,
    warm: Annotated[
        str | None,
        typer.Option(
            help="Warm the compile cache first: a function to call on each device.", metavar="PKG.MOD:FUNCTION"
        ),
    ] = None,
    devices: Annotated[
        str | None,
        typer.Option(
            help="Devices to warm, as for `warm`. Default: the visible GPUs that no process uses.", metavar="LIST"
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave alone: library-path, pythonpath, user-site, cuda-home, cache-dir, or all. Repeatable.",
            metavar="NAME",
        ),
    ] = None,
    lock: LockOption = None,
    group: GroupOption = None,
    extra: ExtraOption = None,
    select: SelectOption = None,
    ignore: IgnoreOption = None,
    fail_on: Annotated[
        Level | None, typer.Option(help="Lowest severity at which nothing is started. Default: error.")
    ] = None,
    config: ConfigOption = None,
    deadline: Annotated[
        float | None,
        typer.Option(help="After so long, what is not read yet is given up. Default: 30.", min=0.1, metavar="SECONDS"),
    ] = None,
    reuse: ReuseOption = None,
    no_state: NoStateOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing of what is changed.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the environment and the command; start nothing.")
    ] = False,
    output: Annotated[Format | None, typer.Option("--format", help="Format of --dry-run. Default: text.")] = None,
) -> None:
    """Start a command in a checked and sanitised environment.

    The target's commands come first on PATH. What would break the job is taken out of the environment, a line each on
    stderr; the environment as it then is, is checked; then this process becomes the command: its number, exit status,
    signals, streams and descriptors are the command's own.

    Exit status: the command's, or before it is started 1 findings at or above --fail-on, 2 usage, 3 the doctor could
    not do its work, 126 the command cannot be run, 127 there is none.
    """
    from envdoctor import workflows
    from envdoctor.model import Severity
    from envdoctor.running import texts, workflow
    from envdoctor.running.asked import Asked
    from envdoctor.system.becoming import inherited

    if not check:
        judging = {"lock": lock, "group": group, "extra": extra, "select": select, "ignore": ignore}
        _refuse("not with --no-check", **judging, fail_on=fail_on, reuse=reuse)
    if warm is None:
        _refuse("only with --warm", devices=devices)
    if not dry_run:
        _refuse("only with --dry-run", format=output)
    asked = Asked(
        tuple(context.args),
        tuple(keep or ()),
        guard.value if guard else None,
        check,
        Severity[(fail_on or Level.ERROR).name],
        age(reuse, no_state=no_state),
        workflows.within(deadline, deep=False),
        warm=warm,
        devices=devices,
        state=not (no_state or dry_run),
    )
    wish = workflows.Wish(target, lock, config, tuple(group or ()), tuple(extra or ()))
    selection = workflows.Selection(tuple(select or ()), tuple(ignore or ()))
    host = workflows.LocalHost(env=inherited(), patience=asked.deadline / 2)
    prepared = workflow.prepare(wish, selection, asked, host)
    if dry_run:
        show(texts.dry_json(prepared) if output is Format.JSON else texts.dry(prepared))
    else:
        for line in texts.warnings(prepared) if quiet else texts.lines(prepared):
            complain(line)
    if prepared.status:
        complain(texts.refusal(prepared))
    if dry_run or prepared.status:
        raise typer.Exit(prepared.status)
    workflow.start(prepared, wish, asked, host, progress)


def _refuse(why: str, **options: object) -> None:
    """Raise UsageError for options that were given and would have no effect."""
    named = [f"--{name.replace('_', '-')}" for name, value in options.items() if value not in (None, [])]
    if named:
        raise UsageError(f"run: {', '.join(named)}: {why}")
