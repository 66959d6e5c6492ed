"""The page: one file that needs no script and fetches nothing, to be read on a telephone, a wide screen or paper."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from envdoctor.model import Report, Severity
from envdoctor.printable import moment_of, redact
from envdoctor.reports import plots
from envdoctor.reports.causes import Block, blocks
from envdoctor.reports.layout import COMMANDS, backing
from envdoctor.reports.markup import Child, Markup, element, joined
from envdoctor.reports.page import Moment, Page, Span
from envdoctor.reports.stylesheet import STYLE

BLOCKS = 60
"""Findings that are shown with all that belongs to them, the worst."""
FOLLOWERS = 12
MOMENTS = 150
"""Lines of the timeline, the youngest."""
EVENTS = 60
LONG = 700
"""Characters of one text."""
_KINDS = {
    "verdict": "verdict",
    "appeared": "found",
    "gone": "gone",
    "changed": "changed",
    "installed": "on disk",
}


def render(page: Page) -> str:
    """Return the page as HTML."""
    report = page.report
    body = joined(
        _head(page),
        element(
            "main",
            _section("findings", "What is wrong", *_findings(report)),
            _section("changes", "What has changed since it was last healthy", *_changes(page)),
            _section("plots", "Over time", *_plots(page)),
            _section("timeline", "Timeline", *_timeline(page)),
            _section("rest", "What was not judged, and what is left out here", *_rest(page)),
        ),
        element("footer", f"Made by envdoctor {page.envdoctor} on {plots.moment(_at(page))} UTC. Times are in UTC."),
    )
    title = f"{report.verdict}: {report.target.prefix if report.target else 'no target'} on {report.host}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", _cut(title, 200)),
        element("style", Markup(STYLE)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, element('body', body), lang='en')}\n"


def policy() -> str:
    """Return the policy that the page holds itself to: its own style, by its digest, and nothing else (CSP level 3)."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _at(page: Page) -> float:
    return page.report.taken_at.timestamp()


def _section(name: str, title: str, *children: Child) -> Markup:
    heading = element("h2", title, id=f"{name}-title")
    return element("section", heading, *children, id=name, aria_labelledby=f"{name}-title")


def _cut(text: str, most: int = LONG) -> str:
    told = redact(text)  # what is cut first may have lost what tells that it is a secret
    return told if len(told) <= most else f"{told[: most - 4]} ..."


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _head(page: Page) -> Markup:
    report = page.report
    counts = [
        (sum(finding.severity is severity for _, finding in report.findings()), severity.label)
        for severity in sorted(Severity, reverse=True)
    ]
    said = ", ".join(_counted(count, word) for count, word in counts if count)
    unsure = ", not all could be judged" if report.incomplete else ""
    target = report.target
    facts = [
        ("Host", report.host),
        ("Python", report.python),
        ("torch", report.seen.get("torch")),
        ("Packages", report.seen.get("packages")),
        ("Lock", (target.lock if target else None) or "none: nothing says what should be installed"),
        ("Looked at", f"{plots.moment(_at(page))} UTC"),
        ("Remembered runs", f"{page.runs:,}"),
    ]
    rows = [
        joined(element("dt", word), element("dd", _cut(str(value)))) for word, value in facts if value not in (None, "")
    ]
    return element(
        "header",
        element(
            "p",
            element("strong", report.verdict.upper(), class_=f"badge {report.verdict}"),
            f" {said or 'nothing found'}{unsure}",
            class_="verdict",
        ),
        element("h1", _cut(target.prefix if target else "no target")),
        element("dl", *rows),
    )


def _findings(report: Report) -> Iterator[Markup]:
    found = blocks(report)
    if not found:
        yield element("p", "Nothing was found.")
    for block in found[:BLOCKS]:
        yield _block(block)
    if len(found) > BLOCKS:
        yield element("p", f"And {len(found) - BLOCKS:,} more: envdoctor check --format json", class_="none")


def _block(block: Block) -> Markup:
    severity = block.worst.label
    by_probe: dict[str, list[str]] = {}
    for probe, finding in block.others:
        by_probe.setdefault(probe, []).append(finding.message)
    others = [
        element("li", _cut(message), " ", element("small", probe))
        for probe, messages in by_probe.items()
        for message in messages[:FOLLOWERS]
    ]
    others += [
        element("li", f"and {len(messages) - FOLLOWERS:,} more of {probe}")
        for probe, messages in by_probe.items()
        if len(messages) > FOLLOWERS
    ]
    steps = [_step(step) for step in dict.fromkeys(block.head.remedy)]
    return element(
        "article",
        element("h3", element("span", severity, class_=f"tag {severity}"), " ", _cut(block.head.message)),
        *(element("p", _cut(line)) for line in backing(block.head)),
        element("ul", *others) if others else None,
        element("ol", *steps, class_="steps") if steps else None,
        element("p", element("code", f"envdoctor explain {block.probe}"), class_="explain"),
        class_=f"finding {severity}",
    )


def _step(step: str) -> Markup:
    command = step.removeprefix("or ")
    if command.startswith(("/", "'")) or command.partition(" ")[0] in COMMANDS:
        return element("li", "or " if command != step else None, element("code", _cut(command)))
    return element("li", _cut(step))


def _changes(page: Page) -> Iterator[Markup]:
    changes = page.changes
    if changes is None:
        yield element("p", page.unchanged, class_="none")
        return
    yield element("p", f"Compared with the run of {_stamp(changes['before']['taken_at'])}.")
    events = changes["events"]
    if not events:
        yield element("p", "Nothing has changed that could be compared.")
    else:
        yield element("ul", *map(_event, events[:EVENTS]), class_="events")
    if len(events) > EVENTS:
        yield element("p", f"And {len(events) - EVENTS:,} more: envdoctor diff --format json", class_="none")
    gaps = [f"{gap['subject']}: {gap['reason']}" for gap in changes["not_comparable"]]
    if gaps:
        lines = (element("li", _cut(gap)) for gap in gaps[:EVENTS])
        yield element(
            "details", element("summary", f"not comparable: {_counted(len(gaps), 'thing')}"), element("ul", *lines)
        )


def _event(event: Mapping[str, Any]) -> Markup:
    weight = event["weight"]
    return element(
        "li",
        element("span", weight, class_=f"tag {weight}"),
        " ",
        _cut(event["sentence"]),
        " ",
        element("small", event["area"]),
    )


def _stamp(text: str) -> str:
    return f"{plots.moment(datetime.fromisoformat(text).timestamp())} UTC"


def _plots(page: Page) -> Iterator[Markup]:
    begin, end = _period(page)
    if page.runs == 0:
        yield element(
            "p",
            "No earlier run is remembered, so there is nothing to plot but what was seen just now. ",
            element("code", "envdoctor health"),
            " remembers each of its runs.",
            class_="none",
        )
    elif page.runs == 1:
        said = "One earlier run is remembered, so there is no more to see than what it saw, and what was seen just now."
        yield element("p", said, class_="none")
    figures = []
    for number, plot in enumerate(page.plots):
        drawing = plots.render(plot, number, begin, end, page.spans if number == 0 else ())
        key = _bands(page.spans) if number == 0 and page.spans else None
        figures.append(element("figure", element("figcaption", plot.title), drawing, key))
    yield element("div", *figures, class_="plots")


def _bands(spans: Sequence[Span]) -> Markup:
    """Explain the band of verdicts below the first plot."""
    total = sum(span.runs for span in spans)
    words = []
    for verdict in ("healthy", "warnings", "sick", None):
        runs = sum(span.runs for span in spans if span.verdict == verdict)
        if runs:
            words.append(f"{verdict or 'not judged'} in {runs:,}")
    said = f"The band above the lines, higher for worse: of {total:,} runs {', '.join(words)}."
    return element("p", said, class_="none")


def _period(page: Page) -> tuple[float, float]:
    """Return the time that the plots cover."""
    known = [at for plot in page.plots for line in plot.series for at, _ in line.points]
    known += [span.begin for span in page.spans]
    return min(known, default=_at(page)), max([*known, _at(page)])


def _timeline(page: Page) -> Iterator[Markup]:
    if not page.moments:
        yield element("p", "Nothing that is dated is known.", class_="none")
        return
    yield element("ol", *_grouped(page.moments[:MOMENTS]), class_="timeline", reversed="reversed")
    if len(page.moments) > MOMENTS:
        yield element(
            "p", f"And {len(page.moments) - MOMENTS:,} earlier: envdoctor history --format json", class_="none"
        )


def _grouped(moments: Iterable[Moment]) -> Iterator[Markup]:
    """Yield what was seen at one time as one item."""
    together: dict[tuple[float, float | None], list[Moment]] = {}
    for moment in moments:
        together.setdefault((moment.at, moment.since), []).append(moment)
    for (at, since), same in together.items():
        when = plots.moment(at)
        before = f"between {plots.moment(since)} and " if since is not None else ""
        lines = (element("li", _kind(moment), " ", _cut(moment.text)) for moment in same)
        yield element("li", before, element("time", when, datetime=moment_of(at)), element("ul", *lines))


def _kind(moment: Moment) -> Markup:
    return element("span", _KINDS[moment.kind], class_=f"tag {moment.grade}".rstrip())


def _rest(page: Page) -> Iterator[Markup]:
    report = page.report
    lines = [f"{outcome.probe} crashed: {outcome.crashed}" for outcome in report.outcomes if outcome.crashed]
    reasons: dict[str, list[str]] = {}
    for outcome in report.outcomes:
        if outcome.skipped:
            reasons.setdefault(outcome.skipped.reason, []).append(outcome.probe)
    lines += [f"{reason}: {', '.join(probes)}" for reason, probes in reasons.items()]
    lines += [f"{fact} could not be read: {reason}" for fact, reason in report.failed.items()]
    muted = sum(len(outcome.muted) for outcome in report.outcomes)
    lines += [f"{_counted(muted, 'finding')} muted by {report.config or 'the configuration'}"] if muted else []
    for note in page.notes:
        yield element("p", _cut(note))
    passed = sum(not (o.findings or o.muted or o.skipped or o.crashed) for o in report.outcomes)
    yield element("p", f"{passed} of {len(report.outcomes)} probes found nothing.")
    if lines:
        items = (element("li", _cut(line)) for line in lines[:200])
        yield element(
            "details",
            element("summary", _counted(len(lines), "reason") + " why something was not judged"),
            element("ul", *items),
        )
