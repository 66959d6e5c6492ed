"""Compiled flex_attention fails on this device, or computes something else than eager attention does.

Why it matters: its kernels are templates of their own, with other limits than plain code: shared memory, head
dimension, block mask. On a CPU only the forward pass is tried.

What to do: follow the diagnosis.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding
from envdoctor.views.diagnoses import Diagnoses


def check(diagnoses: Diagnoses) -> Iterable[Finding]:
    """Report errors, and outputs or gradients that are off."""
    return diagnoses.of("flex-attention")
