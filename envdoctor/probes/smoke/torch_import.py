"""The target's torch cannot be imported.

Why it matters: no training starts. What is imported is what training would import: the job's PYTHONPATH, its user site
and its LD_LIBRARY_PATH have their say, unlike in `check`.

What to do: follow the diagnosis; an undefined symbol or a missing library nearly always means wheels of two releases,
or a directory on LD_LIBRARY_PATH that hides the wheels' own libraries.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.smoke import IMPORT
from envdoctor.model import Finding
from envdoctor.views.diagnoses import Diagnoses


def check(diagnoses: Diagnoses) -> Iterable[Finding]:
    """Report the import."""
    return diagnoses.of(IMPORT)
