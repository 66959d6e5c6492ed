"""A matrix product on the device is wrong, or fails.

Why it matters: this is the first step that loads cuBLAS and runs kernels of torch's own. Wrong libraries, a build
without code for this GPU and failing hardware show here.

What to do: follow the diagnosis. If only the figures are wrong, look at the GPU's error counters and try another GPU.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding
from envdoctor.views.diagnoses import Diagnoses


def check(diagnoses: Diagnoses) -> Iterable[Finding]:
    """Report errors, and products that are far from those in float64."""
    return diagnoses.of("matmul")
