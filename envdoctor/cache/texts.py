"""What the commands about saves print; pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from envdoctor.cache.manifest import Manifest
from envdoctor.cache.proving import Proof
from envdoctor.cache.pruning import Pruned
from envdoctor.cache.restoring import Restored
from envdoctor.cache.workflow import Saved, Shelf, Verified
from envdoctor.printable import printable, redact, size_of


def _lines(*lines: str) -> str:
    return "".join(f"{printable(redact(line))}\n" for line in lines)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _files(manifest: Manifest) -> str:
    return f"{_count(len(manifest.files), 'file')}, {size_of(manifest.size)}"


def _left(left: Mapping[str, int]) -> list[str]:
    said = ", ".join(f"{reason} ({count:,})" for reason, count in sorted(left.items()))
    return [f"left out: {said}"] if said else []


def saved(done: Saved) -> str:
    """Say what was saved, where, and what was not."""
    manifest = done.manifest
    if not done.written:
        head = f"nothing to save: {manifest.cache} is as it was saved at {manifest.taken_at}"
        return _lines(head, f"in {done.path} ({_files(manifest)})", *_removed(done))
    return _lines(
        f"saved {manifest.cache} ({_files(manifest)})",
        f"in {done.path} ({size_of(done.size)})",
        f"made for {made(manifest)}",
        *_left(manifest.left_out),
        *_removed(done),
    )


def _removed(done: Saved) -> list[str]:
    return [f"removed {path}" for path in done.removed]


def made(manifest: Manifest) -> str:
    """Say what a save was made for."""
    of = manifest.made
    parts = [
        f"torch {of.torch}",
        f"triton {of.triton}" if of.triton else "",
        f"Python {of.python}" if of.python else "",
    ]
    return ", ".join([*filter(None, parts), *of.archs])


def shelf(found: Shelf) -> str:
    """List the saves, two lines each."""
    if not found.saves:
        return _lines(f"no saves in {found.folder}")
    return _lines(*(line for item in found.saves for line in _shelved(item)))


def _shelved(item: Any) -> Iterator[str]:  # noqa: ANN401
    if item.manifest is None:
        yield f"{item.path}  {size_of(item.size)}"
        yield f"    {item.problem}"
        return
    yield f"{item.path}  {size_of(item.size)}"
    yield f"    {item.manifest.taken_at} on {item.manifest.host}: {item.manifest.cache} ({_files(item.manifest)})"
    yield f"    made for {made(item.manifest)}"


def shelf_json(found: Shelf) -> str:
    """List the saves as JSON."""
    saves = [
        {"path": item.path, "bytes": item.size}
        | ({"problem": item.problem} if item.manifest is None else _described(item.manifest))
        for item in found.saves
    ]
    return json.dumps({"schema": 1, "store": found.folder, "saves": _safe(saves)}, indent=2) + "\n"


def _described(manifest: Manifest) -> dict[str, Any]:
    of = manifest.made
    return {
        "taken_at": manifest.taken_at,
        "host": manifest.host,
        "cache": manifest.cache,
        "target": manifest.target,
        "files": len(manifest.files),
        "content_bytes": manifest.size,
        "torch": of.torch,
        "torch_git": of.torch_git,
        "cuda": of.cuda,
        "triton": of.triton,
        "python": of.python,
        "machine": of.machine,
        "archs": list(of.archs),
        "left_out": dict(manifest.left_out),
    }


def _safe(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return printable(redact(value))
    if isinstance(value, list):
        return [_safe(item) for item in value]
    return {_safe(key): _safe(item) for key, item in value.items()} if isinstance(value, dict) else value


def verified(done: Verified) -> str:
    """Say that all is well."""
    manifest = done.manifest
    return _lines(
        f"{done.path}: all is what was saved ({_files(manifest)}, {done.seconds:.1f} s)",
        f"{manifest.cache} of {manifest.host} at {manifest.taken_at}, made for {made(manifest)}",
    )


def restored(done: Restored) -> str:
    """Say what was brought back, and what was not."""
    manifest = done.manifest
    lines = [f"restored {_count(done.added, 'file')} into {done.path} ({done.why})", f"from {done.source}"]
    if done.kept:
        lines.append(f"kept {_count(len(done.kept), 'file')} that were there already")
    if done.bound:
        lines.append(
            f"left out {_count(done.bound, 'file')} of triton/: they name {manifest.cache}, where they were saved"
        )
    if done.other_venv:
        lines.append(f"saved for {done.other_venv}: C++ kernels are compiled again, since their keys hold that path")
    return _lines(*lines)


def pruned(done: Pruned) -> str:
    """Say what was taken out, or would be."""
    acted = done.quarantine is not None
    lines = [] if done.complete else ["part of the cache could not be looked at"]
    for item in done.removals:
        below = "" if item.damaged == item.path else f"{item.damaged.removeprefix(f'{item.path}/')} "
        word = "removed" if acted else "stale" if item.kind == "stale" else "damaged"
        lines += [f"{word}  {item.path}", f"    {below}{item.why}: {item.consequence}"]
    lines += [f"left alone, written to within the last minute: {path}" for path in done.young]
    if acted:
        count = _count(len(done.removals), "entry").replace("entrys", "entries")
        lines.append(f"{count} moved to {done.quarantine}; delete it once nobody misses them")
    elif done.removals:
        lines.append("nothing was removed: --yes moves these into a quarantine beside the cache")
    else:
        lines.append(f"{done.cache}: nothing {done.sought}")
    return _lines(*lines)


def pruned_json(done: Pruned) -> str:
    """Say it as JSON."""
    entries = [
        {
            "path": item.path,
            "damaged": item.damaged,
            "kind": item.kind,
            "why": item.why,
            "consequence": item.consequence,
        }
        for item in done.removals
    ]
    found = {"cache": done.cache, "quarantine": done.quarantine, "complete": done.complete, "young": list(done.young)}
    return json.dumps({"schema": 1, **_safe(found), "entries": _safe(entries)}, indent=2) + "\n"


def proved(done: Proof) -> str:
    """Say whether a command started warm, and why not."""
    counted = ", ".join(f"{name} {count}" for name, count in sorted(done.counters.items())) or "nothing"
    seen = f"{_count(done.processes, 'process').replace('processs', 'processes')} with torch, {done.seconds:.1f} s"
    head = "NOT PROVEN" if done.faults else "PROVEN"
    what = "did not start warm" if done.faults else "hits, no miss, no bypass and no new file"
    return _lines(
        f"{head}  {' '.join(done.command)}: {what}",
        *(f"    {fault}" for fault in done.faults),
        f"cache {done.cache}",
        f"counted {counted} ({seen})",
    )


def proved_json(done: Proof) -> str:
    """Say it as JSON."""
    found = {
        "proven": not done.faults,
        "command": list(done.command),
        "cache": done.cache,
        "status": done.status,
        "faults": list(done.faults),
        "counters": dict(done.counters),
        "processes": done.processes,
        "seconds": round(done.seconds, 3),
    }
    return json.dumps({"schema": 1, **_safe(found)}, indent=2) + "\n"
