"""The installed torch is built without CUDA.

Why it matters: it trains on the CPU, or fails at the first `.cuda()`. The label `+cpu` satisfies a plain requirement,
so that installers see nothing to do. It is an error where the node has GPUs or the lock asks for a CUDA build;
elsewhere, as on a login node or in CI, it may be meant, and is a note.

What to do: force the CUDA build in, with its label and from its index; a plain install changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from envdoctor.facts.distributions import Distributions
from envdoctor.facts.driver import Driver
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.versions import label
from envdoctor.views.blame import Blame
from envdoctor.views.expected import Expected
from envdoctor.views.lock_cuda import asked, statement
from envdoctor.views.remedies import Remedies


def check(
    torch_build: TorchBuild | Unavailable,
    distributions: Distributions,
    remedies: Remedies,
    driver: Driver | Unavailable,
    expected: Expected | Unavailable,
    blame: Blame | Unavailable,
) -> Iterable[Finding]:
    """Say who expects CUDA of a torch that has none: the node, or the lock."""
    torch = distributions.active.get("torch")
    if torch is None or not _without_cuda(torch_build, torch.version):
        return
    version = torch.version if isinstance(torch_build, Unavailable) else torch_build.version or torch.version
    gpus = () if isinstance(driver, Unavailable) else driver.gpus
    wanted = _asked(expected)
    reasons = [f"the node has {len(gpus)} NVIDIA GPU{'s' if len(gpus) > 1 else ''}"] if gpus else []
    reasons += [f"the lock asks for {wanted}"] if wanted else []
    yield Finding(
        Severity.ERROR if reasons else Severity.NOTE,
        "torch",
        f"torch {version} is built without CUDA"
        + (f", {' and '.join(reasons)}" if reasons else "; nothing here asks for it"),
        {
            "version": version,
            "gpus": [gpu.name for gpu in gpus],
            "locked": wanted,
            **({} if isinstance(blame, Unavailable) else blame.evidence("torch")),
        },
        _remedy(wanted, remedies, expected) if reasons else (),
    )


def _without_cuda(build: TorchBuild | Unavailable, version: str | None) -> bool:
    """Tell by torch/version.py, else by the label in the metadata; ROCm and XPU builds are none of ours."""
    if isinstance(build, Unavailable):
        return label(version) == "cpu"
    return not build.cuda and not build.hip and build.label in ("", "cpu")


def _asked(expected: Expected | Unavailable) -> str | None:
    """Return what in the lock asks for CUDA: torch's label, or where it has none, what is locked beside it."""
    if isinstance(expected, Unavailable) or "torch" not in expected.wanted:
        return None
    version = expected.wanted["torch"].version
    if label(version):
        return f"torch {version}" if re.match(r"cu\d", label(version)) else None
    return asked([found for pin in expected.wanted.values() if (found := statement(pin)) is not None])


def _remedy(wanted: str | None, remedies: Remedies, expected: Expected | Unavailable) -> tuple[str, ...]:
    version = None if isinstance(expected, Unavailable) or not wanted else expected.wanted["torch"].version
    if version is not None:
        return (*remedies.reinstall([("torch", version)]), "from the CUDA index: a plain install would change nothing")
    return ("reinstall torch by force with its CUDA label, from the CUDA index; a plain install would change nothing",)
