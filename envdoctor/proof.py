"""What a step that came to its end proves: that something was compiled, and that its figures are near enough; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from envdoctor.facts.smoke import Attempt
from envdoctor.model import Finding, Severity

TOLERANCE: Mapping[str, float] = {"float32": 1e-4, "bfloat16": 2e-2, "float16": 4e-3}
"""Relative error (Euclidean norm) up to which two ways of computing agree: some ten times what sound GPUs show.

Judgement, not fact. The unit roundoffs are 6e-8, 4e-3 and 5e-4 (IEEE 754, and bfloat16's 8 bits); faults show as 0.1
and more.
"""
TF32 = 5e-3
"""The same for float32 where TensorFloat-32 is switched on: its significand has 11 bits."""
MEASURED = frozenset({"matmul", "compile", "flex-attention", "half", "graphs"})
"""Steps that prove something by figures alone."""
OFF = ("TORCH_COMPILE_DISABLE", "TORCHDYNAMO_DISABLE")
"""Variables that switch torch.compile off (torch/_dynamo/config.py of torch 2.13.0: `disable`)."""


def judged(attempt: Attempt) -> Iterator[Finding]:
    """Judge a step that came to its end: something was compiled where it should be, and the figures are near enough."""
    if attempt.eager:
        yield from _eager(attempt)
    elif attempt.step in MEASURED and not attempt.errors:
        yield Finding(Severity.ERROR, attempt.device, f"{attempt.named} told no figures", dict(attempt.detail))
    else:
        yield from _off(attempt)


def _eager(attempt: Attempt) -> Iterator[Finding]:
    """Say so if a step that should compile ran eagerly: its figures then prove nothing."""
    yield Finding(
        Severity.ERROR,
        attempt.device,
        f"{attempt.named} compiled nothing: torch.compile is switched off, or was replaced",
        dict(attempt.detail),
        tuple(f"unset {variable}" for variable in OFF),
    )


def _off(attempt: Attempt) -> Iterator[Finding]:
    """Judge the figures of a step that ran."""
    for dtype, error in attempt.errors.items():
        bound = TF32 if dtype == "float32" and attempt.detail.get("tf32") else TOLERANCE.get(dtype, 0.0)
        if not error <= bound:
            yield Finding(
                Severity.ERROR,
                attempt.device,
                f"{attempt.named} in {dtype} is wrong: off by {error:.1e} of its norm; up to {bound:.0e} is rounding",
                {"dtype": dtype, "error": str(error), "bound": bound},
                ("run it again: a fault that comes and goes is the GPU's", "envdoctor check --select node/gpu-errors"),
            )
            return
