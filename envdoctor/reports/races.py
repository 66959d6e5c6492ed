"""The settings of `envdoctor smoke --level threads` for people: a line each, and what to do about them once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from envdoctor.model import Finding, Outcome, Report, Trial
from envdoctor.printable import printable
from envdoctor.reports.text import Style

LEVEL = "threads"
STEP = f"smoke/{LEVEL}"
NAME, MARK = 40, 8
"""Columns of a setting's name, and of its mark."""


def raced(report: Report) -> bool:
    """Tell whether the report is about threads."""
    return report.seen.get("level") == LEVEL


def quiet(trial: Trial) -> bool:
    """Tell whether a setting ran and showed nothing, where no other did either: that is asked for and not had."""
    return trial.step == STEP and trial.state == "never-ran" and trial.seconds > 0


def about(report: Report, style: Style) -> Iterator[str]:
    """Yield what the head says of the tries and of this torch."""
    yield style.wrap(
        ", ".join(printable(str(report.seen[key])) for key in ("tries", "remedy") if key in report.seen), "", "  "
    )
    if "graphs" in report.seen:
        yield style.wrap(printable(str(report.seen["graphs"])), "", "  ")
    if "flag" in report.seen:
        yield style.wrap(f"the FX-tracing flag of this torch is {printable(str(report.seen['flag']))}", "", "  ")


def table(report: Report, marks: dict[str, tuple[str, str]], style: Style) -> Iterator[str]:
    """Yield a line a setting, with how often what came; `marks` are those of states, with their colours."""
    for trial in report.trials:
        word, colour = marks[trial.state]
        word = "unclear" if quiet(trial) else word
        name = printable(trial.device if trial.step == STEP else trial.step.partition("/")[2])
        said = printable(_said(trial)) or f"{trial.seconds:.1f} s"
        text = style.wrap(said, " " * (NAME + MARK), " " * (NAME + MARK)) if said else ""
        yield (f"{name:{NAME}}" + style.paint(f"{word:{MARK}}", colour) + text[NAME + MARK :]).rstrip()


def _said(trial: Trial) -> str:
    """Return what a trial said without the name that stands before it; the import's failure has its paragraph."""
    return trial.said.partition(": ")[2] if trial.state == "failed" else trial.said


def once(report: Report) -> Report:
    """Return the report with each piece of advice at the first setting alone that it is for."""
    outcomes = (replace(one, findings=_once(one)) if one.probe == STEP else one for one in report.outcomes)
    return replace(report, outcomes=tuple(outcomes))


def _once(outcome: Outcome) -> tuple[Finding, ...]:
    found: list[Finding] = []
    given: set[Sequence[str]] = set()
    for finding in outcome.findings:
        found.append(replace(finding, remedy=()) if finding.remedy in given else finding)
        given.add(finding.remedy)
    return tuple(found)
