"""`envdoctor explain` and `envdoctor demo`."""

from __future__ import annotations

from typing import Annotated

import typer

from envdoctor.cli.application import Format, app, rendered, show, width


@app.command()
def explain(
    probe: Annotated[
        str | None, typer.Argument(help="A probe's id, or the beginning of some; a known failure's id.", metavar="[ID]")
    ] = None,
) -> None:
    """Explain a fault, or list all probes.

    With an ID: what the fault is, why it matters and what to do. Known failures of a log have ids as well.
    """
    from envdoctor import docs

    show(docs.table(width()) if probe is None else docs.explanation(probe, width()))


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

    demonstration.play(keep, _say, lambda report: show(f"\n{rendered(report, Format.TEXT)}\n"))


def _say(paragraph: str) -> None:
    import textwrap

    show(textwrap.fill(paragraph, width() or 120, subsequent_indent="  ", break_on_hyphens=False) + "\n")
