"""Findings grouped by what brought them about, so that one intruder is one block and not forty alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envdoctor.model import Finding, Report, Severity


@dataclass(frozen=True, slots=True)
class Block:
    """A finding, and those that go back to the same cause."""

    probe: str
    head: Finding
    others: tuple[tuple[str, Finding], ...] = ()

    @property
    def worst(self) -> Severity:
        """The highest severity in it."""
        return max([self.head.severity, *(finding.severity for _, finding in self.others)])


FOLLOWS_DRIFT = frozenset({"packages/broken-requirement", "packages/direct-url"})
"""What is said of a package at the wrong version only because it is at the wrong version."""


def blocks(report: Report) -> Sequence[Block]:
    """Return all findings in blocks, worst first; within a severity the larger block first.

    A foreign package heads what its coming brought about; a drifted one heads what else is wrong with it.
    """
    pairs = list(report.findings())
    heads = {f.subject: (p, f) for p, f in pairs if p == "packages/foreign" and f.evidence.get("cause") == f.subject}
    drifted = {
        f.subject: (p, f) for p, f in pairs if p == "packages/drifted" and str(f.evidence.get("cause")) not in heads
    }
    heads |= {subject: pair for subject, pair in drifted.items() if subject not in heads}
    grouped: dict[str, list[tuple[str, Finding]]] = {head: [] for head in heads}
    single: list[Block] = []
    for probe, finding in pairs:
        head = _head_of(probe, finding, heads)
        if head is None:
            single.append(Block(probe, finding))
        elif finding is not heads[head][1]:
            grouped[head].append((probe, finding))
    caused = [Block(*heads[head], tuple(others)) for head, others in grouped.items()]
    return sorted(caused + single, key=lambda block: (-block.worst, -len(block.others)))


def _head_of(probe: str, finding: Finding, heads: Mapping[str, tuple[str, Finding]]) -> str | None:
    """Return the subject of the block that a finding belongs to: its own or its cause's; None if it stands alone."""
    cause = finding.evidence.get("cause")
    if isinstance(cause, str) and cause in heads and heads[cause][0] == "packages/foreign":
        return cause
    own = heads.get(finding.subject)
    return finding.subject if own is not None and (finding is own[1] or probe in FOLLOWS_DRIFT) else None
