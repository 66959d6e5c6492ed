"""A block compiled in float16 fails, or computes something else than eager does.

Why it matters: mixed-precision training in float16 uses other kernels than bfloat16 does.

What to do: follow the diagnosis.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding
from envdoctor.views.diagnoses import Diagnoses


def check(diagnoses: Diagnoses) -> Iterable[Finding]:
    """Report errors, and outputs or gradients that are off."""
    return diagnoses.of("half")
