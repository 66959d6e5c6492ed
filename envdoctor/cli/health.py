"""`envdoctor health`, which cron or systemd runs for any number of environments."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from envdoctor.cli.application import (
    Format,
    LockOption,
    RootOption,
    TargetOption,
    app,
    colour,
    complain,
    show,
    width,
)
from envdoctor.errors import EnvDoctorError, UsageError, described

if TYPE_CHECKING:
    from envdoctor.health.visits import Round
    from envdoctor.health.workflow import Asked

T = TypeVar("T")
healths = typer.Typer(name="health", help="Look after environments, from cron or systemd.", invoke_without_command=True)
app.add_typer(healths)


@healths.callback()
def health(
    context: typer.Context,
    config: Annotated[
        str | None,
        typer.Option(
            help="Configuration file. Default: /etc/envdoctor.toml for root, else ~/.config/envdoctor/health.toml.",
            metavar="FILE",
        ),
    ] = None,
    target: TargetOption = None,
    lock: LockOption = None,
    root: RootOption = None,
    output: Annotated[Format, typer.Option("--format", help="Report format.")] = Format.TEXT,
    deadline: Annotated[
        float | None,
        typer.Option(help="For all environments together. Default: configuration, 30.", min=0.1, metavar="SECONDS"),
    ] = None,
    *,
    no_state: Annotated[bool, typer.Option("--no-state", help="Write nothing: no runs, no marks.")] = False,
    nagios: Annotated[
        bool, typer.Option("--nagios", help="One line and a status as a monitoring plug-in's: 0, 1, 2, 3.")
    ] = False,
    slurm: Annotated[
        bool, typer.Option("--slurm", help="Judge the node; print why to drain it. Status 1 for that alone, else 0.")
    ] = False,
    textfile: Annotated[
        str | None, typer.Option(help="Write metrics for node_exporter's textfile collector.", metavar="FILE.prom")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet-unless-changed", help="Print nothing if all is as at the run before.")
    ] = False,
    notify: Annotated[
        str | None, typer.Option(help="Run CMD, with JSON on its input, if something has changed.", metavar="CMD")
    ] = None,
) -> None:
    """Look at every environment of the configuration and say what has changed since the last time.

    Each is looked at by its owner's rights alone. Without a configuration: the environment that `check` would take.

    Exit status: 0 nothing to worry about, 1 errors found, 2 usage, 3 not all could be looked at.
    """
    if context.invoked_subcommand is not None:
        return
    if nagios + slurm + quiet + (output != Format.TEXT) > 1 and not (quiet and output == Format.JSON):
        raise UsageError("--nagios, --slurm, --quiet-unless-changed and --format say what is printed: name one")
    from envdoctor.health.workflow import Asked
    from envdoctor.system.gentle import give_way

    give_way()
    asked = Asked(config, target, lock, "", deadline, not no_state, textfile, notify)
    made = partial(_made, asked, root)
    raise typer.Exit(_nagios(made) if nagios else _slurm(made) if slurm else _report(made, output, quiet=quiet))


def _made(asked: Asked, root: str | None, most: float = math.inf) -> Round:
    """Make a round, and say on stderr whom it could not tell of it."""
    from envdoctor import workflows
    from envdoctor.health import workflow

    below = workflows.root_of(root)
    found = workflow.run(replace(asked, root=below, most=most), workflows.LocalHost(root=below))
    for problem in found.untold:
        complain(problem)
    return found


def _report(made: Callable[[], Round], output: Format, *, quiet: bool) -> int:
    from envdoctor.health import documents
    from envdoctor.reports import layout, rounds

    found = made()
    document = documents.document(found)
    if output == Format.JSON:
        text = json.dumps(document, indent=2) + "\n"
    else:
        text = rounds.render(document, layout.Style(width(), colour()))
    if found.changed or not quiet:
        show(text)
    return found.status


def _nagios(made: Callable[[], Round]) -> int:
    """Whatever happens, there is one line on stdout."""
    from envdoctor.health import documents
    from envdoctor.printable import clean
    from envdoctor.reports import nagios

    try:
        document = documents.document(made())
    except EnvDoctorError as error:
        show(nagios.failed(clean(str(error))))
        return nagios.UNKNOWN
    show(nagios.render(document))
    return nagios.status(document)


def _slurm(made: Callable[..., Round]) -> int:
    """Judge the node first, and alone: what becomes of the round after that changes neither output nor status."""
    from envdoctor.health import node
    from envdoctor.reports import slurm

    began = time.monotonic()
    judged = _unless_it_fails(node.look) or node.Judged()
    reason = slurm.reason(judged.faults)
    status = 1 if reason else 0
    node.leave_in_time(status, began=began)
    show(slurm.render(reason, node.name()))
    for unknown in judged.unknown:
        complain(f"the node is not judged: {unknown}")
    _unless_it_fails(partial(made, most=max(1.0, node.LIMIT - (time.monotonic() - began))))
    return status


def _unless_it_fails(work: Callable[[], T]) -> T | None:
    """Do it. That the doctor fails is said on stderr, and no fault of the node's."""
    try:
        return work()
    except EnvDoctorError as error:
        complain(str(error))
    except Exception as error:  # noqa: BLE001 - a status that is not 0 would drain the node
        complain(f"this is a fault of envdoctor's, please report it: {described(error)}")
    return None


@healths.command()
def install(
    *,
    systemd: Annotated[bool, typer.Option("--systemd", help="A service and its timer.")] = False,
    cron: Annotated[bool, typer.Option("--cron", help="A line for cron.")] = False,
    write: Annotated[bool, typer.Option("--write", help="Write them to where they belong.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there and differ.")] = False,
    user: Annotated[bool, typer.Option("--user", help="For yourself; default unless root.")] = False,
    every: Annotated[str, typer.Option(help="How often: 5m, 10m, 1h, 1d ...", metavar="INTERVAL")] = "10m",
    config: Annotated[str | None, typer.Option(help="Configuration that it is to use.", metavar="FILE")] = None,
    textfile: Annotated[str | None, typer.Option(help="As for health.", metavar="FILE.prom")] = None,
    notify: Annotated[str | None, typer.Option(help="As for health.", metavar="CMD")] = None,
) -> None:
    """Print what makes systemd or cron run health.

    Hardened, gentle, with a limit of time and a random delay.

    Exit status: 0 printed or written, 2 usage, 3 not written.
    """
    if systemd == cron:
        raise UsageError("name one of --systemd and --cron")
    from envdoctor.health import installing
    from envdoctor.workflows import LocalHost

    wish = installing.Wish(cron, every, user or os.geteuid() != 0, config, textfile, notify)
    found = installing.planned(wish, LocalHost())
    if write:
        show("\n".join([*installing.write(found, force=force), f"then: {found.then}", ""]))
        return
    if found.open_to:
        complain(f"root should not run this envdoctor, for others can change it: {found.open_to}")
    show("\n".join(f"# {path}\n{text}" if path else text for path, text in found.files.items()))
