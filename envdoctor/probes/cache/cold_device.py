"""A device that the job sees has no graphs of its own in the compile cache.

Why it matters: the number of the device is part of a graph's key, so what is warm for cuda:0 is cold for cuda:1. The
thread or rank on it compiles at its first step while the others run on.

What to do: let `envdoctor warm` run a training step of yours on it, forward and backward, before the job. A job that
uses one device, or whose ranks each see one (CUDA_VISIBLE_DEVICES set by the launcher), needs the keys of cuda:0 alone;
then it is a note.
"""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote

from envdoctor.facts.cache_marks import CacheMarks
from envdoctor.model import Finding, Severity, Target, Unavailable
from envdoctor.views.devices import Devices
from envdoctor.views.warmth import Warmth


def check(warmth: Warmth, devices: Devices, cache_marks: CacheMarks | Unavailable, target: Target) -> Iterable[Finding]:
    """Compare what is visible with what graphs and generated modules are for."""
    warm = warmth.devices()
    if warmth.cold or not warmth.sampled or not warm:
        return
    marks = () if isinstance(cache_marks, Unavailable) else cache_marks.marks
    once = {mark.device for mark in marks}
    for device in devices.visible:
        name = device.subject
        if device.ordinal is None or name in warm:
            continue
        sure = len(warm) > 1 or name in once
        hint = "" if sure else "; if each rank sees one device only, or the job uses one, it needs no other"
        yield Finding(
            Severity.WARNING if sure else Severity.NOTE,
            name,
            f"{name} has no graphs in {warmth.cache.path}, which is warm for {', '.join(sorted(warm))}{hint}",
            {**device.gpu.identity, "cache": warmth.cache.path, "warm": sorted(warm)},
            (f"envdoctor warm --devices {device.ordinal} --target {quote(target.prefix)} --entry PKG.MOD:FUNCTION",),
        )
