"""Why a step of a smoke run failed, and what cures it: from the error's own words, and from what the node shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from shlex import quote
from typing import Any

from envdoctor import proof, signatures, symbols
from envdoctor.facts.distributions import Distributions
from envdoctor.facts.extensions import Extensions
from envdoctor.facts.loader import Loader
from envdoctor.facts.nvidia_wheels import NvidiaWheels
from envdoctor.facts.owners import Owners
from envdoctor.facts.smoke import Attempt, Failure, Smoke
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.printable import redact
from envdoctor.views.devices import Devices
from envdoctor.views.occupants import Occupants

LAST_LINES = 10
"""Last lines of each kind that are shown of a failure without a known signature."""
TOLD_BETTER = frozenset({"module-missing", "segmentation-fault"})
"""Signatures that tell less than what is there: that torch is not installed, or the stacks of a crash."""
PAYLOADS = "/envdoctor/payloads/"
LINE = 300
"""Characters of a line that are shown."""
AFTER = 3
"""Lines that are shown after the one by which a failure is known: a compiler's own words."""
HEAD = 200
"""Characters of an unknown error that fit in a sentence."""
OWN: Sequence[tuple[str, str, Sequence[str]]] = (
    ("No module named 'torch'", "torch is not installed there", ("name another environment with --target",)),
    ("is built without CUDA", "", ("envdoctor explain packages/torch-cpu-build", "or name --devices cpu")),
    ("so there is no cuda:", "", ("choose among the visible GPUs; `--devices all` takes them all",)),
)
"""Words of an error -> what they mean (its own words if ""), and what to do: what no log of a job would show."""
KILLED = "SIGKILL"
"""The signal that comes from outside: from a person, or from the kernel when memory runs out."""
LISTED = 8
"""Damaged entries that one step names."""
MEMORY = frozenset({"memory-held-by-others", "out-of-memory", "out-of-memory-untold", "device-busy"})
"""Signatures that make one ask who else is on the GPU."""
DAMAGE = frozenset({"invalid-kernel-image", "cache-empty-module", "cache-damaged-module", "cache-damaged-library"}) | {
    "damaged-library",
    "cache-empty-kernel",
    "triton-cache-damaged",
}
"""Signatures that a damaged cache entry leaves."""
_NOISE = re.compile(
    r"^\s*(?:\^+|~+[~^]*)?\s*$|^Set TORCH|^You can suppress|^For even more developer|^The above exception"
    r"|^Search for `cuda|^CUDA kernel errors might|^For debugging consider passing|^Compile with `TORCH_USE_CUDA_DSA`"
)
"""Lines that say nothing: carets, and torch's advice for its own developers."""
_WAITING = re.compile(r"/(?:threading|queue|selectors|subprocess|_base)\.py$|^<frozen ")
"""Files of the standard library in which one waits for something else, or imports it."""
_TRACEBACK = "Traceback (most recent call last)"
_FRAME = re.compile(r'File "([^"\n]*)", line (\d+) in (.+)')
_BLANK = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Diagnoses:
    """What is to be said of each failed step."""

    smoke: Smoke
    raised: Mapping[tuple[str, str], Finding] = field(default_factory=dict)
    """(device, step) -> the finding, for steps that failed by an error or by the end of their process."""

    def of(self, step: str) -> Iterator[Finding]:
        """Yield the findings of one step: errors, and figures that are too far off."""
        for attempt in self.smoke.of(step):
            if (attempt.device, step) in self.raised:
                yield self.raised[attempt.device, step]
            elif attempt.state == "passed":
                yield from proof.judged(attempt)


@dataclass(frozen=True, slots=True)
class _Node:
    """What the node shows beside the error."""

    smoke: Smoke
    devices: Devices | Unavailable
    occupants: Occupants | Unavailable
    loader: Loader | Unavailable
    nvidia_wheels: NvidiaWheels | Unavailable
    distributions: Distributions | Unavailable
    owners: Owners | Unavailable
    extensions: Extensions | Unavailable


def view(
    smoke: Smoke,
    devices: Devices | Unavailable,
    occupants: Occupants | Unavailable,
    loader: Loader | Unavailable,
    nvidia_wheels: NvidiaWheels | Unavailable,
    distributions: Distributions | Unavailable,
    owners: Owners | Unavailable,
    extensions: Extensions | Unavailable,
) -> Diagnoses:
    """Diagnose every failed attempt but those that hung, which have a probe of their own."""
    node = _Node(smoke, devices, occupants, loader, nvidia_wheels, distributions, owners, extensions)
    return Diagnoses(
        smoke,
        {
            (attempt.device, attempt.step): _finding(attempt, attempt.failure, node)
            for attempt in smoke.attempts
            if attempt.failure is not None and attempt.failure.how != "hung"
        },
    )


@dataclass(frozen=True, slots=True)
class _Said:
    """What was made out."""

    what: str
    cure: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)


def _finding(attempt: Attempt, failure: Failure, node: _Node) -> Finding:
    said = _damage(failure, node) or _signature(attempt, failure, node) or _unknown(failure)
    error = redact((failure.causes or (failure.message,))[0])[:2000]  # hidden first: a cut secret may not look like one
    evidence = {"step": attempt.step, "error": error, **said.evidence}
    if failure.stacks:
        evidence["stacks"] = failure.stacks.splitlines()[:100]
    return Finding(Severity.ERROR, attempt.device, f"{attempt.named} failed: {said.what}", evidence, said.cure)


def _damage(failure: Failure, node: _Node) -> _Said | None:
    """Find the damaged cache entry that the code had in hand.

    A crash in native code names none, and where a damaged library cannot be loaded its stead may fail in any way: with
    no other cause known, each entry may be it.
    """
    entries = node.smoke.damage.entries if node.smoke.damage and KILLED not in failure.message else ()
    told = "\n".join((*failure.paths, failure.error, failure.printed))
    meant = [entry for entry in entries if entry.path in told or (entry.remove != entry.path and entry.remove in told)]
    how = ""
    if not meant and entries:
        _, match = _known(failure)
        meant = [entry for entry in entries if not entry.harmless] if match is None or match.id in DAMAGE else []
        how = f"{_head(failure)}; perhaps because "
    if not meant:
        return None
    first, more = meant[0], _more(len(meant) - 1)
    removed = list(dict.fromkeys(entry.remove for entry in meant))
    return _Said(
        f"{how}the cache entry {first.path} {first.what}{more}",
        tuple(_removal(removed)),
        {
            "signature": "damaged-cache-entry",
            "entries": [entry.path for entry in meant[:LISTED]],
            "count": len(meant),
            "remove": removed,
            "then": first.consequence,
        },
    )


def _more(others: int) -> str:
    if not others:
        return ""
    return f", and {others} entries more are damaged" if others > 1 else ", and one entry more is damaged"


def _removal(removed: Sequence[str]) -> Iterator[str]:
    yield f"rm -r {' '.join(quote(path) for path in removed[:LISTED])}"
    if len(removed) > LISTED:
        yield f"remove the {len(removed) - LISTED} others too: --format json lists them as evidence.remove"


def _signature(attempt: Attempt, failure: Failure, node: _Node) -> _Said | None:
    """Recognise the error by its words."""
    text, match = _known(failure)
    if match is None:
        return None
    below = takewhile(lambda line: not line.startswith(_TRACEBACK), text.split("\n")[match.line :])
    after = [redact(line)[:LINE] for line in islice(below, AFTER) if not _NOISE.match(line)]
    said = _Said(match.says, match.cure, {"signature": match.id, "last_lines": [match.text, *after]})
    if match.id in MEMORY:
        return _out_of_memory(attempt, node, said)
    return _undefined_symbol(text, node, said)


def _known(failure: Failure) -> tuple[str, signatures.Match | None]:
    """Return what is known of it, with the text that shows it: the exception's own first, then those of compilers."""
    texts = (failure.error, failure.printed, failure.stacks, failure.message)
    known = ((text, signatures.first(text)) for text in texts)
    return next(((text, match) for text, match in known if match and match.id not in TOLD_BETTER), ("", None))


def _out_of_memory(attempt: Attempt, node: _Node, said: _Said) -> _Said:
    """Say who else is on the GPU."""
    if isinstance(node.devices, Unavailable) or isinstance(node.occupants, Unavailable):
        return said
    gpu = next((device.gpu for device in node.devices.visible if device.subject == attempt.device), None)
    who = node.occupants.of(gpu) if gpu is not None else ""
    if gpu is None or not who:
        return said
    held = [{"pid": item.pid, "bytes": item.used} for item, _ in node.occupants.by_gpu.get(gpu.uuid, ())]
    what = said.what if said.evidence["signature"] == "device-busy" else "out of memory"
    return _Said(
        f"{what}, and {attempt.device} is used by {who}",
        ("wait for it, or choose other GPUs with --devices", *said.cure),
        {**said.evidence, **gpu.identity, "processes": held},
    )


def _undefined_symbol(text: str, node: _Node, said: _Said) -> _Said:
    """Say who ships the symbol that is missing, if one is."""
    found = symbols.trace(
        text,
        loader=node.loader,
        nvidia_wheels=node.nvidia_wheels,
        distributions=node.distributions,
        owners=node.owners,
        extensions=node.extensions,
    )
    if found is None:
        return said
    evidence = {"symbol": found.symbol, "library": found.library, "soname": found.soname, "resolved": found.resolved}
    return _Said(symbols.said(found), said.cure, {**said.evidence, **evidence, "shipped_by": list(found.shipped_by)})


def _unknown(failure: Failure) -> _Said:
    """Show the last words: those of the compilers that ran, then those of the exception or of the crash."""
    for words, meaning, cure in OWN:
        if words in failure.message:
            return _Said(meaning or _head(failure), tuple(cure), {"signature": None})
    printed, raised, crashed = (
        [line for line in said if not _NOISE.match(line)]
        for said in (failure.printed.splitlines(), _outside(failure.traceback), _crashed(failure.stacks))
    )
    told = [redact(line)[:LINE] for line in (*printed[-LAST_LINES:], *raised[-LAST_LINES:], *crashed)]
    return _Said(_head(failure), (), {"signature": None, "last_lines": told})


def _outside(traceback: Sequence[str]) -> Iterator[str]:
    """Leave out the frames of the payload: a reader looks for his torch's. A frame is its line and the source below."""
    ours = False
    for line in traceback:
        if line.startswith("  File "):
            ours = PAYLOADS in line
        elif not line.startswith("    "):
            ours = False
        if not ours:
            yield line


def _head(failure: Failure) -> str:
    """Return the beginning of what an error says, as far as it fits in a sentence."""
    head = next(iter(failure.message.splitlines()), "")
    what = redact(": ".join(part for part in (failure.type, head) if part))
    return what if len(what) <= HEAD else f"{what[:HEAD]}..."


def _crashed(stacks: str) -> Sequence[str]:
    """Return what faulthandler says of a crash: the first line, and the innermost frames of the thread at fault."""
    blocks = _BLANK.split(stacks.strip())
    own = next((block for block in blocks if block.startswith("Current thread")), "")
    return (*blocks[0].splitlines()[:1], *own.splitlines())[:LAST_LINES]


def stuck_at(stacks: str) -> str:
    """Say where the main thread was, by its innermost frame that does more than wait; "" if nothing was written.

    faulthandler lists the threads from the newest to the main one, and of each the innermost frame first.
    """
    blocks: Sequence[str] = [block for block in _BLANK.split(stacks) if "File " in block]
    frames: Sequence[tuple[str, str, str]] = _FRAME.findall(blocks[-1]) if blocks else ()
    if not frames:
        return ""
    busy = [frame for frame in frames if not _WAITING.search(frame[0])]
    path, line, function = (busy or frames)[0]
    return f"{path}:{line} in {function.strip()}"
