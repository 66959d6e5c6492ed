"""A package has its version still, and is another build than before.

Why it matters: the same version can be built again, with other flags, against another CUDA, or by somebody else. A
requirements lock and `pip freeze` show no difference.

What to do: find out where the present build came from; reinstall from the locked file with hashes checked. Needs a seal
to compare with, except where torch's metadata and torch/version.py name different builds.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.files import Files
from envdoctor.facts.seal import Seal
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.versions import label
from envdoctor.views.remedies import Remedies


def check(
    distributions: Distributions,
    files: Files,
    remedies: Remedies,
    torch_build: TorchBuild | Unavailable,
    seal: Seal | Unavailable,
) -> Iterable[Finding]:
    """Compare RECORDs with the seal's, and torch's two statements of its build."""
    torch = distributions.active.get("torch")
    if torch is not None and isinstance(torch_build, TorchBuild):
        yield from _torch(torch, torch_build, seal, remedies)
    rebuilt = set(files.rebuilt)
    for item in distributions.own:
        if item.metadata in rebuilt:
            yield Finding(
                Severity.ERROR,
                item.name,
                f"{item.label} is another build of the same version than the one that was sealed",
                {"metadata": item.metadata, "sealed_at": seal.taken_at if isinstance(seal, Seal) else None},
                remedies.reinstall([(item.name, item.version)]),
            )


def _torch(torch: Distribution, build: TorchBuild, seal: Seal | Unavailable, remedies: Remedies) -> Iterable[Finding]:
    named = label(torch.version)
    if named and build.label and named != build.label:
        yield Finding(
            Severity.ERROR,
            "torch",
            f"torch's metadata says {torch.version}, its own files say {build.version}: parts of two builds",
            {"metadata": torch.version, "version_py": build.version, "cuda": build.cuda},
            remedies.reinstall([("torch", torch.version)]),
        )
    elif isinstance(seal, Seal) and seal.torch_version and _other(seal, torch, build):
        yield Finding(
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
