"""`envdoctor report`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from envdoctor.cli.application import (
    ConfigOption,
    DeadlineOption,
    ExtraOption,
    GroupOption,
    LockOption,
    TargetOption,
    app,
    complain,
    show,
)


@app.command()
def report(
    page: Annotated[str, typer.Option("--html", help="Where to; - is standard output.", metavar="FILE")],
    target: TargetOption = None,
    lock: LockOption = None,
    group: GroupOption = None,
    extra: ExtraOption = None,
    since: Annotated[
        str | None, typer.Option(help="Only what was seen since then: 7d, 12h, 2026-06-03.", metavar="AGE|DATE")
    ] = None,
    config: ConfigOption = None,
    deadline: DeadlineOption = None,
) -> None:
    """Write one page on what an environment is and was.

    Verdict, findings, what changed, and plots over time. It looks now, and takes the rest from what `envdoctor health`
    remembers. The file needs no script and no network.

    Exit status: 0 written, 2 usage, 3 written or not, something could not be read.
    """
    from envdoctor import recalling, workflows
    from envdoctor.errors import UsageError
    from envdoctor.page.gathering import gather
    from envdoctor.reports import html
    from envdoctor.system.host import write_all, write_atomically

    if page != "-" and os.path.lexists(page) and not os.path.isfile(page):
        raise UsageError(f"--html: {page} is there and is no file")
    within = workflows.within(deadline, deep=False)
    host = workflows.LocalHost(patience=within / 2)
    wish = workflows.Wish(target, lock, config, tuple(group or ()), tuple(extra or ()))
    start = None if since is None else recalling.moment_of(since, host.now())
    found = gather(wish, start, host, deadline=within)
    text = html.render(found.page)
    if page == "-":
        show(text)
    else:
        write_atomically(os.path.abspath(page), lambda descriptor: write_all(descriptor, text.encode()), mode=0o600)
    for problem in found.problems:
        complain(problem)
    raise typer.Exit(3 if found.problems else 0)
