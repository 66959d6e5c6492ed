"""Memory of the device cannot be had, or does not hold what is written to it.

Why it matters: without 64 MiB nothing else can be tried out. Mostly another process has the GPU, or one that was killed
left its memory behind.

What to do: the diagnosis names who holds the memory; choose another GPU, or wait.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding
from envdoctor.views.diagnoses import Diagnoses


def check(diagnoses: Diagnoses) -> Iterable[Finding]:
    """Report errors; 64 MiB were filled and read back."""
    return diagnoses.of("allocate")
