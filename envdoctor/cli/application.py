"""The application: the one place where an error becomes a line and an exit status, and what all commands share."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from envdoctor.errors import EnvDoctorError, described

if TYPE_CHECKING:
    from envdoctor.model import Report
    from envdoctor.reports.layout import Style

FAILED = 3
INTERRUPTED = 130


class Guarded(TyperGroup):
    """The one place where an error becomes a line and an exit status."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's own types are private
        """Run a command."""
        try:
            return super().invoke(ctx)
        except EnvDoctorError as error:
            complain(str(error))
            raise typer.Exit(error.status) from None
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise typer.Exit(FAILED) from None
        except Exception as error:
            if hasattr(error, "exit_code") or isinstance(error, typer.Abort):
                raise  # typer's own: usage errors and exits
            complain(f"this is a fault of envdoctor's, please report it: {described(error)}")
            raise typer.Exit(FAILED) from None


def complain(problem: str) -> None:
    """Say on stderr, in one line, what was wrong."""
    from envdoctor.printable import printable, redact

    sys.stderr.write(f"envdoctor: {printable(redact(problem))}\n")


@contextlib.contextmanager
def detailed() -> Iterator[None]:
    """Show what a tool said last, or what is wrong with a lock, before the one line that says what came of it."""
    try:
        yield
    except EnvDoctorError as error:
        from envdoctor.printable import printable, redact

        advice = getattr(error, "advice", "")
        for line in getattr(error, "details", ()):
            sys.stderr.write(f"    {printable(redact(line))}\n")
        if not advice:
            raise
        complain(str(error))
        sys.stderr.write(f"    {printable(redact(advice))}\n")
        raise typer.Exit(error.status) from None


class Format(StrEnum):
    """Formats of what is for people or programs."""

    TEXT = "text"
    JSON = "json"


class ReportFormat(StrEnum):
    """Formats of a report; code hosts read SARIF, CI servers JUnit."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"


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
caches = typer.Typer(
    name="cache",
    help="Compile caches: see, judge, save and restore them.",
    no_args_is_help=True,
)
app.add_typer(caches)
locks = typer.Typer(
    name="lock",
    help="Locks: audit them, compile them, compare them.",
    no_args_is_help=True,
)
app.add_typer(locks)
wheelhouses = typer.Typer(
    name="wheelhouse",
    help="Wheelhouses: what a lock needs, in a directory.",
    no_args_is_help=True,
)
app.add_typer(wheelhouses)

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
DevicesOption = Annotated[
    str | None,
    typer.Option(
        help="all, cpu, or torch's device numbers, such as 0,5-7. Default: the visible GPUs that no process uses.",
        metavar="LIST",
    ),
]
ConfigOption = Annotated[
    str | None,
    typer.Option(help="Configuration file. Default: the nearest envdoctor.toml or pyproject.toml.", metavar="FILE"),
]
GroupOption = Annotated[
    list[str] | None, typer.Option(help="A dependency group of the lock. Repeatable.", metavar="NAME")
]
DeadlineOption = Annotated[
    float | None,
    typer.Option(
        help="After so long, what is not read yet is given up. Default: 30, with --deep 600.",
        min=0.1,
        metavar="SECONDS",
    ),
]
DeepOption = Annotated[bool, typer.Option("--deep", help="Hash every file with a recorded digest, on all cores.")]
RootOption = Annotated[
    str | None,
    typer.Option(help="The machine's files are below DIR: an unpacked image, a mounted disk.", metavar="DIR"),
]
SnapshotOption = Annotated[
    str | None,
    typer.Option(help="Take what `envdoctor snapshot` wrote, instead of this machine; - is stdin.", metavar="FILE"),
]
LogOption = Annotated[
    list[str] | None, typer.Option(help="Log of a failed run, to be searched for known failures.", metavar="FILE")
]
ExtraOption = Annotated[list[str] | None, typer.Option(help="An extra of the lock. Repeatable.", metavar="NAME")]


def _version(value: bool) -> None:  # noqa: FBT001 - typer's callback
    if value:
        from envdoctor import __version__

        show(f"envdoctor {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = (
        False
    ),
) -> None:
    pass


def rendered(report: Report, output: str, people: Callable[[Report, Style], str] | None = None) -> str:
    """Return a report in the format of this name; `people` writes the one for people, where it is not check's."""
    if output == ReportFormat.JSON:
        from envdoctor.reports import json

        return json.render(report)
    if output == ReportFormat.SARIF:
        from envdoctor import registry
        from envdoctor.reports import sarif

        return sarif.render(report, registry.documented(outcome.probe for outcome in report.outcomes), _folder())
    if output == ReportFormat.JUNIT:
        from envdoctor.reports import junit

        return junit.render(report)
    from envdoctor.reports import text

    return (people or text.render)(report, text.Style(width(), colour()))


def _folder() -> str:
    """Return the current directory, "" if it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def width() -> int | None:
    """Return the terminal's width; None where nobody looks at one."""
    return shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else None


def colour() -> bool:
    """Tell whether colours are wanted (no-color.org) and can be shown."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show(text: str) -> None:
    """Print what was asked for. Raises EnvDoctorError if it cannot be written."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise EnvDoctorError(f"standard output: {error.strerror or error}") from error
