"""Byte code for a proven venv, made from the proven sources.

Installers could make it, but nobody can prove theirs for less than making it again: its header names time and size of
the source, not what was compiled. So they are told to make none, byte code that no archive has is a fault
(strays.py), and this is done last, on all cores, by an interpreter that runs nothing of the venv's.
"""

from __future__ import annotations

import os
from dataclasses import replace

from envdoctor.installing import calling
from envdoctor.installing.layout import Layout
from envdoctor.progress import Progress, Work

PAYLOAD = os.path.join(os.path.dirname(os.path.dirname(__file__)), "payloads", "compile.py")
WITHIN = 3600.0
"""Seconds; 20,000 sources take about a minute of one core."""


def compile_sources(prefix: str, *, cores: int, work: Work) -> None:
    """Compile all sources of site-packages that no archive brought byte code for. Raises StepError."""
    layout = Layout.of(prefix)
    work.tell(Progress("compile", "byte code"))
    teller = _Teller(work)
    python = os.path.join(prefix, "bin", "python")
    argv = [python, "-I", "-S", "-B", PAYLOAD, os.path.join(prefix, layout.site), str(cores)]
    told = replace(work, log=teller.hear)
    done = calling.run(argv, told, env=calling.bare(work.host.env), cwd=prefix, within=WITHIN)
    if done.fault:
        raise calling.failure("compile", "compiling byte code", done)


class _Teller:
    """Turns the payload's lines into progress."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.begun = b""

    def hear(self, block: bytes) -> None:
        """Take what was printed; only the last whole line counts."""
        *lines, self.begun = (self.begun + block).split(b"\n")
        words = lines[-1].split() if lines else []
        if len(words) == 3 and words[0] == b"compiled":
            self.work.tell(Progress("compile", "byte code", int(words[1]), int(words[2]), "files"))
        else:
            self.work.log(block)
