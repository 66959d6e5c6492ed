"""Packages of the torch family are not of one release or one build.

Why it matters: torch, torchvision, torchaudio and triton call each other's C++ interface, which changes with every
release. Across releases imports fail (`operator torchvision::nms does not exist`). torchvision refuses a torch of
another CUDA major, torchaudio one of any other CUDA release; a CPU build beside a CUDA torch has no GPU operators.

What to do: install all of them together, from one index. Where the metadata itself states the release that it needs,
packages/broken-requirement speaks, not this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from envdoctor import knowledge
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.versions import label, public, satisfies
from envdoctor.views.blame import Blame
from envdoctor.views.remedies import Remedies
from envdoctor.views.requirements import Requirements

COMPANIONS = ("torchvision", "torchaudio")
_CUDA = re.compile(r"cu(\d+)(\d)$")


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
    rows = {public(row["torch"]): row for row in knowledge.rows("torch_companions")}
    row = rows.get(public(torch.version))
    for name in (*COMPANIONS, "triton"):
        item = distributions.active.get(name)
        if item is None or item.version is None:
            continue
        found = _release(torch, item, row, rows, requirements)
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
                    "source": row["source"] if row else None,
                    **({} if isinstance(blame, Unavailable) else blame.evidence(name)),
                },
                remedies.reinstall([(name, wanted)]) if wanted else (),
            )


_Found = tuple[Severity, str, str | None]


def _release(
    torch: Distribution,
    item: Distribution,
    row: Mapping[str, Any] | None,
    rows: Mapping[str, Mapping[str, Any]],
    requirements: Requirements,
) -> _Found | None:
    """Compare with the table; a release that it does not have, or has as bound to no torch, is not judged."""
    version = public(item.version or "")
    if row is None or _stated(torch, item, requirements):
        return None
    if item.name == "triton":
        wanted = row["triton"]
        if satisfies(version, wanted):
            return None
        return Severity.WARNING, f"that release was made for triton {wanted}", wanted.lstrip("=~")
    known = {public(release) for other in rows.values() for release in other[item.name]}
    if version in map(public, row[item.name]) or version not in known:
        return None
    return Severity.ERROR, f"{' or '.join(row[item.name])} does", row[item.name][-1]


def _stated(torch: Distribution, item: Distribution, requirements: Requirements) -> bool:
    """Tell whether the metadata of one says which release of the other it needs."""
    requirer, name = (torch.name, item.name) if item.name == "triton" else (item.name, torch.name)
    return any(edge.specifier for edge in requirements.required_by.get(name, ()) if edge.requirer == requirer)


def _build(torch: Distribution, item: Distribution, build: TorchBuild | Unavailable) -> _Found | None:
    """Compare labels: `cu128`, `cpu`; what has none is not judged."""
    ours = (None if isinstance(build, Unavailable) else build.label) or label(torch.version)
    theirs = label(item.version)
    if not ours or not theirs or ours == theirs:
        return None
    wanted = f"{(item.version or '').partition('+')[0]}+{ours}"
    mine, other = _CUDA.match(ours), _CUDA.match(theirs)
    if mine and other:
        fatal = mine[1] != other[1] or item.name == "torchaudio"
        return (Severity.ERROR if fatal else Severity.WARNING), f"built for {theirs}, torch for {ours}", wanted
    if mine and theirs == "cpu":
        return Severity.WARNING, f"a CPU build beside torch for {ours}: it has no GPU operators", wanted
    if ours == "cpu" and other:
        return Severity.ERROR, f"built for {theirs}, torch has no CUDA libraries for it to load", wanted
    return None
