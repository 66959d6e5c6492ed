"""What a warm-up came to: whether it compiled, saved and covered what it should; pure.

AOTAutograd saves an entry with a graph that needs gradients only once its backward is compiled, which is at the first
`backward()`; one without gradients at once (try_save_cache_entry in torch/_functorch/_aot_autograd/graph_compile.py,
and CompiledFunction.backward in runtime_wrappers.py, torch 2.11.0 and 2.13.0).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from envdoctor import hits
from envdoctor.cache import counters
from envdoctor.cache.counters import Total
from envdoctor.views.warmth import Warmth
from envdoctor.warming.values import Asked, Cold, Fault, Run, Warmed

KIND = "aotautograd"
"""The kind of keys that a start needs: a miss there traces and compiles again."""
DEVICE = "ENVDOCTOR_DEVICE"
"""As the payload has it."""
MORE = 5
"""Times the limit that one is advised to try next."""
_LOGS = 'see why: TORCH_LOGS="torch._functorch._aot_autograd.autograd_cache"'


def of_first(run: Run, device: str, root: str, asked: Asked, alone: str = "") -> Iterator[Fault]:
    """Judge a warm-up; one that failed is not asked for more. `alone` runs it without the doctor."""
    failed = next(_failed(run, asked), None)
    if failed:
        yield Fault("command", failed, tuple(_tries(run, asked, alone)))
        return
    hindered = [Fault("untold", said) for said in counters.hindered(run.told, root)]
    yield from hindered
    if not hindered:
        yield from _of_counters(counters.total(run.told))
        yield from _of_device(run, device)


def _failed(run: Run, asked: Asked) -> Iterator[str]:
    if run.raised:
        yield run.raised
    elif run.status is None:
        yield f"{asked.name}: no end within {asked.limit:g} s: it was ended with all it had started"
    else:
        yield from counters.of_command(run.status, asked.name)


def _tries(run: Run, asked: Asked, alone: str) -> Iterator[str]:
    """Say what to do about a run that failed."""
    if run.status is None and asked.limit is not None:
        yield f"let it have more time: --timeout {MORE * asked.limit:g}"
    elif run.raised:
        yield "see where: its traceback is above, on standard error"
    else:
        yield "see what it printed last: it is above, on standard error"
    if alone:
        yield f"or run it by itself: {alone}"


def _of_counters(total: Total) -> Iterator[Fault]:
    graphs, entries = (_counted(cache, total) for cache in (hits.GRAPHS, hits.AUTOGRAD))
    compiled = graphs["hit"] + graphs["miss"]
    bypassed = {cache: counted["bypass"] for cache, counted in ((hits.AUTOGRAD, entries), (hits.GRAPHS, graphs))}
    if not any((entries["hit"], entries["miss"], *bypassed.values())):
        yield _empty(compiled)
    for cache, count in bypassed.items():
        if count:
            said = f"{cache}_bypass {count}: what is not cached is compiled anew in every process"
            yield Fault("bypass", said, (_LOGS,))
    missed, lost = entries["miss"], entries["miss"] - entries["saved"]
    if lost > 0 and not any(bypassed.values()):
        yield _unsaved(missed, lost, backward=lost == missed and graphs["miss"] >= 2 * missed)


def _counted(cache: str, total: Total) -> Mapping[str, int]:
    found = total.get(hits.GROUPS[cache], {})
    return {ending: found.get(f"{cache}_{ending}", 0) for ending in ("hit", "miss", "bypass", "saved")}


def _empty(compiled: int) -> Fault:
    if compiled:
        return Fault("empty", f"{compiled} graphs were compiled, and AOTAutograd's cache was never asked for them")
    return Fault(
        "empty",
        "it compiled nothing for the cache: AOTAutograd's had neither a hit nor a miss",
        ("let it call the compiled model; TORCH_COMPILE_DISABLE and backends other than inductor leave nothing there",),
    )


def _unsaved(missed: int, lost: int, *, backward: bool) -> Fault:
    of = f"{lost} of {missed} graph{'s' if missed > 1 else ''}"
    if backward:
        said = f"AOTAutograd saved no entry for {of}, though the backward was compiled: its warning above says why"
        return Fault("unsaved", said, (_LOGS,))
    return Fault(
        "forward-only",
        f"forward only: {of} ran no backward, so AOTAutograd's entry was never saved",
        ("let it run forward and backward, as training does: loss.backward()",),
    )


def _of_device(run: Run, device: str) -> Iterator[Fault]:
    """Say so if a GPU was asked for and only others were used."""
    known = [told.devices for told in run.told if told.devices is not None]
    used = frozenset[str]().union(*known)
    if device.startswith("cuda:") and known and device not in used:
        said = f"it ran on {', '.join(sorted(used))} and never on {device}" if used else "it used no GPU"
        yield _elsewhere(said, device)


def _elsewhere(said: str, device: str) -> Fault:
    return Fault("device", said, (f"let it use the current device, or the one that {DEVICE} names: {device}",))


def of_proof(run: Run, root: str, asked: Asked) -> Iterator[Fault]:
    """Judge a process that had to start warm."""
    said = [*_failed(run, asked), *counters.judged(run.told, counters.total(run.told), root)]
    said += hits.grown(run.new, len(run.new), shared=True)
    yield from (Fault("not-proven", f"a fresh process: {each}") for each in said)


def of_keys(warmed: Warmed, expect: int | None, share: int) -> Iterator[Fault]:
    """Compare what there is for a device with what is expected of it, or with what is remembered."""
    if warmed.after is None or warmed.faults:
        return
    keys = warmed.after.keys(KIND, warmed.device)
    if expect is not None and keys < expect:
        yield _partial(f"{keys} of the {expect} {KIND} keys that --expect-keys asks for", warmed.device)
    elif expect is None and warmed.mark and keys * 100 < warmed.mark * share:
        said = f"{keys} of {warmed.mark} {KIND} keys that were there once, which is less than {share}%"
        yield _partial(said, warmed.device, "if it is meant to be so: envdoctor cache accept")
    elif not keys:
        others = sorted(_devices(warmed.after))
        there = f"; there are some for {', '.join(others)}" if others else ""
        yield _elsewhere(f"the cache has no {KIND} key for {warmed.device}{there}", warmed.device)


def _partial(said: str, device: str, *more: str) -> Fault:
    steps = ("let it compile all that the job does: every model, shape, dtype and mode", *more)
    return Fault("partial", f"covers a part only: {device} has {said}", steps)


def _devices(seen: Warmth) -> Iterator[str]:
    return (device for (kind, device), keys in seen.counts.items() if kind == KIND and device and keys)


def cold(
    warm: Iterable[str], visible: Iterable[str], marks: Mapping[str, int], seen: Warmth, share: int, *, chosen: bool
) -> Iterator[Cold]:
    """Name the devices that were not warmed and lack keys; they count where a mark covers them and none were named."""
    done = set(warm)
    for device in dict.fromkeys((*visible, *sorted(marks))):
        keys, mark = seen.keys(KIND, device), marks.get(device)
        short = keys * 100 < mark * share if mark else not keys
        if device not in done and short:
            yield Cold(device, keys, mark, counts=bool(mark) and not chosen)
