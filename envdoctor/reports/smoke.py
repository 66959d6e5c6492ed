"""The report of a smoke run for people: the verdict, what each step came to on each device, causes and cures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdoctor.model import Report, Trial
from envdoctor.printable import printable
from envdoctor.reports import races
from envdoctor.reports.text import Style, body, verdict

MARKS = {"passed": ("ok", "32"), "failed": ("FAILED", "31;1"), "skipped": ("skipped", "36"), "never-ran": ("-", "33;1")}
"""State -> what the table shows, and its colour."""
STEP, CELL = 18, 16
"""Columns of the table's first column, and of the others."""
COUNTED = ("passed", "failed", "not exercised", "never ran", "skipped")
"""What the head counts, in order."""
LOST = "unproven"
"""What stands before steps and settings that were asked for and proved nothing: nothing failed in them."""
ONCE = "torch"
"""Device of what is tried out once for all of them; it is shown in the first column."""
SAID = 60
"""Characters of what a step said that the table shows."""


def render(report: Report, style: Style | None = None) -> str:
    """Return the report as text."""
    style = style or Style()
    if report.trials and races.raced(report):
        table = "\n".join(races.table(report, MARKS, style))
        return "\n\n".join([_head(report, style), table, *body(races.once(report), style, LOST)]) + "\n"
    if report.trials:
        return "\n\n".join([_head(report, style), "\n".join(_table(report, style)), *body(report, style, LOST)]) + "\n"
    reasons = [style.wrap(printable(reason), "", "  ") for reason in report.failed.values()]
    return "\n\n".join([_head(report, style), *reasons]) + "\n"


def _head(report: Report, style: Style) -> str:
    counted = [trial for trial in report.trials if not races.raced(report) or trial.step == races.STEP]
    states = ["not exercised" if races.quiet(trial) else trial.state.replace("-", " ") for trial in counted]
    counts = [f"{states.count(state)} {state}" for state in COUNTED if state in states]
    what = "setting" if races.raced(report) else "step"
    said = f"of {len(states)} {what}{'s' if len(states) > 1 else ''} {', '.join(counts)}" if states else "NOT SMOKED"
    lines = [f"{verdict(report, style)}  {said}" if states else style.paint(said, "33;1")]
    if report.target is not None:
        python = [f"Python {printable(report.python)}"] if report.python else []
        torch = [f"torch {printable(str(report.seen['torch']))}"] if "torch" in report.seen else []
        about = ", ".join([*python, *torch])
        lines.append(style.wrap(f"{printable(report.target.prefix)}{': ' if about else ''}{about}", "", "  "))
    how = [f"level {report.seen['level']}"] if "level" in report.seen else []
    how += [printable(str(report.seen["cache"]))] if "cache" in report.seen else []
    lines.append(style.wrap(", ".join([*how, f"{report.seconds:.1f} s"]), "", "  "))
    lines += races.about(report, style) if races.raced(report) and report.trials else ()
    return "\n".join(lines)


def _table(report: Report, style: Style) -> Iterator[str]:
    """Yield a line a step, a column a device; with a single device, what the step said beside it.

    Devices that do not fit beside each other are shown below each other.
    """
    devices = list(dict.fromkeys(trial.device for trial in report.trials if trial.device != ONCE)) or [ONCE]
    across = len(devices) if style.width is None else max((style.width - STEP) // CELL, 1)
    said = len(devices) == 1 and (SAID if style.width is None else min(style.width - STEP - CELL, SAID))
    for first in range(0, len(devices), across):
        yield from ("",) if first else ()
        yield from _rows(report, devices[first : first + across], max(said, 0), style)


def _rows(report: Report, devices: Sequence[str], said: int, style: Style) -> Iterator[str]:
    """Yield the lines of devices that fit beside each other."""
    by_place = {(trial.step, trial.device): trial for trial in report.trials}
    by_place |= {(step, devices[0]): trial for (step, device), trial in by_place.items() if device == ONCE}
    yield f"{'':{STEP}}" + "".join(f"{printable(device):{CELL}}" for device in devices).rstrip()
    for step in dict.fromkeys(trial.step for trial in report.trials):
        trials = [by_place.get((step, device)) for device in devices]
        cells = "".join(_cell(trial, style) for trial in trials)
        yield f"{printable(step.partition('/')[2]):{STEP}}{cells}{_said(trials[0])[:said]}".rstrip()


def _cell(trial: Trial | None, style: Style) -> str:
    if trial is None:
        return " " * CELL
    word, colour = MARKS[trial.state]
    seconds = f"{trial.seconds:6.1f} s" if trial.state in ("passed", "failed") else ""
    return style.paint(f"{word:7}", colour) + f"{seconds:{CELL - 7}}"


def _said(trial: Trial | None) -> str:
    """Return what a step said; a failure has a paragraph of its own."""
    return "" if trial is None or trial.state == "failed" else printable(trial.said)
