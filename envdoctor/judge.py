"""Probes x snapshot x policy -> outcomes. Pure: what it says depends on its arguments alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from math import isfinite
from shlex import quote
from typing import Any

from envdoctor import confirm, registry
from envdoctor.errors import described
from envdoctor.model import Finding, LockFaults, Outcome, Target, Unavailable
from envdoctor.policy import Policy
from envdoctor.printable import printable, redact
from envdoctor.registry import Probe
from envdoctor.snapshot import Snapshot
from envdoctor.wiring import needs, supply

UNTARGETED = re.compile(r"\benvdoctor (?:check|run|seal|smoke)\b(?![^`]*--target)")
"""A command in a step that does not say which environment it means."""
BITS = 1024
"""Of a whole number: what a double holds, and JSON readers may take every number for one."""


class Values(dict[str, Any]):
    """Facts and given values by name; views are computed when first asked for."""

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - each view has its own type
        function = registry.views()[name].view
        wanted = needs(function)
        arguments = supply(wanted, self)
        self[name] = value = arguments if isinstance(arguments, Unavailable) else function(*arguments)
        return value


def judge(
    probes: Sequence[Probe],
    snapshot: Snapshot,
    policy: Policy,
    target: Target,
    moment: datetime,
    **given: Any,  # noqa: ANN401 - each has its own type
) -> tuple[Outcome, ...]:
    """Run every probe on the snapshot and on what else is given. One that raises is crashed and hides no other."""
    values = Values(snapshot.facts(), policy=policy, target=target, moment=moment, **given)
    outcomes = [_outcome(probe, values, policy, moment) for probe in probes if probe.id != registry.SUMMARY]
    if any(probe.id == registry.SUMMARY for probe in probes):
        outcomes = _summed_up(outcomes, probes, values, policy, moment)
    return confirm.explained(outcomes, snapshot.job_log, snapshot.node)


def _summed_up(
    outcomes: list[Outcome], probes: Sequence[Probe], values: Values, policy: Policy, moment: datetime
) -> list[Outcome]:
    """Add what the rules for locks found that nothing else told, and those of them that crashed."""
    told = {outcome.probe for outcome in outcomes if outcome.findings}
    rules = [_outcome(probe, values, policy, moment) for probe in registry.audited() if probe.id not in registry.TOLD]
    values["lock_faults"] = LockFaults({rule.probe: rule.findings for rule in rules}, frozenset(told))
    found = {outcome.probe: outcome for outcome in outcomes}
    summary = (_outcome(probe, values, policy, moment) for probe in probes if probe.id == registry.SUMMARY)
    lost = [rule for rule in rules if rule.crashed and rule.probe not in found]
    return [*(found.get(probe.id) or next(summary) for probe in probes), *lost]


def _outcome(probe: Probe, values: Values, policy: Policy, moment: datetime) -> Outcome:
    if probe.broken:
        return Outcome(probe.id, crashed=_safe(f"{probe.origin}: {probe.broken}"))
    try:
        arguments = supply(probe.needs, values)
        if isinstance(arguments, Unavailable):
            return Outcome(probe.id, skipped=replace(arguments, reason=_safe(arguments.reason)))
        found = probe.check(*arguments)
        shown = [confirm.confirmed(finding, probe.id, values["job_log"], values["node"]) for finding in found]
        settled = [_settled(finding, probe.id, policy, values["target"]) for finding in shown]
    except Exception as error:  # noqa: BLE001 - the one place where a probe's failure becomes an outcome
        whose = f"{probe.origin}: " if probe.origin else ""
        return Outcome(probe.id, crashed=_safe(whose + described(error)))
    return _sorted_out(probe.id, settled, policy, moment)


def _settled(finding: Finding, probe: str, policy: Policy, target: Target) -> Finding:
    """Apply the policy's severity, name the target in steps, and make every string that came from it safe to print."""
    severity = policy.severity_of(probe, finding.severity)
    return Finding(
        severity,
        _safe(finding.subject),
        _safe(finding.message),
        _clean(finding.evidence),
        tuple(_safe(_pointed(step, target)) for step in finding.remedy),
    )


def _pointed(step: str, target: Target) -> str:
    """Let the commands of a step mean the environment that was judged, wherever they are typed."""
    return UNTARGETED.sub(lambda found: f"{found[0]} --target {quote(target.prefix)}", step) if target.prefix else step


def _safe(text: str) -> str:
    """Hide secrets, then make the rest printable. All that a report says passes here."""
    return printable(redact(text))


def _clean(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return _safe(value)
    if isinstance(value, dict):
        return {_safe(str(key)): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if value is None or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, int) and value.bit_length() <= BITS:
        return value
    what = value if isinstance(value, float) else f"{type(value).__name__}"
    raise TypeError(f"evidence holds a {what}, which JSON has not")


def _sorted_out(probe: str, found: Iterable[Finding], policy: Policy, moment: datetime) -> Outcome:
    kept: list[Finding] = []
    muted: list[Finding] = []
    for finding in found:
        (muted if policy.mutes_finding(probe, finding.subject, moment) else kept).append(finding)
    return Outcome(probe, tuple(kept), tuple(muted))
