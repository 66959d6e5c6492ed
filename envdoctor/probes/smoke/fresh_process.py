"""A fresh process does not find in the compile cache what the first one compiled.

Why it matters: every job, and every rank, then compiles from cold: minutes instead of seconds, and with threads the
window in which one meets another's trace. Counters alone are no proof (C++ kernels are rebuilt while all of them say
hit), nor are files; so all three are demanded: hits of AOTAutograd's cache, no miss and no bypass, and no new file.

What to do: follow the evidence. A miss with everything in place means a key that differs between processes (code that
patches torch at start-up, a path, a variable); new files with hits mean kernels that are built anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from envdoctor import hits
from envdoctor.facts.smoke import FRESH, Attempt, Smoke
from envdoctor.facts.variables import Variables
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.views.diagnoses import Diagnoses

SWITCH = "TORCHINDUCTOR_AUTOGRAD_CACHE"
"""The variable that decides on AOTAutograd's cache (torch/_functorch/config.py of torch 2.13.0)."""


def check(smoke: Smoke, diagnoses: Diagnoses, variables: Variables | Unavailable) -> Iterable[Finding]:
    """Judge the counters and the files of each device's second process."""
    switched = None if isinstance(variables, Unavailable) else variables.values.get(SWITCH)
    yield from diagnoses.of(FRESH)
    for attempt in smoke.of(FRESH):
        if attempt.state != "passed":
            continue
        faults = list(_faults(attempt.detail, smoke))
        if switched is not None and attempt.detail.get("aot_cache") is False:
            faults.append(f"AOTAutograd's cache is switched off ({SWITCH}={switched})")
        if faults:
            yield _finding(attempt, faults, smoke)


def _finding(attempt: Attempt, faults: list[str], smoke: Smoke) -> Finding:
    evidence = {**attempt.detail, "cache": smoke.cache, "own_cache": smoke.own_cache}
    cure = ["run the job with TORCH_LOGS=+torch._inductor.codecache: it says why an entry was not used"]
    if attempt.detail.get("caches_off"):
        cure = ["unset TORCHINDUCTOR_FORCE_DISABLE_CACHES"]
    elif attempt.detail.get("fx_cache") is False:
        cure = ["unset TORCHINDUCTOR_FX_GRAPH_CACHE"]
    elif any(SWITCH in fault for fault in faults):
        cure = [f"unset {SWITCH}"]
    return Finding(
        Severity.ERROR, attempt.device, f"a fresh process started cold: {'; '.join(faults)}", evidence, tuple(cure)
    )


def _faults(detail: Mapping[str, Any], smoke: Smoke) -> Iterator[str]:
    if detail.get("caches_off"):
        yield "the compile caches are switched off"
        return
    counters = detail["counters"]
    if detail.get("fx_cache") is not False:
        yield from hits.missed(hits.GRAPHS, counters)
    else:
        yield "the cache of compiled graphs is switched off"
    # releases in which this cache is not there, or off by default, can only be judged by the graphs
    if detail.get("aot_cache"):
        yield from hits.missed(hits.AUTOGRAD, counters)
    new = detail.get("new_files") or []
    yield from hits.grown(new, detail.get("new_count", len(new)), shared=not smoke.own_cache)
