"""Options -> one workflow -> render -> exit status. Nothing is decided here but what a default is."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
from enum import StrEnum
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from envdoctor.errors import EnvDoctorError, described

FAILED = 3
INTERRUPTED = 130


class Guarded(TyperGroup):
    """The one place where an error becomes a line and an exit status."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's own types are private
        """Run a command."""
        try:
            return super().invoke(ctx)
        except EnvDoctorError as error:
            _complain(str(error))
            raise typer.Exit(error.status) from None
        except KeyboardInterrupt:
            _complain("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise typer.Exit(FAILED) from None
        except Exception as error:
            if hasattr(error, "exit_code") or isinstance(error, typer.Abort):
                raise  # typer's own: usage errors and exits
            _complain(f"this is a fault of envdoctor's, please report it: {described(error)}")
            raise typer.Exit(FAILED) from None


def _complain(problem: str) -> None:
    from envdoctor.printable import printable, redact

    sys.stderr.write(f"envdoctor: {printable(redact(problem))}\n")


class Format(StrEnum):
    """Report formats of `check`."""

    TEXT = "text"
    JSON = "json"


class Level(StrEnum):
    """Severities on the command line."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


app = typer.Typer(
    name="envdoctor",
    cls=Guarded,
    help="Is this GPU training environment still the one its lock describes?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

TargetOption = Annotated[
    str | None,
    typer.Option(
        help="Environment directory or its python. Default: configuration, $VIRTUAL_ENV, $CONDA_PREFIX, .venv, venv.",
        metavar="DIR|PYTHON",
    ),
]
LockOption = Annotated[
    str | None,
    typer.Option(help="Lock to judge by. Default: configuration, the sealed one, the project's.", metavar="FILE"),
]
ConfigOption = Annotated[
    str | None,
    typer.Option(help="Configuration file. Default: the nearest envdoctor.toml or pyproject.toml.", metavar="FILE"),
]
GroupOption = Annotated[
    list[str] | None, typer.Option(help="A dependency group of the lock. Repeatable.", metavar="NAME")
]
ExtraOption = Annotated[list[str] | None, typer.Option(help="An extra of the lock. Repeatable.", metavar="NAME")]


def _version(value: bool) -> None:  # noqa: FBT001 - typer's callback
    if value:
        from envdoctor import __version__

        _print(f"envdoctor {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = (
        False
    ),
) -> None:
    pass


@app.command()
def check(
    target: TargetOption = None,
    lock: LockOption = None,
    group: GroupOption = None,
    extra: ExtraOption = None,
    select: Annotated[
        list[str] | None, typer.Option(help="Only these probes: id or prefix. Repeatable.", metavar="PREFIX")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Not these probes. Repeatable.", metavar="PREFIX")] = None,
    output: Annotated[Format, typer.Option("--format", help="Report format.")] = Format.TEXT,
    fail_on: Annotated[Level, typer.Option(help="Lowest severity that makes the exit status 1.")] = Level.ERROR,
    config: ConfigOption = None,
    root: Annotated[
        str | None,
        typer.Option(help="Read host files below DIR: an unpacked image, a mounted disk.", metavar="DIR"),
    ] = None,
    log: Annotated[
        str | None, typer.Option(help="Log of a failed run, to be searched for known failures.", metavar="FILE")
    ] = None,
    deadline: Annotated[
        float, typer.Option(help="After so long, what is not read yet is given up.", min=0.1, metavar="SECONDS")
    ] = 30.0,
) -> None:
    """Judge an environment against its lock.

    Its own records, and its seal if it has one, count as well.

    Exit status: 0 nothing at or above --fail-on, 1 findings, 2 usage, 3 the doctor could not do its work.
    """
    from envdoctor import workflows
    from envdoctor.model import Severity

    wish = workflows.Wish(target, lock, config, tuple(group or ()), tuple(extra or ()), log)
    selection = workflows.Selection(tuple(select or ()), tuple(ignore or ()))
    host = workflows.LocalHost(patience=deadline / 2, root=workflows.root_of(root))
    report = workflows.check(wish, selection, host, deadline=deadline)
    _print(_rendered(report, output))
    raise typer.Exit(report.status(Severity[fail_on.name]))


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
        _print(_rendered(done.report, Format.TEXT))
        _complain("not sealed: mend the errors above, or seal it as it is with --force")
        raise typer.Exit(1)
    _print(f"sealed {done.report.target.prefix if done.report.target else ''} in {done.path}\n{done.summary}\n")


@app.command()
def explain(
    probe: Annotated[str | None, typer.Argument(help="A probe's id, or the beginning of some.", metavar="[ID]")] = None,
) -> None:
    """Explain a fault, or list all probes.

    With an ID: what the fault is, why it matters and what to do.
    """
    from envdoctor import docs

    _print(docs.table(_width()) if probe is None else docs.explanation(probe, _width()))


@app.command()
def demo(
    keep: Annotated[
        str | None, typer.Option(help="Build it in this new directory and leave it there.", metavar="DIR")
    ] = None,
) -> None:
    """Show what check says of a contaminated venv.

    It is made up for the purpose: no venv, lock, network or GPU is needed.
    """
    from envdoctor import demo as demonstration

    demonstration.play(keep, _say, lambda report: _print(f"\n{_rendered(report, Format.TEXT)}\n"))


def _rendered(report: Any, output: Format) -> str:  # noqa: ANN401 - model is imported by the commands alone
    if output is Format.JSON:
        from envdoctor.reports import json

        return json.render(report)
    from envdoctor.reports import text

    return text.render(report, text.Style(_width(), _colour()))


def _say(paragraph: str) -> None:
    import textwrap

    _print(textwrap.fill(paragraph, _width() or 120, subsequent_indent="  ", break_on_hyphens=False) + "\n")


def _width() -> int | None:
    """Return the terminal's width; None where nobody looks at one."""
    return shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else None


def _colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise EnvDoctorError(f"standard output: {error.strerror or error}") from error


def _open_streams() -> None:
    """Let no character stop a report; one that nobody wants (`>&-`, where Python has no stream) goes nowhere."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open to the end
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _leave(number: int, _: object) -> NoReturn:
    """End on a signal as on an error: children are ended and temporary directories removed on the way out."""
    raise SystemExit(128 + number)


def main() -> NoReturn:
    """Run the command line and leave at once: a child that hangs in the kernel must not hold up the exit."""
    gc.disable()  # a run lives for a fraction of a second
    _open_streams()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:  # nohup's choice stays
            signal.signal(number, _leave)
    status: Any = 0
    try:
        app()
    except SystemExit as left:
        status = left.code
    except KeyboardInterrupt:
        status = INTERRUPTED
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        pass
    os._exit(status if isinstance(status, int) else FAILED if status else 0)
