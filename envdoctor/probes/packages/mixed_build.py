"""The metadata of torch and its own files name different builds.

Why it matters: parts of two builds lie together, as after an interrupted upgrade or a copy over an installed torch. The
metadata satisfies every requirement, and the libraries are another CUDA's, or none's.

What to do: reinstall torch by force, with the label of the build that the lock means.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.distributions import Distributions
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.versions import label
from envdoctor.views.remedies import Remedies


def check(distributions: Distributions, torch_build: TorchBuild | Unavailable, remedies: Remedies) -> Iterable[Finding]:
    """Compare labels; wheels of the package index have one in torch/version.py alone, which is in order."""
    torch = distributions.active.get("torch")
    named = label(torch.version) if torch is not None else ""
    if torch is None or isinstance(torch_build, Unavailable):
        return
    if named and torch_build.label and named != torch_build.label:
        yield Finding(
            Severity.ERROR,
            "torch",
            f"torch's metadata says {torch.version}, its own files say {torch_build.version}: parts of two builds",
            {"metadata": torch.version, "version_py": torch_build.version, "cuda": torch_build.cuda},
            remedies.reinstall([("torch", torch.version)]),
        )
