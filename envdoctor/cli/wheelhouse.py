"""`envdoctor wheelhouse`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from envdoctor.cli.application import ConfigOption, ExtraOption, GroupOption, TargetOption, detailed, show, wheelhouses

if TYPE_CHECKING:
    from envdoctor.wheelhouse import Built


@wheelhouses.command()
def build(
    *,
    lock: Annotated[str, typer.Option(help="Lock whose files are wanted.", metavar="FILE")],
    output: Annotated[str, typer.Option("-o", "--output", help="Directory to fill, made if need be.", metavar="DIR")],
    target: TargetOption = None,
    python: Annotated[str | None, typer.Option(help="Python that it is for, e.g. 3.12.", metavar="VERSION")] = None,
    platform: Annotated[
        str | None, typer.Option(help="Platform that it is for, e.g. manylinux_2_28_x86_64.", metavar="TAG")
    ] = None,
    group: GroupOption = None,
    extra: ExtraOption = None,
    find_links: Annotated[
        list[str] | None,
        typer.Option("--find-links", help="Directory to take files from, before any index. Repeatable.", metavar="DIR"),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Ask no index.")] = False,
    config: ConfigOption = None,
) -> None:
    """Gather all that a lock needs, for nodes without a network.

    It is for one target, and hash-checked. Without a target, --python and --platform, it is for the environment that
    `check` would look at, else for this machine's Python. Nothing is removed from DIR; SHA256SUMS lists what is wanted.

    Exit status: 0 complete, 1 the lock is refused, 2 usage, 3 it could not be done.
    """
    from envdoctor import wheelhouse, workflows
    from envdoctor.cli.telling import lines
    from envdoctor.progress import Work

    names = [tuple(given or ()) for given in (group, extra, find_links)]
    asked = wheelhouse.Asked(lock, output, target, python, platform, names[0], names[1], names[2], offline, config)
    with detailed(), lines() as tell:
        done = wheelhouse.build(asked, Work(workflows.LocalHost(), tell))
    show(_said(done))


def _said(done: Built) -> str:
    """Say what is there now, the sum last."""
    from envdoctor.printable import printable, size_of

    filled = done.filled
    lines = [
        *(f"replaced {name}: it was not what the lock names" for name in filled.replaced),
        *(f"not of this lock, left alone: {name}" for name in filled.others),
        *(
            f"built from {name}, and is built again where the lock is installed: only the source is locked"
            for name in done.sources
        ),
    ]
    states = f"{len(filled.new) + len(filled.replaced)} new, {len(filled.kept)} as they were"
    lines.append(f"{done.folder}: {filled.count} files, {size_of(filled.size)} for {done.target} ({states})")
    return "".join(f"{printable(line)}\n" for line in lines)
