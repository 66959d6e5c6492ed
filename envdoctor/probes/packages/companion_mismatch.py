"""Packages of the torch family are not of one release or one build.

Why it matters: torch, torchvision, torchaudio and triton call each other's C++ interface, which changes with every
release. Across releases imports fail (`operator torchvision::nms does not exist`). torchvision refuses a torch of
another CUDA major, torchaudio one of any other CUDA release; a CPU build beside a CUDA torch has no GPU operators.

What to do: install all of them together, from one index. Where the metadata itself states the release that it needs,
packages/broken-requirement speaks, not this.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.companions import COMPANIONS, Misfit, build_misfit, release_misfit, row
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Unavailable
from envdoctor.versions import label
from envdoctor.views.blame import Blame
from envdoctor.views.remedies import Remedies
from envdoctor.views.requirements import Requirements


def check(
    distributions: Distributions,
    requirements: Requirements,
    remedies: Remedies,
    torch_build: TorchBuild | Unavailable,
    blame: Blame | Unavailable,
) -> Iterable[Finding]:
    """Compare releases where the metadata is silent, and build labels where both have one."""
    torch = distributions.active.get("torch")
    if torch is None or torch.version is None:
        return
    known = row(torch.version)
    for name in (*COMPANIONS, "triton"):
        item = distributions.active.get(name)
        if item is None or item.version is None:
            continue
        found = None if _stated(torch, item, requirements) else release_misfit(torch.version, name, item.version)
        if found is None and name in COMPANIONS:
            found = _build(torch, item, torch_build)
        if found is not None:
            severity, why, wanted = found
            yield Finding(
                severity,
                name,
                f"{item.label} does not belong to torch {torch.version}: {why}",
                {
                    "torch": torch.version,
                    "installed": item.version,
                    "wanted": wanted,
                    "source": known["source"] if known else None,
                    **({} if isinstance(blame, Unavailable) else blame.evidence(name)),
                },
                remedies.reinstall([(name, wanted)]) if wanted else (),
            )


def _stated(torch: Distribution, item: Distribution, requirements: Requirements) -> bool:
    """Tell whether the metadata of one says which release of the other it needs."""
    requirer, name = (torch.name, item.name) if item.name == "triton" else (item.name, torch.name)
    return any(edge.specifier for edge in requirements.required_by.get(name, ()) if edge.requirer == requirer)


def _build(torch: Distribution, item: Distribution, build: TorchBuild | Unavailable) -> Misfit | None:
    ours = (None if isinstance(build, Unavailable) else build.label) or label(torch.version)
    return build_misfit(item.name, item.version or "", ours, label(item.version))
