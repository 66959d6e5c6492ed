"""How the reports for people are laid out: width and colour, tags, steps, lists."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from envdoctor.model import Finding, Severity

COLOURS = {Severity.ERROR: "31;1", Severity.WARNING: "33;1", Severity.NOTE: "36"}
INDENT = " " * 9
COMMANDS = frozenset(
    {"chmod", "df", "envdoctor", "export", "less", "ln", "ls", "mount", "mv", "nvidia-smi", "pip", "python", "python3"}
    | {"rm", "sudo", "systemctl", "ulimit", "unset", "uv"}
)
"""First words of a step that is a command, to be copied; other steps are sentences."""
LISTED = 8
"""Names or paths that one line of a block lists."""
VERBATIM = "last_lines"
"""Key of evidence that is printed line by line, as a program wrote it."""
LONG = frozenset({VERBATIM, "printed", "stacks"})
"""Keys of evidence that no line of the report could hold: they are for --format json."""
BLOCKS = 20
"""Findings of one probe that are printed in full."""
NOTES = 3
"""Notes of one probe that are printed in full."""


@dataclass(frozen=True, slots=True)
class Style:
    """How to print."""

    width: int | None = None
    """Columns; None leaves lines as long as they are, for pipes and logs."""
    colour: bool = False

    def paint(self, text: str, code: str) -> str:
        """Colour a text if colour is on."""
        return f"\033[{code}m{text}\033[0m" if self.colour else text

    def wrap(self, text: str, first: str, rest: str) -> str:
        """Fill a paragraph to the width; words such as paths are never broken."""
        if self.width is None:
            return first + text
        return textwrap.fill(
            text,
            max(self.width, 40),
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        )


def steps(wanted: Iterable[str], style: Style) -> list[str]:
    """Print each step once, in order."""
    return [_step(step, style, first=number == 0) for number, step in enumerate(dict.fromkeys(wanted))]


def _step(step: str, style: Style, *, first: bool) -> str:
    """Print a step. A command gets a `$` and is never broken, so that it can be copied; a sentence is wrapped."""
    word = "next: " if first else "then: "
    if step.startswith("or "):
        word, step = "or:   ", step.removeprefix("or ")
    head = INDENT + style.paint(word, "1")
    if step.startswith(("/", "'")) or step.partition(" ")[0] in COMMANDS:
        return f"{head}$ {step}"
    return head + style.wrap(step, INDENT + "      ", INDENT + "      ")[len(INDENT) + 6 :]


def tagged(severity: Severity, text: str, style: Style) -> str:
    """Put the coloured severity before a paragraph wrapped as if it were plain."""
    tag = style.paint(f"{severity.label.upper():8}", COLOURS[severity])
    return tag + style.wrap(text, INDENT, INDENT)[len(INDENT) - 1 :]


def backing(finding: Finding) -> Iterable[str]:
    """List what backs the message: the first few entries of each list of names or paths."""
    for key, value in finding.evidence.items():
        if key in LONG:
            continue
        texts = isinstance(value, list) and value and all(isinstance(item, str) for item in value)
        if texts and key != "moved" and not (len(value) == 1 and value[0] in finding.message):
            yield f"{key.replace('_', ' ')}: {_listed(value, finding.evidence.get('count'))}"


def _listed(names: Sequence[str], count: object = None) -> str:
    total = max(count, len(names)) if isinstance(count, int) else len(names)
    more = f" and {total - LISTED} more" if total > LISTED else ""
    return ", ".join(names[:LISTED]) + more
