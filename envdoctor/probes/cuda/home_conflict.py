"""CUDA_HOME, CUDA_PATH and PATH name different CUDA toolkits, or one that is not there.

Why it matters: some build tools ask CUDA_HOME, others CUDA_PATH, others take the nvcc of PATH, so that one package is
built from two toolkits. A CUDA_HOME that does not exist, or has no nvcc, is taken all the same, and packages that look
for nvcc stop, some of them as soon as they are imported.

What to do: let all of them name one toolkit, or unset the variables and leave only PATH.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote

from envdoctor.facts.cuda_tools import release
from envdoctor.facts.toolkits import Named, Toolkits
from envdoctor.facts.variables import Variables
from envdoctor.model import Finding, Severity


def check(toolkits: Toolkits, variables: Variables) -> Iterable[Finding]:  # noqa: ARG001 - where they are not known, skipped
    """Compare real directories: a link to a toolkit is that toolkit."""
    named = [item for item in toolkits.named if item.way != "default"]
    yield from _useless(named)
    usable = [item for item in named if item.nvcc]
    if len({item.prefix for item in usable}) > 1:
        yield _conflict(usable, toolkits)


def _useless(named: list[Named]) -> Iterator[Finding]:
    """Speak of a variable only if it is the one that counts: CUDA_PATH is not read where CUDA_HOME is set."""
    if not named or named[0].nvcc:
        return
    first = named[0]
    what = "has no nvcc" if first.exists else "does not exist"
    other = next((item for item in named if item.nvcc), None)
    instead = f"export {first.way}={quote(other.prefix)}" if other else f"let {first.way} name a CUDA toolkit"
    yield Finding(
        Severity.WARNING,
        first.way,
        f"{first.way}={first.path} {what}",
        {"value": first.path, "exists": first.exists, "nvcc": None},
        (f"unset {first.way}", f"or {instead}"),
    )


def _conflict(named: list[Named], toolkits: Toolkits) -> Finding:
    versions = {item.way: _version(item, toolkits) for item in named}
    said = ", ".join(f"{item.way} names {item.path} (CUDA {versions[item.way]})" for item in named)
    first = named[0]
    return Finding(
        Severity.WARNING,
        first.way,
        f"builds may mix toolkits: {said}",
        {item.way: {"path": item.path, "prefix": item.prefix, "version": versions[item.way]} for item in named},
        (
            f'export CUDA_HOME={quote(first.path)} CUDA_PATH={quote(first.path)} PATH={quote(first.path)}/bin:"$PATH"',
            "or drop CUDA_HOME and CUDA_PATH, and leave one nvcc on PATH",
        ),
    )


def _version(item: Named, toolkits: Toolkits) -> str:
    toolkit = toolkits.at(item.prefix)
    return (release(toolkit.version) if toolkit else None) or "unknown"
