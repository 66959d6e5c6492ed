"""`envdoctor lock diff` and `envdoctor lock show`."""

from __future__ import annotations

from typing import Annotated

import typer

from envdoctor.cli.application import Format, colour, locks, show, width

FormatOption = Annotated[Format, typer.Option("--format", help="Report format.")]


@locks.command("diff")
def compare(
    old: Annotated[str, typer.Argument(help="The lock as it was.", metavar="OLD")],
    new: Annotated[str, typer.Argument(help="The lock as it is to be.", metavar="NEW")],
    output: FormatOption = Format.TEXT,
) -> None:
    """Say what changes from one lock to another, and who wants it.

    torch and its companions come first, then CUDA, then what the project wants itself, then the rest; in each, major
    jumps first. Other digests of the same version are a change. The two may be of different formats.

    Exit status: 0 equal, 1 different, 2 usage, not a lock.
    """
    from envdoctor.locks import read
    from envdoctor.reports import lock_diff
    from envdoctor.reports.text import Style
    from envdoctor.review.diff import diff

    found = diff(read(old), read(new))
    style = Style(width(), colour())
    show(lock_diff.render_json(found) if output is Format.JSON else lock_diff.render(found, style))
    raise typer.Exit(0 if found.equal else 1)


@locks.command("show")
def summarise(
    file: Annotated[str, typer.Argument(help="A lock.", metavar="FILE")],
    *,
    packages: Annotated[bool, typer.Option("--packages", help="With a table of the packages.")] = False,
    output: FormatOption = Format.TEXT,
) -> None:
    """Say what a lock holds.

    Pins, sources, digests, size of the download, what made it, what is wrong with it.

    Exit status: 0 shown, 2 usage, not a lock.
    """
    from envdoctor.locks import read
    from envdoctor.reports import lock_show
    from envdoctor.reports.text import Style
    from envdoctor.review.summary import summary

    found = summary(read(file))
    style = Style(width(), colour())
    as_json = output is Format.JSON
    show(
        lock_show.render_json(found, packages=packages)
        if as_json
        else lock_show.render(found, style, packages=packages)
    )
