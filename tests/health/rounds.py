"""Rounds made of values."""

from dataclasses import replace

from values import NOW, PREFIX, TARGET, caches, driver, finding, outcome, report, torch_build, warm

from envdoctor import recorded
from envdoctor.health.visits import Change, Round, Visit
from envdoctor.model import Severity, Unavailable
from envdoctor.policy import Policy
from envdoctor.snapshot import Snapshot

FOREIGN = finding("sglang", message="sglang 0.5.2 is not in the lock")


def visit(*found, target=PREFIX, probe="packages/foreign", facts=None, **fields):
    """Return a visit that found this; without findings it is healthy."""
    outcomes = (outcome(probe, *found), outcome("cache/cold-device", skipped=Unavailable("no GPU")))
    judged = replace(report(*outcomes), target=replace(TARGET, prefix=target))
    facts = Snapshot(**(facts or {"torch_build": torch_build(), "driver": driver(), "compile_caches": caches(warm())}))
    seen = recorded.record(facts, TARGET, Policy(), "node7", NOW)
    given = {"owner": "alice", "uid": 1000, "at": NOW, "report": judged, "snapshot": seen}
    return Visit(target, **(given | fields))


def lost(reason="no answer within 10 s", **fields):
    """Return a visit that came to nothing."""
    return visit(report=None, snapshot=None, reason=reason, **fields)


def round_(*visits, seconds=1.25, **fields):
    return Round("node7", NOW, seconds, tuple(visits), **fields)


def change(kind="appeared", subject="sglang", severity=Severity.ERROR, probe="packages/foreign", before=None, **more):
    message = more.pop("message", f"{subject} is not in the lock")
    return Change(kind, probe, subject, severity, before, message)
