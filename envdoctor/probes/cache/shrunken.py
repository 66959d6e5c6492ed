"""The compile cache holds far fewer keys than it once did.

Why it matters: a cache that was deleted and warmed again on one device, or by a forward pass alone, looks as if it were
there. What it lacks is compiled at the first step, by every thread at once, which is slow and, up to torch 2.12, the
very moment in which threads meet the FX-tracing flag.

What to do: bring a save back, or let `envdoctor warm` run a training step of yours on every device, forward and
backward; if the present state is meant to be so, `envdoctor cache accept` makes it the mark. Keys are counted, never
bytes: one precompiled header is 100 MB and says nothing. The share that is enough is `limits.cache_share` of the
configuration, in percent; a mark that is not reached for 30 days expires.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote

from envdoctor.facts.cache_counts import KINDS
from envdoctor.facts.cache_marks import CacheMarks
from envdoctor.model import Finding, Severity, Target
from envdoctor.policy import Policy
from envdoctor.printable import size_of
from envdoctor.state.marks import Mark
from envdoctor.views.warmth import Warmth


def check(warmth: Warmth, cache_marks: CacheMarks, policy: Policy, target: Target) -> Iterable[Finding]:
    """Compare each count with its mark; a cache without any graph is cache/missing's."""
    if warmth.cold:
        return
    lost = [mark for mark in cache_marks.marks if _lost(mark, warmth, policy)]
    if not lost:
        return
    cache = warmth.cache
    size = max((mark.size for mark in lost), default=0)
    yield Finding(
        Severity.WARNING,
        cache.path,
        f"the compile cache {cache.path} has shrunk: {'; '.join(_said(lost, cache_marks, warmth))}; "
        f"{size_of(size)} -> {size_of(cache.size)}",
        {
            "cache": cache.path,
            "lost": [
                {
                    "kind": mark.kind,
                    "device": mark.device,
                    "mark": mark.keys,
                    "keys": warmth.keys(mark.kind, mark.device),
                }
                for mark in lost
            ],
            "mark_bytes": size,
            "bytes": cache.size,
        },
        (
            f"envdoctor cache restore --latest --target {quote(target.prefix)}",
            f"or envdoctor warm --target {quote(target.prefix)} --entry PKG.MOD:FUNCTION",
            "if it is meant to be so: envdoctor cache accept",
        ),
    )


def _lost(mark: Mark, warmth: Warmth, policy: Policy) -> bool:
    if mark.device and not warmth.sampled:
        return False
    return warmth.keys(mark.kind, mark.device) * 100 < mark.keys * policy.limits["cache_share"]


def _said(lost: list[Mark], marks: CacheMarks, warmth: Warmth) -> Iterator[str]:
    """Say it kind by kind: `fxgraph 412 -> 6 keys, none for cuda:6 and cuda:7`."""
    for kind in KINDS:
        mine = [mark for mark in lost if mark.kind == kind]
        whole = marks.of(kind)
        if not mine:
            continue
        parts = [f"{kind} {whole.keys} -> {warmth.keys(kind)} keys"] if whole else [kind]
        devices = sorted((mark.device for mark in mine if mark.device), key=_number)
        none = [device for device in devices if not warmth.keys(kind, device)]
        parts += [f"none for {_listed(none)}"] if none else []
        parts += [
            f"{mark.device} {mark.keys} -> {warmth.keys(kind, mark.device)}"
            for mark in mine
            if mark.device and mark.device not in none
        ]
        yield ", ".join(parts)


def _number(device: str) -> tuple[str, int]:
    name, _, number = device.partition(":")
    return name, int(number) if number.isdigit() else -1


def _listed(devices: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(devices[:-1]), *devices[-1:])))
