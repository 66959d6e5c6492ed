"""One look at one environment, in a child that has become its owner: nothing here has any right of root's."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from envdoctor import judge, locate, marking, recorded, registry, snapshot, workflows
from envdoctor.errors import EnvDoctorError, UsageError, described
from envdoctor.facts.variables import Variables
from envdoctor.health import answers, knowing
from envdoctor.health.places import Place
from envdoctor.model import Outcome, Report, Target
from envdoctor.policy import Policy
from envdoctor.snapshot import Snapshot
from envdoctor.state import environments
from envdoctor.state.place import path_of
from envdoctor.state.values import Subject
from envdoctor.system import dropped, inside
from envdoctor.system.host import LocalHost, bind_children
from envdoctor.system.trust import link_of_another, strangers


@dataclass(frozen=True, slots=True)
class Look:
    """What is to be done there."""

    place: Place
    root: str
    deadline: float
    """Seconds."""
    keep: bool
    """True if the marks of compile caches may be raised, in the owner's own state."""
    privileged: bool
    """True if it is root who wants to know."""
    caller: Mapping[str, str]
    """Variables that say where whoever wants to know keeps his state: that is where his own environments' is."""


def look(wanted: Look) -> bytes:
    """Become the owner, look, judge; return the answer. To be called in a child."""
    began = time.monotonic()
    who = wanted.place.who
    try:
        if who is None:
            raise EnvDoctorError("nobody may look at it")
        own = wanted.caller if who.uid == os.geteuid() else who.environment()
        dropped.become(who, seconds=math.ceil(wanted.deadline) + 1)
        bind_children()
        return _seen(wanted, who.environment(), own, began)
    except (EnvDoctorError, OSError) as error:
        return answers.refusal(str(error))
    except Exception as error:  # noqa: BLE001 - one environment that breaks a look must not go without a reason
        return answers.refusal(f"the doctor failed here, please report it: {described(error)}")


def _seen(wanted: Look, login: Mapping[str, str], own: Mapping[str, str], began: float) -> bytes:
    place = wanted.place
    host = LocalHost(env=login, cwd="/", patience=wanted.deadline / 2, root=wanted.root, caller=own, still=place.still)
    inside.enter(wanted.root)
    target, policy = _located(wanted, host)
    job = _job(place, host)
    host = replace(host, env={**login, **job.variables})
    took: dict[str, float] = {}
    left = wanted.deadline - (time.monotonic() - began)
    registry.use_plugins(policy.plugins)
    taken = snapshot.take(
        target, host, snapshot.FACTS, deadline=left, instead=knowing.instead(job, place.network), took=took
    )
    report = _judged(target, policy, taken, job, host, began)
    theirs = wanted.privileged and place.wanted.policy is None
    if theirs or not job.known:
        report = _with_the_node(report, target, Policy() if theirs else policy, taken)
    seen = {**report.seen, "job environment": job.said}
    if place.still:
        seen["interpreter"] = f"not started: {place.still}"
    if wanted.keep and not place.network and os.geteuid() == place.uid and (said := marking.remember(taken)):
        seen["state"] = said
    report = replace(report, seen=seen)
    return answers.answer(report, recorded.record(taken, target, policy, host.name, report.taken_at), took)


def _located(wanted: Look, host: LocalHost) -> tuple[Target, Policy]:
    """Find the lock and the policy. One that somebody else has left above the target does not count."""
    place, named = wanted.place, wanted.place.wanted
    lock = os.path.join(os.path.dirname(place.prefix), named.lock) if named.lock else None
    wish = locate.Wish(place.prefix, lock, None, named.groups, named.extras, afresh=True)
    target, policy = locate.locate(wish, host, named.policy)
    if named.policy is None and policy.path is not None and wanted.privileged:
        theirs = os.stat(policy.path).st_uid not in (0, place.uid)
        target, policy = locate.locate(wish, host, Policy() if theirs else knowing.restricted(policy))
    if os.geteuid() == 0 and target.lock is not None and (others := strangers(target.lock, 0)):
        raise UsageError(f"the lock {target.lock} is not read by root: {others}")
    if wanted.privileged and target.lock is not None and (said := link_of_another(target.lock, place.uid)):
        raise UsageError(f"the lock {target.lock} is not read: {said}")
    registry.known_to(policy)
    return target, policy


def _job(place: Place, host: LocalHost) -> knowing.Job:
    """Return the job's variables: as configured, or as the owner's own state has them of his last check."""
    if place.wanted.environment is not None:
        return knowing.configured(place.wanted.environment)
    path = path_of(host.own, host.own["HOME"], host.name)
    try:
        found = environments.last(path, Subject(host.name, str(os.geteuid()), place.prefix))
    except EnvDoctorError:
        return knowing.Job()
    return knowing.remembered(*found, host.now()) if found else knowing.Job()


def _judged(target: Target, policy: Policy, taken: Snapshot, job: knowing.Job, host: LocalHost, began: float) -> Report:
    probes = registry.select()
    reasons = {probe.id: reason for probe in probes if (reason := knowing.unjudged(probe.id, job))}
    judged = [probe for probe in probes if probe.id not in reasons]
    report = workflows.report(target, policy, taken, judged, host, began)
    skipped = (Outcome(probe, skipped=reason) for probe, reason in reasons.items())
    return _sorted(report, [*report.outcomes, *skipped])


def _with_the_node(report: Report, target: Target, policy: Policy, taken: Snapshot) -> Report:
    """Judge the machine by itself: it is sick whatever devices a job has, and whatever its owner thinks of that."""
    probes = [probe for probe in registry.of_area(knowing.NODE) if probe.id not in knowing.NOT_OURS]
    outcomes = judge.judge(probes, replace(taken, variables=Variables()), policy, target, report.taken_at)
    ours = {outcome.probe for outcome in outcomes}
    return _sorted(report, [*outcomes, *(outcome for outcome in report.outcomes if outcome.probe not in ours)])


def _sorted(report: Report, outcomes: Iterable[Outcome]) -> Report:
    return replace(report, outcomes=tuple(sorted(outcomes, key=lambda outcome: outcome.probe)))
