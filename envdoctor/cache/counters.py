"""What the processes of a user's command told of torch's compile caches, through a start-up hook in each of them."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envdoctor import activation, hits, hooks
from envdoctor.cache.tree import walk
from envdoctor.environ import applied
from envdoctor.facts import cache_places
from envdoctor.model import Target
from envdoctor.system.host import Host
from envdoctor.system.reading import regular

VARIABLE = "ENVDOCTOR_COUNTERS"
"""As the payload has it."""
_LIMIT = 1 << 20
"""Bytes that one process may tell."""
Total = Mapping[str, Mapping[str, int]]
"""Group of counters -> name -> count, of all processes together."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one process told at its end."""

    cache: str
    counters: Mapping[str, Mapping[str, int]]
    switches: Mapping[str, bool | None]
    devices: frozenset[str] | None = None
    """Devices that it has used memory of, as torch names them; None where that is not known."""


def environment(target: Target, host: Host, folder: str, cache: str | None) -> dict[str, str]:
    """Return the variables that the command finds: the caller's with the target activated, and the hook.

    Raises UsageError as `activation.changes` and `hooks.first` do.
    """
    prefix = target.prefix
    active = applied(host.env, activation.changes(prefix, host.env, venv=activation.is_venv(prefix)))
    env = hooks.first(hooks.COUNTERS, active) | {VARIABLE: folder}
    return env | ({cache_places.INDUCTOR: cache} if cache else {})


def files(root: str) -> set[str]:
    """Return the paths of what a cache holds, none if it is not there."""
    return {item.path for item in walk(root).files} if os.path.isdir(root) else set()


def told(folder: str) -> Iterator[Told]:
    """Read what was told; what is not as the hook writes it was told by somebody else."""
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            try:
                yield _parsed(json.loads(regular(os.path.join(folder, name), _LIMIT, follow=False)))
            except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
                continue


def _parsed(value: Any) -> Told:  # noqa: ANN401 - JSON
    counters = {
        str(group): {str(name): int(count) for name, count in counted.items() if isinstance(count, int)}
        for group, counted in value["counters"].items()
    }
    switches = {name: value.get(name) for name in ("aot_cache", "fx_cache", "caches_off")}
    devices = value.get("devices")
    used = None if devices is None else frozenset(str(device) for device in devices)
    return Told(str(value.get("cache", "")), counters, switches, used)


def total(told: Sequence[Told]) -> dict[str, Counter[str]]:
    """Add up what all processes told."""
    found: dict[str, Counter[str]] = {}
    for one in told:
        for group, counted in one.counters.items():
            found.setdefault(group, Counter()).update(counted)
    return found


def shown(found: Total) -> dict[str, int]:
    """Return those of the caches alone, by name."""
    return {name: count for group in found.values() for name, count in group.items() if "_cache_" in name}


def of_command(status: int, name: str = "the command") -> Iterator[str]:
    """Say how a command ended, if that was no good end; its status is negative for a signal."""
    if status > 0:
        yield f"{name} failed with status {status}"
    elif status < 0:
        yield f"{name} died by signal {-status}"


def hindered(told: Sequence[Told], root: str) -> Iterator[str]:
    """Say why no counter can tell of this cache; the first reason may make all others void."""
    if not told:
        yield "no process told of torch: none imported it, or they ran with -I, -E or -S, or did not end by themselves"
        return
    if any(one.switches["caches_off"] for one in told):
        yield "the compile caches are switched off (TORCHINDUCTOR_FORCE_DISABLE_CACHES)"
        return
    if any(one.switches["aot_cache"] is False for one in told):
        yield "AOTAutograd's cache is switched off"
    others = {one.cache for one in told if one.cache and os.path.realpath(one.cache) != os.path.realpath(root)}
    if others:
        yield f"it used another cache, {min(others)}: name that with --cache"


def judged(told: Sequence[Told], total: Total, root: str) -> Iterator[str]:
    """Say what speaks against a warm start; graphs that come with AOTAutograd's entries need no hits of their own."""
    yield from hindered(told, root)
    if told and not any(one.switches["caches_off"] for one in told):
        yield from hits.missed(hits.AUTOGRAD, total)
        yield from hits.misses(hits.GRAPHS, total)
