"""`envdoctor health`, which cron or systemd runs for any number of environments."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from envdoctor.cli.application import Format, LockOption, RootOption, TargetOption, app, colour, show, width

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
) -> None:
    """Look at every environment of the configuration and say what has changed since the last time.

    Each is looked at by its owner's rights alone. Without a configuration: the environment that `check` would take.

    Exit status: 0 nothing to worry about, 1 errors found, 2 usage, 3 not all could be looked at.
    """
    if context.invoked_subcommand is not None:
        return
    from envdoctor import workflows
    from envdoctor.health import documents, workflow
    from envdoctor.system.gentle import give_way

    give_way()
    below = workflows.root_of(root)
    asked = workflow.Asked(config, target, lock, below, deadline, not no_state)
    found = workflow.run(asked, workflows.LocalHost(root=below))
    document = documents.document(found)
    if output == Format.JSON:
        show(json.dumps(document, indent=2) + "\n")
    else:
        from envdoctor.reports import layout, rounds

        show(rounds.render(document, layout.Style(width(), colour())))
    raise typer.Exit(found.status)
