"""Torch's build and its FX-tracing flag, and the interpreter that runs it."""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.changes.events import Event, Side, Weight, both, changed, differing, yes
from envdoctor.facts.arch_list import ArchList
from envdoctor.facts.fx_flag import FxFlag
from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.torch_build import TorchBuild


def torch_build(old: Side[TorchBuild], new: Side[TorchBuild]) -> Iterator[Event]:
    """Compare what torch says of its own build."""
    before, after = old.fact, new.fact
    if before.version != after.version:
        yield changed("torch", "torch", (before.version, after.version), Weight.GRAVE)
    for subject, what, was, now in (
        ("torch CUDA", "the CUDA that torch is built for", before.cuda, after.cuda),
        ("torch ROCm", "the ROCm that torch is built for", before.hip, after.hip),
    ):
        if was != now:
            yield changed("torch", subject, (was, now), Weight.GRAVE, what)
    if before.git != after.git and before.version == after.version:
        yield changed(
            "torch", "torch commit", (before.git, after.git), Weight.GRAVE, "the commit of torch, at one version"
        )
    if before.debug != after.debug:
        yield changed("torch", "torch debug", both(yes, before.debug, after.debug), what="torch built for debugging")


def arch_list(old: Side[ArchList], new: Side[ArchList]) -> Iterator[Event]:
    """Compare the architectures that torch has code for."""
    lost = set(old.fact.archs) - set(new.fact.archs)
    ends = " ".join(old.fact.archs), " ".join(new.fact.archs)
    if set(old.fact.archs) != set(new.fact.archs):
        weight = Weight.GRAVE if lost else Weight.DETAIL
        yield changed("torch", "torch architectures", ends, weight, "architectures that torch has code for")


def fx_flag(old: Side[FxFlag], new: Side[FxFlag]) -> Iterator[Event]:
    """Compare whose torch's FX-tracing flag is: threads that share it break each other."""
    if old.fact.kind != new.fact.kind:
        weight = Weight.GRAVE if new.fact.shared and not old.fact.shared else Weight.DETAIL
        yield changed("torch", "FX-tracing flag", (old.fact.kind, new.fact.kind), weight, "torch's FX-tracing flag")


def interpreter(old: Side[Interpreter], new: Side[Interpreter]) -> Iterator[Event]:
    """Compare who would run the job."""
    before, after = old.fact, new.fact
    if before.version != after.version:
        weight = Weight.NOTABLE if before.minor == after.minor else Weight.GRAVE
        yield changed("interpreter", "python", (before.version, after.version), weight, "Python")
    was, now = (
        old.near(before.chain[-1]) if before.chain else None,
        new.near(after.chain[-1]) if after.chain else None,
    )
    if was != now:
        yield changed("interpreter", "bin/python", (was, now), what="the file behind bin/python")
    silent = after if before.answered else before
    if before.answered != after.answered and silent.problem is not None:
        said = ("answers", f"does not answer: {silent.problem}")
        yield changed("interpreter", "answers", said if before.answered else said[::-1], Weight.GRAVE, "bin/python")
    for name, ends in _traits(before, after).items():
        yield changed("interpreter", name, ends, Weight.NOTABLE if name == "C library" else Weight.GRAVE)
    if before.created_at != after.created_at and None not in (before.created_at, after.created_at):
        sentence = "the environment was made anew, or its pyvenv.cfg was written anew"
        yield Event("interpreter", "changed", "pyvenv.cfg", None, None, sentence, Weight.NOTABLE)
    for key, one, other in differing(_settings(before), _settings(after)):
        yield changed("interpreter", f"pyvenv.cfg: {key}", (one, other), Weight.DETAIL)


def _traits(before: Interpreter, after: Interpreter) -> dict[str, tuple[str | None, str | None]]:
    """Return by name what differs; what only a running one tells is compared where both have answered."""
    found: dict[str, tuple[str | None, str | None]] = {
        "kind of environment": (before.kind, after.kind),
        "system site-packages": (yes(before.system_site), yes(after.system_site)),
    }
    if before.answered and after.answered:
        found["free-threaded"] = yes(before.free_threaded), yes(after.free_threaded)
        found["C library"] = before.libc or None, after.libc or None
    return {name: ends for name, ends in found.items() if ends[0] != ends[1]}


_TOLD = frozenset({"version", "version_info", "include-system-site-packages", "prompt", "command"})
"""Keys of pyvenv.cfg that are told by name, or that say how it was called only."""


def _settings(seen: Interpreter) -> dict[str, str]:
    return {key: value for key, value in seen.pyvenv.items() if key not in _TOLD}
