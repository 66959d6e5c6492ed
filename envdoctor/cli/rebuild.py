"""`envdoctor rebuild`, `rollback` and `generations`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envdoctor.cli.application import (
    INTERRUPTED,
    ConfigOption,
    ExtraOption,
    Format,
    GroupOption,
    LockOption,
    TargetOption,
    app,
    complain,
    detailed,
    show,
    width,
)

if TYPE_CHECKING:
    from envdoctor.progress import Progress
    from envdoctor.rebuild.preparing import Prepared
    from envdoctor.rebuild.workflow import Rebuilt

FormatOption = Annotated[Format, typer.Option("--format", help="Report format.")]
KeepOption = Annotated[int, typer.Option(help="Old generations to keep.", min=0, metavar="N")]


class InstallerName(StrEnum):
    """Installers."""

    UV = "uv"
    PIP = "pip"


class SmokeLevel(StrEnum):
    """How much is tried out before the switch."""

    QUICK = "quick"
    FULL = "full"
    NONE = "none"


class ProgressForm(StrEnum):
    """How progress is told on standard error."""

    TEXT = "text"
    JSON = "json"
    NONE = "none"


@app.command()
def rebuild(
    target: TargetOption = None,
    lock: LockOption = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and change nothing.")] = False,
    installer: Annotated[
        InstallerName | None, typer.Option(help="Who installs. Default: uv where it is found, else pip.")
    ] = None,
    find_links: Annotated[
        list[str] | None, typer.Option(help="A directory of wheels to take from. Repeatable.", metavar="DIR")
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Ask no index: store and --find-links alone.")] = False,
    python: Annotated[
        str | None, typer.Option(help="Python of the new environment. Default: that of the old one.", metavar="3.12")
    ] = None,
    group: GroupOption = None,
    extra: ExtraOption = None,
    no_project: Annotated[
        bool, typer.Option("--no-project", help="Do not install the user's own editable project again.")
    ] = False,
    smoke: Annotated[SmokeLevel, typer.Option(help="What is tried out before the switch.")] = SmokeLevel.QUICK,
    devices: Annotated[
        str | None, typer.Option(help="Devices to smoke, as for `envdoctor smoke`.", metavar="LIST")
    ] = None,
    keep: KeepOption = 2,
    freeze: Annotated[bool, typer.Option("--freeze", help="Take the write bits off the new environment.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Switch under running jobs.")] = False,
    allow_gap: Annotated[
        bool, typer.Option("--allow-gap", help="Where a directory cannot be exchanged with a link: rename twice.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    output: FormatOption = Format.TEXT,
    progress: Annotated[
        ProgressForm, typer.Option(help="Progress on standard error: lines, JSON lines, or none.")
    ] = ProgressForm.TEXT,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    config: ConfigOption = None,
) -> None:
    """Make the environment anew from its lock, and switch to it.

    What is there stays as it is and active until the new one is proven and tried out, and stays for `envdoctor
    rollback` afterwards. Every archive is known by the digest in the lock, and every installed file is hashed against
    the RECORD inside its archive.

    Exit status: 0 done, or planned, 1 the lock fails its audit, 2 usage, or nothing can be rebuilt there, 3 a step
    failed, and the old environment is active.
    """
    from envdoctor import workflows
    from envdoctor.rebuild import preparing, texts

    host = workflows.LocalHost()
    wish = workflows.Wish(target, lock, config, tuple(group or ()), tuple(extra or ()))
    asked = preparing.Asked(
        installer.value if installer else None,
        tuple(find_links or ()),
        offline,
        python,
        not no_project,
        smoke.value,
        devices,
        keep,
        freeze,
        force,
        allow_gap,
    )
    with detailed():
        prepared = preparing.prepare(wish, asked, host)
        if dry_run:
            show(_json(texts.plan_document(prepared)) if output is Format.JSON else texts.plan(prepared, _wrapped))
            raise typer.Exit(2 if prepared.refused else 0)
        if not prepared.refused and not yes:
            _confirm(texts.plan(prepared, _wrapped))
        elif not prepared.refused and not quiet and progress is ProgressForm.TEXT:
            sys.stderr.write(texts.plan(prepared, _wrapped, steps=False))
        from envdoctor.rebuild import workflow

        form = ProgressForm.NONE if quiet else progress
        with _interrupted(prepared), _teller(form) as tell, _unchanged(prepared):
            done = workflow.run(prepared, host, tell)
        _told(done, _json(texts.rebuilt_document(done)) if output is Format.JSON else texts.rebuilt(done, _wrapped))


@app.command()
def rollback(
    target: TargetOption = None,
    *,
    to: Annotated[
        str | None, typer.Option(help="A generation. Default: what was active before.", metavar="NAME")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also if it is not as it was, or jobs run from the present one.")
    ] = False,
    config: ConfigOption = None,
) -> None:
    """Go back to the environment before the last rebuild.

    That is the one that was active before the last rebuild or rollback. It is compared file by file with how it was
    when it was last active; a second rollback leads forward again.

    Exit status: 0 done, 2 usage, or there is none that is as it was, 3 it could not be done.
    """
    from envdoctor import workflows
    from envdoctor.rebuild import returning, texts

    done = returning.rollback(workflows.Wish(target, config=config), workflows.LocalHost(), to=to, force=force)
    show(texts.returned(done, _wrapped))


@app.command()
def generations(
    target: TargetOption = None,
    *,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove those that --keep leaves out, and the remains of killed rebuilds.")
    ] = False,
    keep: KeepOption = 2,
    force: Annotated[
        bool, typer.Option("--force", help="Of these, also those that were active less than a day ago.")
    ] = False,
    output: FormatOption = Format.TEXT,
    config: ConfigOption = None,
) -> None:
    """List a target's environments, youngest first.

    Exit status: 0 listed, 2 usage, 3 it could not be done.
    """
    from envdoctor import workflows
    from envdoctor.rebuild import returning, texts

    wish = workflows.Wish(target, config=config)
    found = returning.generations(wish, workflows.LocalHost(), prune=prune, keep=keep, force=force)
    show(_json(texts.generations_document(found)) if output is Format.JSON else texts.generations(found, _wrapped))


def _json(document: Any) -> str:  # noqa: ANN401 - JSON values
    import json

    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


@contextlib.contextmanager
def _unchanged(prepared: Prepared) -> Iterator[None]:
    """Let a failure say that nothing has changed, if that is so."""
    from envdoctor.errors import StepError

    before = prepared.layout.active()
    try:
        yield
    except StepError as error:
        if prepared.layout.active() == before:
            error.advice = "; ".join(filter(None, (error.advice, f"{prepared.layout.link} is as it was, and active")))
        raise


@contextlib.contextmanager
def _interrupted(prepared: Prepared) -> Iterator[None]:
    """Say which environment is active after a Ctrl-C, or a signal that ends the doctor."""
    layout = prepared.layout
    before = layout.active()
    try:
        yield
    except (KeyboardInterrupt, SystemExit) as error:
        active = layout.active()
        said = f"{layout.link} had been switched to {active}" if active != before else "the old environment is active"
        complain(f"interrupted: {said}")
        raise SystemExit(INTERRUPTED if isinstance(error, KeyboardInterrupt) else error.code) from None


def _told(done: Rebuilt, text: str) -> None:
    """Print what came of it. Raises EnvDoctorError if it cannot be printed, saying that it is done all the same."""
    from envdoctor.errors import EnvDoctorError

    try:
        show(text)
    except EnvDoctorError as error:
        raise EnvDoctorError(f"{done.plan.link} is rebuilt, and {done.name} is active; {error}") from error


def _wrapped(line: str) -> str:
    from envdoctor.reports.text import Style

    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return Style(width()).wrap(line.lstrip(), indent[2:], indent)


def _confirm(plan: str) -> None:
    """Show the plan and ask. Raises UsageError where nobody can answer."""
    from envdoctor.errors import UsageError

    sys.stderr.write(plan)
    if sys.stdin is None or not sys.stdin.isatty():  # None: closed
        raise UsageError("nobody can be asked here: say --yes, or --dry-run for the plan alone")
    sys.stderr.write("go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        complain("nothing was changed")
        raise typer.Exit(2)


def _teller(form: ProgressForm) -> AbstractContextManager[Callable[[Progress], None]]:
    from envdoctor.cli.telling import json_lines, lines, silence

    return {ProgressForm.TEXT: lines, ProgressForm.JSON: json_lines, ProgressForm.NONE: silence}[form]()
