"""Freeze an environment that is in order, and thaw it: its modes, its pip.conf and its seal together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from envdoctor import sealing, seals, workflows
from envdoctor.errors import EnvDoctorError
from envdoctor.generations.freezing import Frozen, frozen_within, is_frozen, refuse_unsuitable, thaw_tree, thawed_within
from envdoctor.locate import Wish, locate
from envdoctor.model import Finding, Report
from envdoctor.sealing import Sealed
from envdoctor.system.forked import call
from envdoctor.system.host import Host
from envdoctor.workflows import Selection

CHANGED = (
    "environment/freeze-bypassed",
    "packages/altered-build",
    "packages/altered-file",
    "packages/changed-since-seal",
    "packages/missing-file",
)
"""Probes that tell what was changed since a freeze."""


@dataclass(frozen=True, slots=True)
class Thawed:
    """What came of a thaw."""

    prefix: str
    report: Report | None = None
    """What was changed since the freeze, if anything was."""
    done: bool = True
    """False if it was not thawed for that."""
    seal: str | None = None
    """Where the new seal lies; None if there is none."""
    frozen: bool = True
    """False if there was nothing to thaw."""


def freeze(wish: Wish, host: Host, *, force: bool = False) -> tuple[Sealed, Frozen | None]:
    """Check an environment, take its write bits off, and seal it; all or nothing.

    Nothing is done if there are errors, unless `force` is given. Raises as `sealing.seal` does, and UsageError for what
    is not to be frozen.
    """
    done: list[Frozen] = []
    sealed = sealing.seal(wish, host, force=force, around=lambda target: frozen_within(target.prefix, done.append))
    return sealed, done[0] if done else None


def thaw(wish: Wish, host: Host, *, force: bool = False) -> Thawed:
    """Give an environment its write bits back and seal it anew, unless it was changed since the freeze.

    With `force` it is thawed all the same; its seal then stays the one of the freeze, so that a check goes on to tell
    what was changed. Raises as `sealing.seal` does, and UsageError for what is not to be thawed.
    """
    target, _ = call("the search for the target", partial(locate, wish, host), timeout=workflows.DEADLINE)
    refuse_unsuitable(target.prefix)
    seal = seals.read(target.prefix)
    if seal is None or not seal.frozen:
        frozen = is_frozen(target.prefix)
        if frozen:  # a freeze that was killed half-way: what it has taken is given back
            thaw_tree(target.prefix)
        return Thawed(target.prefix, frozen=frozen)
    changed = _changed(wish, host, force=force)
    if changed is None:
        sealed = sealing.seal(wish, host, force=True, around=lambda found: thawed_within(found.prefix))
        return Thawed(target.prefix, seal=sealed.path)
    if force:
        with thawed_within(target.prefix):
            seals.thaw(target.prefix)
    return Thawed(target.prefix, changed, done=force)


def _changed(wish: Wish, host: Host, *, force: bool) -> Report | None:
    """Report what was changed since the freeze; None for nothing. That it is writable again does not count."""
    report = workflows.check(wish, Selection(CHANGED, plugins=False), host, deadline=sealing.DEADLINE, keep=False)
    if report.incomplete and not force:
        reason = sealing.failure(report)
        raise EnvDoctorError(f"not thawed, since it cannot be told whether it was changed since the freeze: {reason}")
    outcomes = tuple(
        replace(outcome, findings=tuple(filter(_is_a_change, outcome.findings))) for outcome in report.outcomes
    )
    found = replace(report, outcomes=outcomes)
    return found if found.findings() else None


def _is_a_change(finding: Finding) -> bool:
    return not {"writable", "pip_conf"} & finding.evidence.keys()


def told(prefix: str, frozen: Frozen) -> str:
    """Say what a freeze did, and whom it does not hold."""
    shared = (
        f"{frozen.shared:,} of them have other names elsewhere (an installer's cache) and are read-only there too\n"
    )
    return (
        f"frozen {prefix}: {frozen.paths:,} files and directories have no write bit\n"
        f"{shared if frozen.shared else ''}"
        f"pip refuses what has no hash, as root too: require-hashes in {prefix}/pip.conf\n"
        "not held by it: uv as root (it does not read pip.conf, and modes do not bind root); `envdoctor check` tells\n"
    )


def told_of_thaw(done: Thawed) -> str:
    """Say what a thaw did."""
    if not done.frozen:
        return f"{done.prefix} is not frozen\n"
    seal = f"sealed in {done.seal}\n" if done.seal else ""
    return f"thawed {done.prefix}: write bits and pip.conf are as before the freeze\n{seal}"
