"""`envdoctor cache`."""

from __future__ import annotations

from typing import Annotated

import typer

from envdoctor.cli.application import ConfigOption, Format, TargetOption, caches, show

FileArgument = Annotated[str | None, typer.Argument(help="A save.", metavar="[FILE]")]
LatestOption = Annotated[bool, typer.Option("--latest", help="The youngest save of the environment.")]
CacheOption = Annotated[
    str | None,
    typer.Option(
        help="The cache. Default: $TORCHINDUCTOR_CACHE_DIR, else torchinductor_USER in $TMPDIR or /tmp.", metavar="DIR"
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Even if somebody else may have written it.")]


@caches.command()
def save(
    *,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="File to write. Default: one in the store.", metavar="FILE")
    ] = None,
    target: TargetOption = None,
    cache: CacheOption = None,
    keep: Annotated[
        int | None, typer.Option(help="Keep so many saves of this cache, remove the older ones.", min=1, metavar="N")
    ] = None,
    force: ForceOption = False,
    config: ConfigOption = None,
) -> None:
    """Save the compile cache that the job would use.

    Consistent while a job writes. A save equal to the latest writes nothing. Temporary files, locks and precompiled
    headers are left out.

    Exit status: 0 saved or saved before, 2 usage, no cache, or one that others can write, 3 it could not be done.
    """
    from envdoctor import workflows
    from envdoctor.cache import texts, workflow

    if keep is not None and output is not None:
        raise typer.BadParameter("is about the store, -o writes elsewhere.", param_hint="'--keep'")
    asked = workflow.Asked(output, cache, keep, force)
    show(texts.saved(workflow.save(workflows.Wish(target, config=config), asked, workflows.LocalHost())))


@caches.command("list")
def list_saves(
    *,
    target: TargetOption = None,
    output: Annotated[Format, typer.Option("--format", help="Report format.")] = Format.TEXT,
    config: ConfigOption = None,
) -> None:
    """List the saves of an environment, youngest first."""
    from envdoctor import workflows
    from envdoctor.cache import texts, workflow

    shelf = workflow.shelf(workflows.Wish(target, config=config), workflows.LocalHost())
    show(texts.shelf_json(shelf) if output is Format.JSON else texts.shelf(shelf))


@caches.command()
def verify(
    *,
    words: Annotated[
        list[str] | None, typer.Argument(help="A save; after --run -- the command.", metavar="[FILE | CMD...]")
    ] = None,
    latest: LatestOption = False,
    run: Annotated[bool, typer.Option("--run", help="Run CMD and prove that it starts from a warm cache.")] = False,
    cache: CacheOption = None,
    target: TargetOption = None,
    output: Annotated[Format, typer.Option("--format", help="Report format, with --run.")] = Format.TEXT,
    config: ConfigOption = None,
) -> None:
    """Hash a save; or, with --run, prove that a command starts warm.

    Without --run all that it holds is hashed. The command runs once in the target, with a start-up hook that tells
    torch's counters at the end of each process. Proven is: hits of AOTAutograd's cache, no miss, no bypass, and no new
    file. What it prints goes to stderr.

    Exit status: 0 all is what was saved, or proven, 1 it is damaged, or not proven, 2 usage, not a save.
    """
    from envdoctor import workflows
    from envdoctor.cache import proving, texts, workflow

    wish, host = workflows.Wish(target, config=config), workflows.LocalHost()
    if not run:
        path = workflow.chosen(_one(words, latest=latest), wish, host)
        show(texts.verified(workflow.verify(path)))
        return
    if not words or latest:
        raise typer.BadParameter("needs a command after `--`, and no save.", param_hint="'--run'")
    proof = proving.prove(words, wish, host, cache=cache)
    show(texts.proved_json(proof) if output is Format.JSON else texts.proved(proof))
    raise typer.Exit(1 if proof.faults else 0)


@caches.command()
def restore(
    *,
    file: FileArgument = None,
    latest: LatestOption = False,
    to: Annotated[
        str | None, typer.Option(help="Cache to restore into. Default: the one that the job would use.", metavar="DIR")
    ] = None,
    target: TargetOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Even if it does not fit, or somebody else may have written it.")
    ] = False,
    config: ConfigOption = None,
) -> None:
    """Bring a save back, where it still fits.

    It fits where torch, triton and the GPUs are still the same. What is there already stays as it is; each file appears
    whole or not at all, whenever this is interrupted.

    Exit status: 0 restored, 1 the save is damaged, 2 usage, not a save, does not fit, in use, 3 it could not be done.
    """
    from envdoctor import workflows
    from envdoctor.cache import restoring, texts, workflow

    wish, host = workflows.Wish(target, config=config), workflows.LocalHost()
    path = workflow.chosen(_one([file] if file is not None else None, latest=latest), wish, host)
    show(texts.restored(restoring.restore(path, wish, host, to=to, force=force)))


@caches.command()
def prune(
    *,
    cache: CacheOption = None,
    stale: Annotated[
        bool, typer.Option("--stale", help="Also what another torch, CUDA or triton made than the environment's.")
    ] = False,
    target: TargetOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without this it is only listed.")] = False,
    output: Annotated[Format, typer.Option("--format", help="Report format.")] = Format.TEXT,
    config: ConfigOption = None,
) -> None:
    """Take damaged and abandoned entries out of a compile cache.

    With --stale those of other builds too. Each goes, one at a time, into a quarantine beside the cache. Everything
    else stays, warm as it is.

    Exit status: 0 nothing to remove, or removed, 1 something to remove (without --yes), 2 usage, no cache, in use, or
    one that others can write, 3 it could not be done.
    """
    from envdoctor import workflows
    from envdoctor.cache import pruning, texts

    if target is not None and not stale:
        raise typer.BadParameter("is asked only for --stale; what is damaged is so for all.", param_hint="'--target'")
    wish = workflows.Wish(target, config=config) if stale else None
    done = pruning.prune(workflows.LocalHost(), cache=cache, act=yes, stale_for=wish)
    show(texts.pruned_json(done) if output is Format.JSON else texts.pruned(done))
    if done.removals and done.quarantine is None:
        raise typer.Exit(1)
    if not done.complete:
        raise typer.Exit(3)


def _one(files: list[str] | None, *, latest: bool) -> str | None:
    """Return the file that was named, None for the youngest; one of both has to be said."""
    if len(files or ()) + latest != 1:
        raise typer.BadParameter("name one FILE or say --latest.", param_hint="FILE")
    return files[0] if files else None
