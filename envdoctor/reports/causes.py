"""Findings grouped by what brought them about, so that one intruder is one block and not forty alarms."""

from __future__ import annotations

from collections.abc import Sequence
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


def blocks(report: Report) -> Sequence[Block]:
    """Return all findings in blocks, worst first; within a severity the larger block first."""
    pairs = list(report.findings())
    roots = {f.subject: (p, f) for p, f in pairs if p == "packages/foreign" and f.evidence.get("cause") == f.subject}
    grouped: dict[str, list[tuple[str, Finding]]] = {root: [] for root in roots}
    single: list[Block] = []
    for probe, finding in pairs:
        cause = finding.evidence.get("cause")
        if cause not in roots:
            single.append(Block(probe, finding))
        elif finding is not roots[cause][1]:
            grouped[cause].append((probe, finding))
    caused = [Block(*roots[root], tuple(others)) for root, others in grouped.items()]
    return sorted(caused + single, key=lambda block: (-block.worst, -len(block.others)))
