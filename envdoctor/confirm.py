"""A log's known failures and the probes' findings, brought together: what the log shows has really happened. Pure.

A match is held against a finding only if both are about one thing: one full disk is not another. A match that names
nothing counts for whatever its probe found.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from envdoctor.facts.job_log import JobLog
from envdoctor.facts.node import Node
from envdoctor.model import Finding, Outcome, Severity, Unavailable
from envdoctor.signatures import Match

UNEXPLAINED = "log/known-failure"
"""The probe that reports what the log shows and no other probe found; its subjects are ids of signatures."""
_SHOWN = "; the log shows it ("
_PATH = re.compile(r"([^/\s]+)/\Z")
"""The last directory of a path that a file name follows."""
_NAME = 255
"""Characters of a file name."""
_LIBRARY = re.compile(r"\blib(\w{2,40})\.so\b")
_RUNTIME = re.compile(r"lib(?:cudart|cublas|cublasLt|cufft|cusparse|cusolver|curand|nvJitLink|nvrtc)\.so\.(\d+)")
"""Libraries that carry the major of CUDA in their soname, or that of a part of it."""


def confirmed(finding: Finding, probe: str, log: JobLog | Unavailable, node: Node | Unavailable) -> Finding:
    """Return a finding as it is with the log at hand.

    If the log shows what this probe found, the finding says where, and is as severe as the signature, never less than
    it was. The first line that shows it is named. One that has no steps of its own gets those of the signature.
    """
    if isinstance(log, Unavailable):
        return finding
    match = next((match for match in log.matches if _shows(match, probe, finding, node)), None)
    if match is None:
        return finding
    shown = {"file": log.path, "line": match.line, "text": match.text, "signature": match.id}
    return replace(
        finding,
        severity=max(finding.severity, Severity[match.severity.upper()]),
        message=f"{finding.message}{_SHOWN}{log.place(match)})",
        evidence={**finding.evidence, "log": shown},
        remedy=finding.remedy or match.cure,
    )


def explained(outcomes: Sequence[Outcome], log: JobLog | Unavailable, node: Node | Unavailable) -> tuple[Outcome, ...]:
    """Return the outcomes without those reports of the log alone that another probe's finding explains.

    A muted finding explains nothing: that it really happened is news.
    """
    if isinstance(log, Unavailable):
        return tuple(outcomes)
    found = [(outcome.probe, finding) for outcome in outcomes for finding in outcome.findings]
    left = {
        (match.id, match.line)
        for match in log.matches
        if not any(_shows(match, probe, finding, node) for probe, finding in found)
    }
    return tuple(_without(outcome, left) if outcome.probe == UNEXPLAINED else outcome for outcome in outcomes)


def _without(outcome: Outcome, left: AbstractSet[tuple[str, int]]) -> Outcome:
    kept = (
        finding
        for finding in outcome.findings
        if "signature" not in finding.evidence or (finding.subject, finding.evidence["line"]) in left
    )
    return replace(outcome, findings=tuple(kept))


def _shows(match: Match, probe: str, finding: Finding, node: Node | Unavailable) -> bool:
    """Tell whether a match shows what a finding is about."""
    meant = (confirm.partition(":") for confirm in match.confirms)
    if not any(name == probe and subject in ("", finding.subject) for name, _, subject in meant):
        return False
    same = [_same(name, thing, match, finding, node) for name, thing in match.things.items()]
    return True in same or False not in same


def _same(name: str, thing: str, match: Match, finding: Finding, node: Node | Unavailable) -> bool | None:
    """Tell whether a finding is about a thing that a match names; None if that cannot be told."""
    said = _said(finding)
    if name == "arch":
        return None if "arch" not in finding.evidence else finding.evidence["arch"] == thing.rstrip("af")
    if name in ("place", "written"):
        return _on_one_disk(thing, finding.subject, node)
    if name in _LISTED:
        return _LISTED[name](thing, finding)
    if name == "symbol":
        return _whose(thing, said)
    if name == "version":
        return _mentions(said, thing.removeprefix("GLIBC_"))
    if name == "path":
        return _mentions(said, os.path.basename(thing), os.path.basename(os.path.dirname(thing)))
    runtime = _RUNTIME.fullmatch(thing)
    start = match.text.find(f"/{thing}")
    folder = _PATH.search(match.text, max(0, start - _NAME), start + 1) if start >= 0 else None
    return _mentions(said, thing, folder[1] if folder else "") or bool(
        runtime and _mentions(said, f"CUDA {runtime[1]}")
    )


def _said(finding: Finding) -> str:
    """Return all that a finding says, but for what the log added to it."""
    message = finding.message.partition(_SHOWN)[0]
    evidence = {key: value for key, value in finding.evidence.items() if key != "log"}
    return "\n".join([finding.subject, message, *_strings(evidence)])


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _strings(item)
    else:
        yield str(value)


def _mentions(said: str, name: str, folder: str = "") -> bool:
    """Tell whether a name stands there as a word of its own, and if its directory is named on both sides, the same one.

    Extensions of two packages may both be called `_C.abi3.so`.
    """
    for found in re.finditer(rf"(?<![\w.+-]){re.escape(name)}(?![\w+-])", said):
        path = _PATH.search(said, max(0, found.start() - _NAME), found.start())
        if path is None or not folder or path[1] == folder:
            return True
    return False


def _is_package(module: str, finding: Finding) -> bool:
    """Tell whether a finding is about the distribution that is called like a module's first part."""
    name = re.sub(r"[-_.]+", "-", module.partition(".")[0]).lower()
    return name in {finding.subject, *(str(item["name"]) for item in finding.evidence.get("requirements", ()))}


def _is_at(pci: str, finding: Finding) -> bool:
    return _address(pci) in {_address(text) for text in (finding.subject, str(finding.evidence.get("pci", "")))}


def _address(pci: str) -> str:
    """Return domain, bus and slot as the kernel's log has them: NVML writes `00000000:01:00.0` for `0000:01:00`."""
    return pci.partition(".")[0].lower()[-10:]


def _is_process(pid: str, finding: Finding) -> bool:
    """Tell whether a finding names a process as in the way of the job."""
    return any(str(item["pid"]) == pid for key in ("processes", "dead") for item in finding.evidence.get(key, ()))


def _is_gpu(number: str, finding: Finding) -> bool:
    """Compare torch's number of a GPU; where a finding has only NVML's, that one."""
    device = finding.evidence.get("device")
    return device == f"cuda:{number}" if device else str(finding.evidence.get("nvml_index")) == number


_LISTED: Mapping[str, Callable[[str, Finding], bool | None]] = {
    "gpu": _is_gpu,
    "module": _is_package,
    "pci": _is_at,
    "pid": _is_process,
    "xid": lambda _code, _finding: None,
}
"""How to compare what is told by a number or a name that findings hold in their evidence; a GPU has many Xids."""


def _whose(symbol: str, said: str) -> bool | None:
    """Tell whether a library that is named there has symbols of this beginning: libnccl has ncclCommResume."""
    plain = symbol.lstrip("_").lower()
    parts = {name.lower().partition("_")[0].removesuffix("rt") for name in _LIBRARY.findall(said)}
    return True if any(len(part) > 2 and plain.startswith(part) for part in parts) else None


def _on_one_disk(path: str, subject: str, node: Node | Unavailable) -> bool:
    """Compare the mounts of two paths; where they are not known, the one has to be below the other."""
    path, subject = os.path.normpath(path), os.path.normpath(subject)
    mine, theirs = (None if isinstance(node, Unavailable) else node.mount_of(each) for each in (path, subject))
    if mine is None or theirs is None:
        return path == subject or path.startswith(subject.rstrip("/") + "/")
    return mine.point == theirs.point or (mine.source == theirs.source and mine.source.startswith("/dev/"))
