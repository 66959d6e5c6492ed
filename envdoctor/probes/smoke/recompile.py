"""What was compiled is compiled again at the next call.

Why it matters: new data of the same shape must not be compiled anew; a training that recompiles at every step runs at a
fraction of its speed, and each time opens the window in which threads can meet a trace.

What to do: look for what changes torch's global state between calls (start-up code, patches of torch);
TORCH_LOGS=recompiles names the guard that failed.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.smoke import Smoke
from envdoctor.model import Finding, Severity
from envdoctor.views.diagnoses import Diagnoses


def check(smoke: Smoke, diagnoses: Diagnoses) -> Iterable[Finding]:
    """Compare the graphs that dynamo had compiled before and after the second calls."""
    yield from diagnoses.of("recompile")
    for attempt in smoke.of("recompile"):
        if attempt.state == "passed":
            before, after = attempt.detail["graphs_before"], attempt.detail["graphs_after"]
            if after > before:
                more = after - before
                yield Finding(
                    Severity.ERROR,
                    attempt.device,
                    f"a second call on data of the same shape compiled {more} graph{'s' if more > 1 else ''} anew",
                    dict(attempt.detail),
                    ("run the job with TORCH_LOGS=recompiles: it names the guard that failed",),
                )
