"""A compiled block fails on this device, or computes something else than eager does.

Why it matters: a training that uses torch.compile dies at its first step, or learns from wrong gradients. A small block
is compiled forward and backward, in float32 and in what the device trains in.

What to do: follow the diagnosis. If only the figures are wrong, remove the compile cache's entries for this device and
try again.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding
from envdoctor.views.diagnoses import Diagnoses


def check(diagnoses: Diagnoses) -> Iterable[Finding]:
    """Report errors, and outputs or gradients that are off."""
    return diagnoses.of("compile")
