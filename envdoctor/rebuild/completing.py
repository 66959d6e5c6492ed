"""The last steps: the marker that says that all is proven, the disk that has it all, and the link that leads to it."""

from __future__ import annotations

from dataclasses import replace

from envdoctor import __version__, freezing
from envdoctor.errors import StepError
from envdoctor.generations import jobs, journal, marker, switching
from envdoctor.generations.marker import Built, Marker
from envdoctor.printable import moment_of
from envdoctor.progress import Progress, Work
from envdoctor.rebuild.orders import Made, Order
from envdoctor.rebuild.returning import note_outgoing
from envdoctor.system.beside import settle


def complete(order: Order, work: Work, made: Made) -> None:
    """Write the marker, freeze what is to be frozen, and see all of it onto the disk."""
    layout, plan, now = order.layout, order.plan, work.host.now
    work.tell(Progress("complete", order.place))
    marker.write(order.place, described(order, work, made))
    if plan.frozen:
        work.tell(Progress("freeze", order.place))
        freezing.freeze(replace(order.wish, target=order.place, lock=plan.lock, place=False), work.host, force=True)
    journal.write(layout, "complete", order.name, now())
    try:
        settle(order.place)
    except OSError as error:
        raise StepError("complete", f"{order.place} cannot be seen onto the disk: {error.strerror or error}") from error


def switch(order: Order, work: Work, made: Made) -> None:
    """Note how the present environment is, see that no job would mix, and flip the link."""
    layout, now = order.layout, work.host.now
    work.tell(Progress("switch", layout.link))
    outgoing = layout.outgoing(now())
    current = layout.current()  # another rebuild may have come first since the plan was made
    note_outgoing(layout, current, outgoing)
    if not order.force and current:
        running = jobs.jobs(layout.link, current)
        if running.mixing:
            note_outgoing(layout, order.place, order.name)  # it is as it is now when somebody switches to it
            raise StepError(
                "switch",
                f"while the new environment was made, jobs began to run from {layout.link}: {running.blocking}",
                advice=f"when they have ended: envdoctor rollback --to {order.name}",
            )
    switching.switch(layout, layout.text(order.name), now(), adopted=outgoing, allow_gap=order.allow_gap)
    made.switched = True


def described(order: Order, work: Work, made: Made) -> Marker:
    """Return the marker of what was made."""
    plan, proof = order.plan, made.proof
    return Marker(
        made_at=moment_of(work.host.now().timestamp()) or "",
        envdoctor=__version__,
        host=work.host.name,
        lock=plan.lock,
        lock_digest=plan.digest,
        python=plan.version,
        installer=plan.installer,
        packages=tuple(Built(a.name, a.version, a.filename, a.sha256, a.built_from) for a in made.archives),
        files=proof.files if proof else 0,
        size=proof.bytes if proof else 0,
        smoke=made.smoked.said if made.smoked else "",
    )
