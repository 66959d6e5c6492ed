"""`envdoctor timeline`, `envdoctor blame` and `envdoctor history`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from envdoctor.cli.application import (
    ConfigOption,
    ExtraOption,
    Format,
    GroupOption,
    LockOption,
    RootOption,
    SnapshotOption,
    TargetOption,
    app,
    colour,
    show,
    width,
)
from envdoctor.cli.check import alone

FormatOption = Annotated[Format, typer.Option("--format", help="Report format.")]


@app.command()
def timeline(
    target: TargetOption = None,
    lock: LockOption = None,
    group: GroupOption = None,
    extra: ExtraOption = None,
    output: FormatOption = Format.TEXT,
    config: ConfigOption = None,
    root: RootOption = None,
    snapshot: SnapshotOption = None,
) -> None:
    """Tell what happened to an environment, and when.

    From what is on disk: install batches with what each added, moved and overwrote, later edits, what is gone.

    Exit status: 0 told, 2 usage, 3 the doctor could not read everything.
    """
    from envdoctor.history import telling

    source, host = _asked(target, lock, group, extra, config, root, snapshot)
    told = telling.timeline(source, host)
    show(_rendered(told.document, "timeline", output))
    raise typer.Exit(0 if told.whole else 3)


@app.command()
def blame(
    package: Annotated[str, typer.Argument(help="Name of a package.", metavar="PACKAGE")],
    target: TargetOption = None,
    lock: LockOption = None,
    group: GroupOption = None,
    extra: ExtraOption = None,
    output: FormatOption = Format.TEXT,
    config: ConfigOption = None,
    root: RootOption = None,
    snapshot: SnapshotOption = None,
) -> None:
    """Tell why a package is there.

    Who requires it, who asked for it, what the lock says, and with what it came.

    Exit status: 0 told, 2 usage or neither installed nor locked, 3 the doctor could not read everything.
    """
    from envdoctor.history import telling

    source, host = _asked(target, lock, group, extra, config, root, snapshot)
    told = telling.blame(package, source, host)
    show(_rendered(told.document, "blame", output))
    raise typer.Exit(0 if told.whole else 3)


@app.command()
def history(
    target: Annotated[
        str | None,
        typer.Option(
            help="Environment directory or its python. Default: as for check; all of them, if there is none.",
            metavar="DIR|PYTHON",
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Only what was seen since then: 7d, 12h, 2026-06-03.", metavar="AGE|DATE")
    ] = None,
    output: FormatOption = Format.TEXT,
    *,
    everything: Annotated[bool, typer.Option("--all", help="All environments that are remembered.")] = False,
) -> None:
    """Tell what `envdoctor health` saw, run after run.

    Verdicts over time, and when each finding appeared and went.

    Exit status: 0 told, 2 usage, 3 what is remembered cannot be read.
    """
    from envdoctor import recalling
    from envdoctor.system.host import LocalHost

    if everything and target is not None:
        from envdoctor.errors import UsageError

        raise UsageError("--all is every environment, and --target one: say one of them")
    host = LocalHost()
    start = None if since is None else recalling.moment_of(since, host.now())
    document = recalling.recall(recalling.Wanted(target, everything, start), host)
    show(_rendered(document, "history", output))


def _asked(
    target: str | None,
    lock: str | None,
    group: list[str] | None,
    extra: list[str] | None,
    config: str | None,
    root: str | None,
    snapshot: str | None,
) -> Any:  # noqa: ANN401 - what it returns is imported by the commands alone
    from envdoctor import workflows
    from envdoctor.history.telling import Source

    if snapshot is not None:
        alone("--snapshot", target=target, lock=lock, group=group, extra=extra, root=root)
    wish = workflows.Wish(target, lock, config, tuple(group or ()), tuple(extra or ()))
    return Source(wish, snapshot), workflows.LocalHost(root=workflows.root_of(root))


def _rendered(document: Any, name: str, output: Format) -> str:  # noqa: ANN401 - JSON values
    from importlib import import_module

    from envdoctor.reports.layout import Style

    if output is Format.JSON:
        import json

        return json.dumps(document, indent=2, ensure_ascii=True) + "\n"
    text: str = import_module(f"envdoctor.reports.{name}").render(document, Style(width(), colour()))
    return text
