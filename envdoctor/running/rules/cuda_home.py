"""CUDA_HOME and CUDA_PATH, where they are set, name one toolkit, and one of the CUDA that torch was built for.

By `cuda/home-conflict`: a variable that counts and leads to no nvcc is unset, its first remedy; where both lead to
toolkits and these differ, CUDA_PATH follows CUDA_HOME. By `cuda/toolkit-mismatch`: a toolkit of another major gives way
to one that fits, if there is one here, else it stays and that is said: without the variable a build would only take the
next one. Which nvcc comes first on PATH is left alone, and so is what no variable names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from envdoctor.environ import Change, Left, change
from envdoctor.facts.toolkits import Named, Toolkits
from envdoctor.model import Finding, Unavailable
from envdoctor.probes.cuda import home_conflict, toolkit_mismatch
from envdoctor.running.sanitising import Scene, not_judged

RULE = "cuda-home"
VARIABLES = ("CUDA_HOME", "CUDA_PATH")


def changes(scene: Scene) -> Iterator[Change | Left]:
    """Unset what leads nowhere, then let the rest name one toolkit that fits."""
    toolkits = scene.facts["toolkits"]
    if isinstance(toolkits, Unavailable):
        yield not_judged(RULE, toolkits)
        return
    dead = list(_dead(scene, toolkits))
    yield from (change(scene.env, RULE, each.subject, None, "unset", each.message) for each in dead)
    usable = _without(toolkits, {each.subject for each in dead})
    named = [item for item in usable.named if item.way in VARIABLES and item.nvcc]
    if named:
        fit = _fit(scene, usable)
        if isinstance(fit, Left):
            yield fit
        yield from _aligned(scene, named, fit if isinstance(fit, _Fit) else None)


@dataclass(frozen=True, slots=True)
class _Fit:
    prefix: str
    why: str


def _dead(scene: Scene, toolkits: Toolkits) -> Iterator[Finding]:
    """Ask again without the variable that was found useless: the next one counts then."""
    for _ in VARIABLES:
        found = scene.judged(home_conflict.check, toolkits=toolkits)
        useless = [] if isinstance(found, Unavailable) else [each for each in found if _useless(each)]
        yield from useless
        toolkits = _without(toolkits, {each.subject for each in useless})


def _useless(finding: Finding) -> bool:
    return finding.subject in VARIABLES and "nvcc" in finding.evidence


def _without(toolkits: Toolkits, ways: set[str]) -> Toolkits:
    return replace(toolkits, named=tuple(item for item in toolkits.named if item.way not in ways))


def _fit(scene: Scene, toolkits: Toolkits) -> _Fit | Left | None:
    """Return the toolkit that should be named instead of the chosen one; None if that fits as it is."""
    found = scene.judged(toolkit_mismatch.check, toolkits=toolkits)
    if isinstance(found, Unavailable):
        return Left(RULE, f"not judged against torch: {found.reason}")
    wrong = next((each for each in found if each.remedy and each.evidence.get("chosen_by") in VARIABLES), None)
    if wrong is None:
        return None
    wanted = str(wrong.evidence["torch_cuda"])
    prefix = toolkit_mismatch.fitting(wanted, toolkits)
    if prefix is None:
        return Left(RULE, f"{wrong.message}; no toolkit of that CUDA is here")
    return _Fit(prefix, wrong.message)


def _aligned(scene: Scene, named: list[Named], fit: _Fit | None) -> Iterator[Change]:
    """Let each variable name the toolkit that fits, else the one that the first of them names."""
    first = named[0]
    prefix, path = (fit.prefix, fit.prefix) if fit else (first.prefix, first.path)
    for item in named:
        if item.prefix != prefix:
            why = fit.why if fit else f"builds may mix toolkits: {first.way} names {first.path}, {item.way} {item.path}"
            yield change(scene.env, RULE, item.way, path, f"is {path}", why)
