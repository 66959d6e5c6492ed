"""CUDA graphs cannot be recorded or replayed on this device.

Why it matters: `torch.compile(mode="reduce-overhead")` records CUDA graphs. Where it cannot, it fails, or runs without
them and slower than it should.

What to do: follow the diagnosis. Graphs that were skipped are named in torch's own log: TORCH_LOGS=perf_hints.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.smoke import Smoke
from envdoctor.model import Finding, Severity
from envdoctor.views.diagnoses import Diagnoses


def check(smoke: Smoke, diagnoses: Diagnoses) -> Iterable[Finding]:
    """Report errors, figures that are off, and graphs that torch gave up."""
    yield from diagnoses.of("graphs")
    for attempt in smoke.of("graphs"):
        skipped = attempt.detail.get("graphs_skipped")
        if attempt.state == "passed" and skipped:
            yield Finding(
                Severity.ERROR,
                attempt.device,
                f"torch gave up {skipped} CUDA graph{'s' if skipped > 1 else ''} of a block that can be recorded",
                {"graphs_skipped": skipped},
                ("run the job with TORCH_LOGS=perf_hints: it says why",),
            )
