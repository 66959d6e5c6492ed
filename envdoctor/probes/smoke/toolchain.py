"""Triton cannot assemble a kernel, or cannot build its launcher.

Why it matters: torch.compile needs both: ptxas for every kernel, and a C compiler with Python's headers and libcuda for
the launcher. Tried in an empty cache, so that an entry of an earlier day hides nothing.

What to do: follow the diagnosis: it names the tool, the header or the library that is missing.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.model import Finding
from envdoctor.views.diagnoses import Diagnoses


def check(diagnoses: Diagnoses) -> Iterable[Finding]:
    """Report errors."""
    return diagnoses.of("toolchain")
