"""`envdoctor cache status` and `envdoctor cache accept`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from envdoctor.cli.application import ConfigOption, Format, RootOption, TargetOption, caches, colour, show, width

FormatOption = Annotated[Format, typer.Option("--format", help="Report format.")]


@caches.command()
def status(
    target: TargetOption = None,
    output: FormatOption = Format.TEXT,
    config: ConfigOption = None,
    root: RootOption = None,
    *,
    no_state: Annotated[bool, typer.Option("--no-state", help="Raise no marks: write nothing.")] = False,
) -> None:
    """Show every compile cache that the job would use.

    Where and why there, what it holds for which device, what made it, what it once held, and who uses it now.
    """
    from envdoctor import inventory, workflows

    host = workflows.LocalHost(root=workflows.root_of(root))
    found = inventory.status(workflows.Wish(target, config=config), host, keep=not no_state)
    show(_rendered(found, output))
    raise typer.Exit(3 if found.report.incomplete else 0)


@caches.command()
def accept(target: TargetOption = None, output: FormatOption = Format.TEXT, config: ConfigOption = None) -> None:
    """Make the present counts of keys the mark.

    Later checks say that a cache has shrunk when it falls below them.
    """
    from envdoctor import inventory, workflows

    found = inventory.accept(workflows.Wish(target, config=config), workflows.LocalHost())
    show(_rendered(found, output))


def _rendered(found: Any, output: Format) -> str:  # noqa: ANN401 - inventory is imported by the commands alone
    from envdoctor.reports import caches as report
    from envdoctor.reports.text import Style

    if output is Format.JSON:
        return report.as_json(found.document, found.report)
    return report.as_text(found.document, found.report, Style(width(), colour()))
