"""A CUDA toolkit's compiler, headers and record are not of one version.

Why it matters: an upgrade that was broken off, or two toolkits unpacked into one directory, leave an nvcc of one
release beside headers of another. Builds then stop with contradicting version numbers, or compile against functions
that the runtime does not have; neither number alone is the right one.

What to do: remove the toolkit and install one release into an empty directory, then let CUDA_HOME and PATH name it.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.cuda_tools import release
from envdoctor.facts.toolkits import Toolkit, Toolkits
from envdoctor.model import Finding, Severity

CHECKED_BY = "cuda/std/__cccl/cuda_toolkit.h of CCCL in the CUDA 13.0 toolkit stops where nvcc and headers differ"


def check(toolkits: Toolkits) -> Iterable[Finding]:
    """Compare major and minor within each toolkit; one that a build would not take is only a warning."""
    chosen = toolkits.chosen
    for toolkit in toolkits.items:
        parts = _parts(toolkit)
        if len(set(parts.values())) < 2:
            continue
        used = chosen is not None and chosen.prefix == toolkit.prefix
        said = ", ".join(f"{name} CUDA {version}" for name, version in parts.items())
        yield Finding(
            Severity.ERROR if used else Severity.WARNING,
            toolkit.prefix,
            f"{toolkit.prefix} mixes toolkits: {said}",
            {
                "prefix": toolkit.prefix,
                "nvcc": toolkit.nvcc_version,
                "headers": {header.path: header.release for header in toolkit.headers},
                "recorded": toolkit.recorded,
                "chosen_by": chosen.way if used and chosen else None,
                "source": CHECKED_BY,
            },
            (
                f"remove {toolkit.prefix} and install one CUDA release there",
                "let CUDA_HOME and PATH name that directory",
            ),
        )


def _parts(toolkit: Toolkit) -> dict[str, str]:
    """Return what each part says, by a word for it."""
    parts = {"nvcc says": release(toolkit.nvcc_version)}
    parts |= {f"{header.path.removeprefix(toolkit.prefix + '/')} says": header.release for header in toolkit.headers}
    parts["its version file says"] = release(toolkit.recorded)
    return {name: version for name, version in parts.items() if version}
