"""What a rebuild, its plan and its generations are told as: for people, and as JSON values."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from envdoctor import __version__
from envdoctor.codec import to_json
from envdoctor.generations.jobs import Jobs
from envdoctor.model import Unavailable
from envdoctor.printable import clean, printable, size_of
from envdoctor.rebuild.planning import Change, Leaving, Plan

if TYPE_CHECKING:
    from envdoctor.rebuild.preparing import Prepared
    from envdoctor.rebuild.returning import Generation, Generations, Returned
    from envdoctor.rebuild.workflow import Rebuilt

SCHEMA = 1
SHORT = 0.05
"""Seconds; steps that took less are not worth a word."""
LISTED = 12
"""Packages of one kind that a plan names; --format json has all."""


Wrap = Callable[[str], str]
"""Fills a paragraph to the width of the terminal, indented as it begins."""


def plan(prepared: Prepared, wrap: Wrap, *, steps: bool = True) -> str:
    """Return the plan for people; without `steps`, only what becomes of the packages."""
    found = prepared.plan
    lines = [f"plan for {found.link}, by {found.lock}", *_packages(found)]
    lines += [f"  {_loss(loss.what, loss.path, loss.said)}" for loss in found.losses]
    lines += list(_sizes(found))
    lines += list(_jobs(found))
    if steps:
        lines += ["", "what would be done:"]
        lines += [f"  {number}. {step}" for number, step in enumerate(found.steps(), 1)]
    lines += [f"cannot be done: {reason}" for reason in prepared.refused]
    return "".join(f"{wrap(printable(line))}\n" for line in lines)


def _packages(found: Plan) -> Iterator[str]:
    if found.unread:
        yield f"  the present environment cannot be compared: {found.unread}"
    if found.kind == "missing":
        yield f"  there is none yet: {found.wanted} packages of the lock"
        return
    yield from _listed("leaves", [_leaving(item) for item in found.leaves])
    yield from _listed("changes", [_change(item) for item in found.changes])
    yield from _listed("comes", [f"{item.name} {item.after}" for item in found.arrives])
    yield from _listed("is repaired", list(found.repaired))
    yield f"  {found.stays} stay as they are, of {found.wanted} in the lock"
    yield from (f"  {each.name} is installed again, editable, from {each.folder}" for each in found.projects)


def _listed(verb: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        more = f", and {len(items) - LISTED} more" if len(items) > LISTED else ""
        yield f"  {verb} ({len(items)}): {', '.join(items[:LISTED])}{more}"


def _leaving(item: Leaving) -> str:
    return f"{item.name} {item.version or '?'}{f' (came with {item.culprit})' if item.culprit else ''}"


def _change(item: Change) -> str:
    by = f" (moved by {item.culprit})" if item.culprit else ""
    return f"{item.name} {item.before or '?'} -> {item.after}{by}"


def _loss(what: str, path: str, said: str) -> str:
    return f"stays behind: {what} {path}{f': {said}' if said else ''}"


def _sizes(found: Plan) -> Iterator[str]:
    sizes = found.sizes
    parts = [
        f"the present environment takes {size_of(sizes.present)}" if sizes.present else "",
        f"{size_of(sizes.fetched)} are to be fetched" if sizes.fetched is not None else "",
        f"about {size_of(sizes.needed)} are needed" if sizes.needed is not None else "",
        f"{size_of(sizes.free)} are free" if sizes.free is not None else "",
    ]
    yield f"  disk: {', '.join(filter(None, parts))}"


def _jobs(found: Plan) -> Iterator[str]:
    if isinstance(found.jobs, Unavailable):
        yield f"  running jobs: not known: {found.jobs.reason}"
        return
    yield from jobs(found.jobs)


def jobs(found: Jobs) -> Iterator[str]:
    """Say which processes run from an environment, and of which that is not known."""
    for job in found.mixing[:LISTED]:
        yield f"  would mix: process {job.pid} of {job.user} ({job.command}): {job.how}"
    for job in found.keeping[:LISTED]:
        yield f"  keeps its own: process {job.pid} of {job.user} ({job.command}): {job.how}"
    yield from (f"  not checked: {said}" for said in found.unchecked)
    if not (found.mixing or found.keeping):
        yield "  no process that can be seen runs from it"


def plan_document(prepared: Prepared) -> Mapping[str, Any]:
    """Return the plan as JSON values."""
    document = to_json(prepared.plan)
    steps = list(prepared.plan.steps())
    cleaned: Mapping[str, Any] = clean(
        {"schema": SCHEMA, "envdoctor": __version__, "plan": document, "steps": steps, "refused": prepared.refused}
    )
    return cleaned


def rebuilt(done: Rebuilt, wrap: Wrap) -> str:
    """Return what came of a rebuild, for people."""
    made, proof = done.made, done.made.proof
    lines = [done.recovered or "", *(f"removed the remains of a killed rebuild: {name}" for name in done.cleared)]
    lines.append(f"rebuilt {done.plan.link} in {done.seconds:.0f} s: {done.name} is active")
    if proof is not None:
        lines.append(
            f"  {len(made.archives)} packages by {done.plan.installer}, {proof.files:,} files ({size_of(proof.bytes)}) "
            "proven against their archives"
        )
    lines += [f"  {note}" for note in made.notes]
    lines.append(f"  smoke: {made.smoked.said if made.smoked else 'none'}")
    lines += [f"  {line}" for line in done.caches]
    lines += [f"  removed generation {name}" for name in done.collected.removed]
    lines += [f"  {line}" for line in _kept(done.collected.kept)]
    took = [f"{step} {seconds:.1f} s" for step, seconds in made.seconds.items() if seconds >= SHORT]
    lines.append(f"  steps: {', '.join(took)}")
    lines.append(f"  log: {done.log}")
    lines += _afterwards(done.plan.link)
    return "".join(f"{wrap(printable(line))}\n" for line in filter(None, lines))


def _kept(kept: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Say what is kept though it is beyond what is to be kept, a line a reason."""
    for why in dict.fromkeys(why for _, why in kept):
        names = [name for name, other in kept if other == why]
        shown = names[0] if len(names) == 1 else f"{len(names)} generations, such as {names[0]}"
        yield f"kept {shown}: {why}"


def _afterwards(link: str) -> tuple[str, str]:
    """Say what a person has to do after a switch, and how to undo it."""
    activate = shlex.quote(f"{link}/bin/activate")
    return (
        f"shells in which it was activated before keep the old packages: run `source {activate}` there again",
        f"back: envdoctor rollback --target {shlex.quote(link)}",
    )


def rebuilt_document(done: Rebuilt) -> Mapping[str, Any]:
    """Return what came of a rebuild as JSON values."""
    made, proof = done.made, done.made.proof
    cleaned: Mapping[str, Any] = clean(
        {
            "schema": SCHEMA,
            "envdoctor": __version__,
            "target": done.plan.link,
            "generation": done.name,
            "installer": done.plan.installer,
            "packages": [to_json(archive) for archive in made.archives],
            "files": proof.files if proof else None,
            "bytes": proof.bytes if proof else None,
            "notes": made.notes,
            "smoke": made.smoked.said if made.smoked else None,
            "caches": list(done.caches),
            "removed": list(done.collected.removed),
            "kept": [list(pair) for pair in done.collected.kept],
            "step_seconds": {step: round(seconds, 3) for step, seconds in made.seconds.items()},
            "seconds": round(done.seconds, 3),
            "log": done.log,
        }
    )
    return cleaned


def generations(found: Generations, wrap: Wrap) -> str:
    """Return the list for people, youngest first."""
    lines = [found.recovered or ""]
    if not found.found:
        lines.append(f"{found.link}: nothing was rebuilt here yet")
    else:
        lines.append(f"{found.link}{f' leads to {found.leads_to}' if found.leads_to else ''}")
        lines += [f"  {line}" for item in found.found for line in _generation(item)]
    if found.collected is not None:
        lines += [f"removed {name}" for name in found.collected.removed] or ["nothing to remove"]
        lines += _kept(found.collected.kept)
    return "".join(f"{wrap(printable(line))}\n" for line in filter(None, lines))


def _generation(item: Generation) -> Iterable[str]:
    made = item.marker
    about = (
        [f"{len(made.packages)} packages, {size_of(made.size)}", f"by {made.installer}", f"lock {made.lock}"]
        if made
        else []
    )
    about += ["frozen"] if item.frozen else []
    about += [f"active until {item.superseded}"] if item.superseded and item.state != "active" else []
    yield f"{item.name:32} {item.state:10} {', '.join(about)}".rstrip()
    if made is not None and made.why:
        yield f"{'':32} {made.why}"


def generations_document(found: Generations) -> Mapping[str, Any]:
    """Return the list as JSON values."""
    cleaned: Mapping[str, Any] = clean({"schema": SCHEMA, "envdoctor": __version__, **to_json(found)})
    return cleaned


def returned(done: Returned, wrap: Wrap) -> str:
    """Return what came of a rollback, for people."""
    how = "every file of it is as it was" if done.verified else "how it was is not known, so nothing was compared"
    if done.difference is not None:
        how = f"not as it was: {done.difference.said}"
    lines = [f"{done.link} leads to {done.after} ({how})", f"  before it led to {done.before}", *_afterwards(done.link)]
    return "".join(f"{wrap(printable(line))}\n" for line in lines)
