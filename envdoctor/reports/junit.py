r"""The report for CI servers: JUnit XML, a test case a probe, or a trial where the run tried something out.

There is no standard. Elements and attributes are those that pytest's own writer has (_pytest/junitxml.py of 9.2.0) and
GitLab reads (its page "Unit test reports"), which tells cases apart by classname and name together. The time stamp is
UTC without a zone, the form of Ant's JUnit formatter (DateUtils.ISO8601_DATETIME_PATTERN), which came first.
XML 1.0 has no way at all to write a control character or a surrogate: `printable` shows them as \xNN.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from envdoctor import __version__
from envdoctor.model import Finding, Outcome, Report, Severity, Trial
from envdoctor.printable import printable
from envdoctor.reports.places import Place, place_of

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAME = "envdoctor"


def render(report: Report) -> str:
    """Return the report as XML: ASCII alone, so that it survives any terminal's or file's encoding."""
    cases = [*_trials(report), *_rest(report)] if report.trials else [_probe(outcome) for outcome in report.outcomes]
    cases += [_error(_case("facts", fact), "unavailable", reason) for fact, reason in report.failed.items()]
    counts = {"tests": str(len(cases))} | {
        plural: str(sum(case.find(tag) is not None for case in cases))
        for plural, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    total = {name: count for name, count in counts.items() if name != "skipped"}  # Jenkins' schema has none there
    root = Element("testsuites", {"name": NAME, **total, "time": _seconds(report.seconds)})
    suite = SubElement(root, "testsuite", {"name": NAME, **counts, "time": _seconds(report.seconds)})
    suite.set("timestamp", report.taken_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"))
    suite.set("hostname", printable(report.host))
    properties = SubElement(suite, "properties")
    for name, value in _facts(report):
        SubElement(properties, "property", {"name": name, "value": printable(value)})
    suite.extend(cases)
    indent(root)
    text: bytes = tostring(root, encoding="us-ascii")
    return DECLARATION + text.decode("ascii") + "\n"


def _facts(report: Report) -> Iterable[tuple[str, str]]:
    yield "envdoctor", __version__
    yield "verdict", report.verdict
    target = report.target
    pairs = (("target", target and target.prefix), ("python", report.python), ("lock", target and target.lock))
    audited = ((name, str(report.seen.get(name, ""))) for name in ("locks", "judged for"))
    yield from ((name, value) for name, value in (*pairs, *audited, ("config", report.config)) if value)


def _probe(outcome: Outcome) -> Element:
    """Return the case of a probe that judged facts; where it judged several locks, of some it may have judged none."""
    case = _case(outcome.probe.partition("/")[0], outcome.probe)
    skipped = outcome.skipped
    reason = outcome.crashed or (skipped.reason if skipped else "")
    if outcome.findings or outcome.muted or not reason:
        _judged(case, outcome.findings, outcome.muted, reason)
    if not reason or case.find("failure") is not None:
        return case
    if outcome.crashed or (skipped and skipped.failed):
        return _error(case, "crashed" if outcome.crashed else "unavailable", reason)
    SubElement(case, "skipped", {"message": printable(reason)})
    return case


def _trials(report: Report) -> Iterable[Element]:
    """Yield the case of each step on each device, with the findings that are about the two."""
    for trial in report.trials:
        case = _case(trial.device, trial.step, trial.seconds)
        found = [finding for probe, finding in report.findings() if _is_about(trial, probe, finding)]
        muted = [item for o in report.outcomes for item in o.muted if _is_about(trial, o.probe, item)]
        yield _trial(case, trial, found, muted)


def _trial(case: Element, trial: Trial, found: Sequence[Finding], muted: Sequence[Finding]) -> Element:
    if trial.state == "never-ran":
        return _error(case, "never-ran", trial.said, _body(found))
    if trial.state == "skipped":
        SubElement(case, "skipped", {"message": printable(trial.said)})
        return case
    _judged(case, found, muted, trial.said)
    if trial.state == "failed" and case.find("failure") is None and not muted:
        _problem(case, "failure", Severity.ERROR.label, trial.said)
    return case


def _rest(report: Report) -> Iterable[Element]:
    """Yield what no trial covers: probes that crashed or were lost, findings about something else."""
    for outcome in report.outcomes:
        trials = [trial for trial in report.trials if trial.step == outcome.probe]
        found = [item for item in outcome.findings if not any(_is_about(t, outcome.probe, item) for t in trials)]
        lost = outcome.skipped and outcome.skipped.failed and not any(t.state == "never-ran" for t in trials)
        if found or outcome.crashed or lost:
            yield _probe(Outcome(outcome.probe, tuple(found), (), outcome.skipped if lost else None, outcome.crashed))


def _is_about(trial: Trial, probe: str, finding: Finding) -> bool:
    return (probe, finding.subject) == (trial.step, trial.device)


def _judged(case: Element, found: Sequence[Finding], muted: Sequence[Finding] = (), said: str = "") -> Element:
    """Fail the case by the worst finding, if it beats a note; what fails nothing goes to the output."""
    order = sorted(found, key=lambda finding: (-finding.severity, place_of(finding) or Place("")))
    serious = [finding for finding in order if finding.severity > Severity.NOTE]
    if serious:
        more = f" (and {len(serious) - 1} more)" if len(serious) > 1 else ""
        _problem(case, "failure", serious[0].severity.label, _at(serious[0]) + serious[0].message + more, _body(order))
    spoken = [printable(said)] if said else []
    spoken += [] if serious or not order else [_body(order)]
    spoken += [printable(f"muted: {_about(finding)}{finding.message}") for finding in muted]
    if spoken:
        SubElement(case, "system-out").text = "\n".join(spoken)
    return case


def _case(area: str, name: str, seconds: float = 0.0) -> Element:
    return Element("testcase", {"classname": printable(area), "name": printable(name), "time": _seconds(seconds)})


def _error(case: Element, kind: str, message: str, body: str = "") -> Element:
    return _problem(case, "error", kind, message, body)


def _problem(case: Element, tag: Literal["failure", "error"], kind: str, message: str, body: str = "") -> Element:
    SubElement(case, tag, {"type": kind, "message": printable(message)}).text = body or printable(message)
    return case


def _body(found: Sequence[Finding]) -> str:
    return "\n\n".join("\n".join(map(printable, _said(finding))) for finding in found)


def _said(finding: Finding) -> Iterable[str]:
    yield f"{finding.severity.label}: {_about(finding)}{finding.message}"
    if finding.evidence:
        yield f"evidence: {json.dumps(finding.evidence, separators=(',', ':'))}"
    yield from (f"remedy: {step}" for step in finding.remedy)


def _at(finding: Finding) -> str:
    """Return `file:line:column: ` where the finding is about a file, "" otherwise."""
    place = place_of(finding)
    return f"{place}: " if place else ""


def _about(finding: Finding) -> str:
    """Return the place and the subject, unless that is the file of the place."""
    place = place_of(finding)
    return _at(finding) + ("" if place and place.file == finding.subject else f"{finding.subject}: ")


def _seconds(value: float) -> str:
    return f"{value:.3f}"
