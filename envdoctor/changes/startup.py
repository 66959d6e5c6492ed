"""What acts before the job's first line, and the job's variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from envdoctor.changes.events import Event, Side, Weight, changed, differing, either, kind_of, some, told
from envdoctor.facts.startup import Startup, StartupLine
from envdoctor.facts.variables import PER_JOB, PER_RANK, Variables

_DECIDING = ("CUDA_", "LD_", "PYTHON", "PYTORCH_", "TORCH", "TRITON_", "NVCC_", "NCCL_", "VIRTUAL_ENV", "CONDA_PREFIX")
"""Beginnings of the names by which imports, libraries, compilers and caches are found."""
_SHOWN = 200
"""Characters of a value that an event shows."""


def startup(old: Side[Startup], new: Side[Startup]) -> Iterator[Event]:
    """Compare .pth and .start files, and sitecustomize and usercustomize."""
    for path, before, after in differing(_files(old), _files(new)):
        yield _file(path, before, after)
    for path, was, now in differing(_customize(old), _customize(new)):
        weight = Weight.DETAIL if was and now and was[0] == now[0] else Weight.GRAVE
        ends = either(lambda module: module[1], was, now)
        yield changed("startup", path, ends, weight, f"{path} (run at every start of Python)")


def _files(side: Side[Startup]) -> Mapping[str, tuple[StartupLine, ...]]:
    """Return path -> lines, paths in the environment relative to it. Comments, line numbers and times are nothing."""
    return {
        side.near(file.path): tuple(
            StartupLine(0, line.kind, line.text, side.near(line.path) if line.path else None)
            for line in file.lines
            if line.kind != "comment"
        )
        for file in side.fact.files
    }


def _file(path: str, before: tuple[StartupLine, ...] | None, after: tuple[StartupLine, ...] | None) -> Event:
    was, now = before or (), after or ()
    lines = [line for line in (*now, *was) if (line in now) != (line in was)]
    runs = any(line.kind in ("import", "entry-point") for line in lines)
    does = "run at every start of Python" if runs else "adds to the import path" if lines else "empty"
    verb = {"added": "is new", "removed": "is gone", "changed": "is another one"}[kind_of(before, after)]
    ends = either(lambda found: _cut("; ".join(map(_line, found))), before, after)
    sentence = f"{path} ({does}) {verb}" + (f": {_cut(some(map(_line, lines)))}" if lines else "")
    return told("startup", path, ends, sentence, Weight.GRAVE if runs else Weight.NOTABLE)


def _line(line: StartupLine) -> str:
    """Say a line as it stands, or which path it comes to."""
    note = {"dead": ", not there", "ignored": ", ignored"}.get(line.kind, "")
    return (line.path or line.text) + note


def _customize(side: Side[Startup]) -> Mapping[str, tuple[int, str]]:
    """Return path -> (bytes, what it is in words)."""
    return {
        side.near(module.path): (module.size, f"{module.size:,} bytes" + ("" if module.imported else ", not imported"))
        for module in side.fact.customize
    }


def variables(old: Side[Variables], new: Side[Variables]) -> Iterator[Event]:
    """Compare the allowed variables, but for those that are other for every job or rank. Secrets were never taken."""
    passing = {*PER_JOB, *PER_RANK}
    for name, before, after in differing(old.fact.values, new.fact.values):
        if name not in passing:
            ends = either(lambda value: _cut(value) or '""', before, after)
            weight = Weight.NOTABLE if name.startswith(_DECIDING) else Weight.DETAIL
            yield changed("variables", name, ends, weight)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 4]} ..."
