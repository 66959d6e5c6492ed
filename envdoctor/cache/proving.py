"""`envdoctor cache verify --run -- CMD`: run the user's command once, and prove that it started from a warm cache."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envdoctor import hits
from envdoctor.cache import job, place
from envdoctor.cache.tree import walk
from envdoctor.cache.workflow import failures_told
from envdoctor.facts import cache_places
from envdoctor.locate import Wish
from envdoctor.model import Target
from envdoctor.system import foreground
from envdoctor.system.host import Host
from envdoctor.system.reading import regular

HOOK = os.path.join(os.path.dirname(os.path.dirname(__file__)), "payloads", "counters")
VARIABLE = "ENVDOCTOR_COUNTERS"
"""As the payload has it."""
_LIMIT = 1 << 20
"""Bytes that one process may tell."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one process told at its end."""

    cache: str
    counters: Mapping[str, Mapping[str, int]]
    switches: Mapping[str, bool | None]


@dataclass(frozen=True, slots=True)
class Proof:
    """What a run showed."""

    command: tuple[str, ...]
    cache: str
    status: int
    """The command's exit status, negative for a signal."""
    counters: Mapping[str, int]
    """Of all processes together."""
    processes: int
    """Processes that imported torch and told of it."""
    faults: tuple[str, ...]
    """Why it is not proven; empty if it is."""
    seconds: float


def prove(command: Sequence[str], wish: Wish, host: Host, *, cache: str | None) -> Proof:
    """Run it in the target. Raises UsageError if it cannot be started."""
    target = job.find(wish, host)
    with failures_told(), tempfile.TemporaryDirectory(prefix="envdoctor-counters-") as folder:
        root = place.inductor(host, cache).path
        before = _files(root)
        began = time.monotonic()
        status = foreground.run(command, env=environment(target, host, folder, cache and root), cwd=host.cwd)
        seconds = time.monotonic() - began
        new = sorted(_files(root) - before)
        told = list(_told(folder))
    total = _sum(told)
    faults = (*_of_command(status), *judged(told, total, root), *hits.grown(new, len(new), shared=True))
    counted = {name: count for group in total.values() for name, count in group.items() if "_cache_" in name}
    return Proof(tuple(command), root, status, counted, len(told), faults, seconds)


def environment(target: Target, host: Host, folder: str, cache: str | None) -> dict[str, str]:
    """Return the variables that the command finds: the caller's, the target's python first, and the hook."""
    path = os.path.join(target.prefix, "bin")
    env = {**host.env, "VIRTUAL_ENV": target.prefix, VARIABLE: folder}
    env["PATH"] = os.pathsep.join(filter(None, (path, host.env.get("PATH"))))
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (HOOK, host.env.get("PYTHONPATH"))))
    return env | ({cache_places.INDUCTOR: cache} if cache else {})


def _files(root: str) -> set[str]:
    return {item.path for item in walk(root).files} if os.path.isdir(root) else set()


def _told(folder: str) -> Iterator[Told]:
    """Read what was told; what is not as the hook writes it was told by somebody else."""
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            try:
                yield _parsed(json.loads(regular(os.path.join(folder, name), _LIMIT, follow=False)))
            except (ValueError, TypeError, AttributeError, RecursionError):
                continue


def _parsed(value: Any) -> Told:  # noqa: ANN401 - JSON
    counters = {
        str(group): {str(name): int(count) for name, count in counted.items() if isinstance(count, int)}
        for group, counted in value["counters"].items()
    }
    switches = {name: value.get(name) for name in ("aot_cache", "fx_cache", "caches_off")}
    return Told(str(value.get("cache", "")), counters, switches)


def _sum(told: Sequence[Told]) -> dict[str, Counter[str]]:
    total: dict[str, Counter[str]] = {}
    for one in told:
        for group, counted in one.counters.items():
            total.setdefault(group, Counter()).update(counted)
    return total


def _of_command(status: int) -> Iterator[str]:
    if status > 0:
        yield f"the command failed with status {status}"
    elif status < 0:
        yield f"the command died by signal {-status}"


def judged(told: Sequence[Told], total: Mapping[str, Mapping[str, int]], root: str) -> Iterator[str]:
    """Say what speaks against a warm start; graphs that come with AOTAutograd's entries need no hits of their own."""
    if not told:
        yield "no process told of torch: none imported it, or they ran with -I, -E or -S, or did not end by themselves"
        return
    if any(one.switches["caches_off"] for one in told):
        yield "the compile caches are switched off (TORCHINDUCTOR_FORCE_DISABLE_CACHES)"
        return
    if any(one.switches["aot_cache"] is False for one in told):
        yield "AOTAutograd's cache is switched off"
    yield from hits.missed(hits.AUTOGRAD, total)
    yield from hits.misses(hits.GRAPHS, total)
    others = {one.cache for one in told if one.cache and os.path.realpath(one.cache) != os.path.realpath(root)}
    if others:
        yield f"it used another cache, {min(others)}: name that with --cache"
