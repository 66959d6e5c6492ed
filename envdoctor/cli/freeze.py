"""`envdoctor freeze` and `envdoctor thaw`."""

from __future__ import annotations

from typing import Annotated

import typer

from envdoctor.cli.application import ConfigOption, Format, TargetOption, app, complain, rendered, show


@app.command()
def freeze(*, target: TargetOption = None, config: ConfigOption = None) -> None:
    """Make a healthy environment read-only, and seal it.

    Everything in it loses its write bits. Its pip then refuses what has no hash, also for root. `envdoctor thaw` undoes
    it.

    Exit status: 0 frozen, 1 it has errors and was left alone, 2 usage, 3 it could not be done.
    """
    from envdoctor import freezing, workflows

    sealed, frozen = freezing.freeze(workflows.Wish(target, None, config), workflows.LocalHost())
    if frozen is None:
        show(rendered(sealed.report, Format.TEXT))
        complain("not frozen: mend the errors above first")
        raise typer.Exit(1)
    prefix = sealed.report.target.prefix if sealed.report.target else ""
    show(f"{freezing.told(prefix, frozen)}sealed in {sealed.path}\n{sealed.summary}\n")


@app.command()
def thaw(
    *,
    target: TargetOption = None,
    config: ConfigOption = None,
    force: Annotated[bool, typer.Option("--force", help="Thaw even what was changed since the freeze.")] = False,
) -> None:
    """Make a frozen environment writable again, and seal it.

    Its pip.conf comes back as well.

    Exit status: 0 thawed, or not frozen; 1 it was changed since the freeze, 2 usage, 3 it could not be done.
    """
    from envdoctor import freezing, workflows

    done = freezing.thaw(workflows.Wish(target, None, config), workflows.LocalHost(), force=force)
    if done.report is not None:
        show(rendered(done.report, Format.TEXT))
    if not done.done:
        complain("not thawed: it was changed since the freeze; thaw it as it is with --force, its old seal then stays")
        raise typer.Exit(1)
    show(freezing.told_of_thaw(done))
