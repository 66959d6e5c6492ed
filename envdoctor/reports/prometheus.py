"""Metrics as node_exporter's textfile collector reads them: Prometheus' text exposition format 0.0.4.

Without times: node_exporter passes over a file that has any (collector/textfile.go, hasTimestamps).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from envdoctor.printable import printable, redact

LONGEST = 256
"""Characters of a label's value; a path may have thousands."""
_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a metric. Labels whose value is "" are left out: to Prometheus that is the same."""

    value: float
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Family:
    """A metric with all its values. All of ours are gauges: what one run saw, not what adds up."""

    name: str
    about: str
    samples: tuple[Sample, ...]


def render(families: Iterable[Family]) -> str:
    """Return the text of a file; a metric of which nothing is known is not in it."""
    return "".join(_family(family) for family in families if family.samples)


def _family(family: Family) -> str:
    head = f"# HELP {family.name} {family.about}\n# TYPE {family.name} gauge\n"
    lines: dict[str, str] = {}
    for sample in family.samples:  # a series that is there twice makes the whole file worthless
        lines.setdefault(_labels(sample.labels), _number(sample.value))
    return head + "".join(f"{family.name}{labels} {value}\n" for labels, value in lines.items())


def _labels(labels: Mapping[str, str]) -> str:
    said = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items() if value)
    return f"{{{said}}}" if said else ""


def _escaped(value: str) -> str:
    return printable(redact(value))[:LONGEST].translate(_ESCAPES)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(round(value, 6))
