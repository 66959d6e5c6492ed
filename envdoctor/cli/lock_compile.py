"""`envdoctor lock compile` and `envdoctor lock from-target`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from envdoctor.cli.application import ConfigOption, TargetOption, complain, detailed, locks, show


@locks.command("compile")
def compile_(
    source: Annotated[str, typer.Argument(help="Requirements file to lock.", metavar="IN")],
    *,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="Lock. Default: IN as .txt, or pylock.IN.toml.", metavar="FILE"),
    ] = None,
    python: Annotated[
        str | None, typer.Option(help="Python that the lock is for: a version or a path.", metavar="3.12|PYTHON")
    ] = None,
    platform: Annotated[
        str | None, typer.Option(help="Platform that it is for, e.g. manylinux_2_28_x86_64.", metavar="TAG")
    ] = None,
    resolver: Annotated[
        Literal["pip-tools", "uv"] | None,
        typer.Option(help="Who resolves. Default: pip-tools where it can do it, else uv."),
    ] = None,
    upgrade_package: Annotated[
        list[str] | None, typer.Option(help="Let this pin of the old lock move. Repeatable.", metavar="NAME")
    ] = None,
    form: Annotated[
        Literal["requirements", "pylock"] | None, typer.Option("--format", help="Default: by the name of FILE.")
    ] = None,
) -> None:
    """Pin and hash all that a requirements file needs.

    Python, platform and resolver that are not named are those of the lock that stands there, else this machine's. Its
    pins stay as they are while they fit; hashes are always asked for anew. A lock that fails goes to FILE.rejected.

    Exit status: 0 locked, 1 no solution, or the lock fails, 2 usage, 3 it could not be done.
    """
    from envdoctor import workflows
    from envdoctor.locking.compiling import Asked, compile_lock
    from envdoctor.printable import printable

    asked = Asked(source, output, python, platform, resolver, form, tuple(upgrade_package or ()))
    with detailed():
        done = compile_lock(asked, workflows.LocalHost(), complain)
    made = f"by {done.header.resolver} for Python {done.header.python} on {done.header.platform}"
    moved = "".join(f"moved {printable(each)}\n" for each in done.moved)
    show(f"{printable(done.path)}: {done.count} packages locked {made}\n{moved}")


@locks.command("from-target")
def from_target(
    *,
    output: Annotated[str, typer.Option("-o", "--output", help="Lock to write.", metavar="FILE")],
    target: TargetOption = None,
    config: ConfigOption = None,
) -> None:
    """Pin and hash what is installed in an environment.

    The index is the one that pip is configured for. What did not come from an index, or is not on it any more, is
    listed and stands in comments at the lock's end.

    Exit status: 0 all is locked, 1 something could not be, 2 usage, 3 it could not be done.
    """
    from envdoctor import workflows
    from envdoctor.locking.from_target import lock_installed
    from envdoctor.printable import printable

    with detailed():
        taken = lock_installed(workflows.Wish(target, config=config), output, workflows.LocalHost(), complain)
    done = taken.locked
    lines = [f"not locked: {one.name} {one.version}".rstrip() + f": {one.reason}" for one in taken.left]
    show("".join(f"{line}\n" for line in [f"{printable(done.path)}: {done.count} packages locked", *lines]))
    if taken.left:
        raise typer.Exit(1)
