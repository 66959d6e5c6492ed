"""The report for people, who may be reading it at two in the morning: verdict, causes, cures, what was not done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from envdoctor.model import Finding, Report, Severity
from envdoctor.printable import printable
from envdoctor.reports import lock_lines
from envdoctor.reports.causes import Block, blocks
from envdoctor.reports.layout import BLOCKS, INDENT, LISTED, NOTES, VERBATIM, Style, backing, steps, tagged

__all__ = ["INDENT", "Style", "body", "render", "spoken", "verdict"]

_VERDICTS = {"sick": "31;1", "warnings": "33;1", "healthy": "32;1"}
COVERED = frozenset({"packages/foreign", "packages/drifted", "packages/broken-requirement", "packages/direct-url"})
"""Probes whose advice, within a block, is that of its head: remove what came, put back what moved."""


def render(report: Report, style: Style | None = None) -> str:
    """Return the report as text."""
    style = style or Style()
    return "\n\n".join([_head(report, style), *body(report, style), _foot(report, style)]) + "\n"


def body(report: Report, style: Style, lost: str = "FAILED") -> list[str]:
    """Return the paragraphs between head and foot: what was found, and what was not judged.

    `lost` stands before what could not be judged though it was asked for.
    """
    in_locks, rest = lock_lines.divided(report)
    found = blocks(rest)
    serious = [block for block in found if block.worst > Severity.NOTE]
    notes = [block for block in found if block.worst == Severity.NOTE]
    parts = [*_blocks(serious, style), *lock_lines.paragraphs(in_locks, style)]
    worst_first = [text for _, text in sorted(parts, key=lambda part: -part[0])]
    return [*worst_first, *(part for part in (_notes(notes, style), _not_done(report, style, lost)) if part)]


def verdict(report: Report, style: Style) -> str:
    """Return the verdict as it is shown."""
    return style.paint(report.verdict.upper(), _VERDICTS[report.verdict])


def _head(report: Report, style: Style) -> str:
    counts = _counts(finding.severity for _, finding in report.findings())
    unsure = ", not all could be judged" if report.incomplete else ""
    lines = [f"{verdict(report, style)}  {counts or 'nothing found'}{unsure}"]
    if report.target is not None:
        facts = [f"Python {printable(report.python)}"] if report.python else []
        facts += [f"torch {printable(str(report.seen['torch']))}"] if "torch" in report.seen else []
        facts += [f"{report.seen['packages']} packages"] if "packages" in report.seen else []
        with_facts = f": {', '.join(facts)}" if facts else ""
        lines.append(style.wrap(printable(report.target.prefix) + with_facts, "", "  "))
        lines.append(style.wrap(_lock_line(report), "", "  "))
        said = [f"{key} {report.seen[key]}" for key in ("generation", "log", "snapshot", "reuse") if key in report.seen]
        lines += [style.wrap(printable(line), "", "  ") for line in said]
        if "plugins" in report.seen:
            lines.append(style.wrap(f"with probes of {printable(str(report.seen['plugins']))}", "", "  "))
    lines += [style.wrap(line, "", "  ") for line in lock_lines.audited(report)]
    if report.config is not None:
        lines.append(style.wrap(f"configured by {printable(report.config)}", "", "  "))
    return "\n".join(lines)


def _lock_line(report: Report) -> str:
    target = report.target
    if target is None or target.lock is None:
        return "no lock: nothing says what should be installed (name one with --lock)"
    others = [printable(path.rpartition("/")[2]) for path in target.other_locks]
    more = f" (also there, not used: {', '.join(others)})" if others else ""
    since = f", {report.seen['lock']}" if "lock" in report.seen else ""
    return f"judged by {printable(target.lock)}{since}{more}"


def _counts(severities: Iterable[Severity]) -> str:
    seen = list(severities)
    words = [(seen.count(severity), severity.label) for severity in reversed(Severity)]
    return ", ".join(f"{count} {word}{'s' if count > 1 else ''}" for count, word in words if count)


def _blocks(found: Sequence[Block], style: Style) -> Iterable[tuple[Severity, str]]:
    """Print each block, with its severity, but not a thousand of one probe."""
    printed: Counter[str] = Counter()
    for block in found:
        printed[block.probe] += 1
        if printed[block.probe] <= BLOCKS:
            yield block.worst, _block(block, style)
    for probe, count in printed.items():
        if count > BLOCKS:
            yield Severity.NOTE, f"{INDENT}and {count - BLOCKS} more findings of {probe} (all of them: --format json)"


def _block(block: Block, style: Style) -> str:
    lines = [tagged(block.worst, block.head.message, style)]
    lines += [
        style.wrap(line, INDENT, INDENT + "  ")
        for line in (*_when(block.head), *backing(block.head), *_shown(block.head))
    ]
    written = block.head.evidence.get(VERBATIM)
    lines += [f"{INDENT}| {line}" for line in written] if isinstance(written, list) else []
    lines += _followers(block, style)
    lines += [style.wrap(f"see: envdoctor explain {_explained(block)}", INDENT, INDENT)]
    lines += steps((step for finding in _steps_of(block) for step in finding.remedy), style)
    return "\n".join(lines)


def _explained(block: Block) -> str:
    """Return what explains a finding: what a log alone shows has an entry of its own, by its signature."""
    own = block.head.evidence.get("signature")
    return f"{own}  [{block.probe}]" if isinstance(own, str) and own == block.head.subject else block.probe


def _when(finding: Finding) -> Iterable[str]:
    at = finding.evidence.get("installed_at")
    if isinstance(at, str):
        installer = finding.evidence.get("installer")
        yield f"installed {spoken(at)}{f' by {installer}' if installer else ''}"


def spoken(moment: str) -> str:
    """Return an RFC 3339 time as a person would say it, in local time: `3 June 2026 at 14:22`; others stay."""
    try:
        local = datetime.fromisoformat(moment).astimezone()
    except (ValueError, OverflowError):
        return moment
    return f"{local.day} {local:%B %Y} at {local:%H:%M}"


def _shown(finding: Finding) -> Iterable[str]:
    """Quote the line of a log that shows it."""
    shown = finding.evidence.get("log", finding.evidence)
    if isinstance(shown, dict) and {"signature", "file", "line", "text"} <= shown.keys():
        yield f"{shown['file']}:{shown['line']}: {shown['text']}"


def _followers(block: Block, style: Style) -> Iterable[str]:
    """Print what else the cause explains, what it moved first; packages that merely came with it are listed already."""
    by_probe: dict[str, list[str]] = {"packages/drifted": []}
    for probe, finding in block.others:
        if probe != "packages/foreign" or finding.evidence.get("family"):
            by_probe.setdefault(probe, []).append(finding.message)
    for probe, messages in by_probe.items():
        for message in messages[:LISTED]:
            yield style.wrap(f"{message}  [{probe}]", INDENT + "- ", INDENT + "  ")
        if len(messages) > LISTED:
            yield f"{INDENT}- and {len(messages) - LISTED} more of {probe}"


def _steps_of(block: Block) -> Iterable[Finding]:
    """Yield the findings whose steps are to be printed: the cause's own advice already covers what came and moved."""
    yield block.head
    yield from (finding for probe, finding in block.others if probe not in COVERED)


def _notes(notes: Sequence[Block], style: Style) -> str:
    by_probe: dict[str, list[Finding]] = {}
    for block in notes:
        for probe, finding in ((block.probe, block.head), *block.others):
            by_probe.setdefault(probe, []).append(finding)
    lines = []
    for probe, findings in by_probe.items():
        lines += [tagged(Severity.NOTE, f"{finding.message}  [{probe}]", style) for finding in findings[:NOTES]]
        if len(findings) > NOTES:
            lines.append(f"{INDENT}and {len(findings) - NOTES} more notes of {probe} (all of them: --format json)")
    return "\n".join(lines)


def _not_done(report: Report, style: Style, lost: str) -> str:
    lines = [style.wrap(f"{o.probe} crashed: {o.crashed}", "CRASHED  ", INDENT) for o in report.outcomes if o.crashed]
    reasons: dict[tuple[str, bool], list[str]] = {}
    for outcome in report.outcomes:
        if outcome.skipped:
            reasons.setdefault((outcome.skipped.reason, outcome.skipped.failed), []).append(outcome.probe)
    for (reason, failed), probes in reasons.items():
        first = f"{lost if failed else 'skipped':9}"
        lines.append(style.wrap(f"{reason}: {', '.join(probes)}", first, INDENT))
    known = {reason for reason, _ in reasons}
    failures = {reason: fact for fact, reason in report.failed.items() if printable(reason) not in known}
    lines += [style.wrap(f"{printable(reason)}: {fact}", "FAILED   ", INDENT) for reason, fact in failures.items()]
    if "state" in report.seen:
        lines.append(style.wrap(f"{printable(str(report.seen['state']))}: marks of caches", "skipped  ", INDENT))
    muted = Counter(outcome.probe for outcome in report.outcomes for _ in outcome.muted)
    if muted:
        which = ", ".join(f"{count} of {probe}" for probe, count in muted.items())
        lines.append(style.wrap(f"{which}, by {printable(report.config or 'the configuration')}", "muted    ", INDENT))
    return "\n".join(lines)


def _foot(report: Report, style: Style) -> str:
    """Say how much was judged, and whether the tables that it was judged by have aged."""
    passed = sum(not (o.findings or o.muted or o.skipped or o.crashed) for o in report.outcomes)
    files = f"{report.seen['files']:,} files, " if "files" in report.seen else ""
    files = f"{report.seen['hashed']}, " if "hashed" in report.seen else files
    said = f"{passed} of {len(report.outcomes)} probes found nothing ({files}{report.seconds:.2f} s)"
    if "knowledge" in report.seen:
        said += f"; the tables of facts were {report.seen['knowledge']}, and newer releases are unknown to them"
    return style.wrap(said, "", "")
