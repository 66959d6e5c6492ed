"""Where a start-up hook does not reach: what a guard promises of a command has to say so."""

from __future__ import annotations

import os.path
import re
from collections.abc import Sequence

PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?\Z")
"""Names of interpreters."""
WITHOUT = "IES"
"""Options of Python by which it ignores PYTHONPATH or imports no `site` (Python's documentation, 1. Command line)."""


def caveat(command: Sequence[str], elsewhere: str | None) -> str:
    """Return the end of the sentence about a guard, "" if it reaches the command."""
    option = isolation(command)
    if option:
        return f"; not in the command itself: python {option} runs no start-up hook"
    return "; but the command runs outside the target, whose torch alone was looked at" if elsewhere else ""


def isolation(command: Sequence[str]) -> str:
    """Return the first such option of a command that is a Python, "" if there is none."""
    words = iter(command[1:] if PYTHON.match(os.path.basename(command[0])) else ())
    for word in words:
        if word == "--check-hash-based-pycs":
            next(words, None)
        elif word[:1] != "-" or word == "-":
            return ""
        elif not word.startswith("--"):
            found = re.match(rf"-[^cmWX]*?([{WITHOUT}])", word)
            if found:
                return f"-{found[1]}"
            if re.match("-[^cmWX]*[cm]", word):
                return ""
            if re.match("-[^WX]*[WX]\\Z", word):
                next(words, None)
    return ""
