"""The build of torch that was imported holds no code for the device.

Why it matters: the first kernel fails with "no kernel image is available for execution on the device", though
`torch.cuda.is_available()` is true.

What to do: install the build of torch whose list of architectures fits the GPU; `envdoctor check` names the ones known.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.arch_list import RULES, runs
from envdoctor.facts.smoke import Smoke
from envdoctor.model import Finding, Severity
from envdoctor.views.diagnoses import Diagnoses


def check(smoke: Smoke, diagnoses: Diagnoses) -> Iterable[Finding]:
    """Apply the rules to what torch itself says."""
    yield from diagnoses.of("arch")
    for attempt in smoke.of("arch"):
        if attempt.state == "passed":
            capability, archs = tuple(attempt.detail["capability"]), list(attempt.detail["archs"])
            if runs(capability, archs, ptx=False) is False:
                yield Finding(
                    Severity.ERROR,
                    attempt.device,
                    f"{attempt.device} has compute capability {'.'.join(map(str, capability))}, and this torch holds "
                    f"code for {' '.join(archs) or 'none'} only",
                    {"capability": list(capability), "archs": archs, "rules": RULES},
                    ("envdoctor check --select cuda/arch-unsupported",),
                )
