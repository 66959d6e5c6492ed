"""A package has its version still, and is another build than before.

Why it matters: the same version can be built again, with other flags, against another CUDA, or by somebody else. A
requirements lock and `pip freeze` show no difference.

What to do: find out where the present build came from; reinstall from the locked file with hashes checked. Needs a seal
to compare with.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.files import Files
from envdoctor.facts.seal import Seal
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.views.remedies import Remedies


def check(
    distributions: Distributions, files: Files, remedies: Remedies, torch_build: TorchBuild | Unavailable, seal: Seal
) -> Iterable[Finding]:
    """Compare RECORDs, and the build that torch's own files name, with what was sealed."""
    torch = distributions.active.get("torch")
    rebuilt = set(files.rebuilt)
    for item in distributions.own:
        if item.metadata in rebuilt:
            yield Finding(
                Severity.ERROR,
                item.name,
                f"{item.label} is not the build of that version that was sealed",
                {"metadata": item.metadata, "sealed_at": seal.taken_at},
                remedies.reinstall([(item.name, item.version)]),
            )
    known = torch is not None and torch.metadata not in rebuilt and bool(seal.torch_version)
    if known and torch is not None and isinstance(torch_build, TorchBuild) and _other(seal, torch, torch_build):
        yield _torch(torch, torch_build, seal, remedies)


def _torch(torch: Distribution, build: TorchBuild, seal: Seal, remedies: Remedies) -> Finding:
    return Finding(
        Severity.ERROR,
        "torch",
        f"torch is build {build.version} ({(build.git or '')[:10]}), sealed was {seal.torch_version} "
        f"({(seal.torch_git or '')[:10]})",
        {"build": build.version, "git": build.git, "sealed": seal.torch_version, "sealed_git": seal.torch_git},
        remedies.reinstall([("torch", torch.version)]),
    )


def _other(seal: Seal, torch: Distribution, build: TorchBuild) -> bool:
    """Tell whether the same version of torch was sealed as another build; another version is packages/drifted's."""
    same_version = any(item.name == "torch" and item.version == torch.version for item in seal.distributions)
    return same_version and (build.version, build.git) != (seal.torch_version, seal.torch_git)
