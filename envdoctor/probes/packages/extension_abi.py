"""A compiled extension was built against another torch than the one installed.

Why it matters: torch's C++ interface changes with every minor release, and once with the C++11 ABI of std::string
(`__cxx11` in symbol names). The extension cannot be loaded: `undefined symbol: _ZN3c10...`, or a library of torch or of
another CUDA major is not found. Its metadata seldom says which torch it needs.

What to do: install the build that was made for this torch, CUDA and ABI (the file name of the wheel says so), or build
it from source in this environment, without build isolation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from envdoctor import knowledge
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.extensions import Extension, Extensions
from envdoctor.facts.nvidia_wheels import NvidiaWheels
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.versions import same_release
from envdoctor.views.blame import Blame
from envdoctor.views.expected import Expected
from envdoctor.views.remedies import Remedies


def check(
    extensions: Extensions,
    distributions: Distributions,
    torch_build: TorchBuild | Unavailable,
    nvidia_wheels: NvidiaWheels,
    remedies: Remedies,
    expected: Expected | Unavailable,
    blame: Blame | Unavailable,
) -> Iterable[Finding]:
    """Report one finding for each distribution with an extension that does not fit."""
    runtimes = {wheel.cuda for wheel in nvidia_wheels.wheels if wheel.library == "nvidia-cuda-runtime"}
    torch = _version(torch_build, distributions)
    by_name: dict[str, list[tuple[Extension, str]]] = {}
    for item in extensions.items:
        why = _why(item, torch_build, runtimes)
        if why:
            by_name.setdefault(item.name, []).append((item, why))
    unsure = sorted({item.name for item in extensions.items if item.uses_torch} - by_name.keys())
    if extensions.unjudged and unsure and "torch" in distributions.active:
        yield _unjudged(unsure, extensions.unjudged)
    for name, faults in by_name.items():
        package = distributions.active.get(name)
        if package is not None:
            yield _finding(package, faults, torch, _remedy(package, torch, remedies, expected), blame)


def _version(build: TorchBuild | Unavailable, distributions: Distributions) -> str | None:
    """Return torch's version with its label, where its own files tell; else the metadata's."""
    torch = distributions.active.get("torch")
    return (None if isinstance(build, Unavailable) else build.version) or (torch.version if torch else None)


def _why(item: Extension, build: TorchBuild | Unavailable, runtimes: set[int | None]) -> str:
    """Say what does not fit; "" if everything does."""
    if item.missing_libraries:
        return f"needs {', '.join(item.missing_libraries)}, which this torch does not have"
    if item.missing:
        return f"needs {item.missing[0]}, which this torch does not define{_abi(item.missing)}"
    cuda = None if isinstance(build, Unavailable) else build.cuda
    major = (cuda or "").partition(".")[0]
    if item.uses_torch and item.cuda is not None and major.isdigit() and item.cuda != int(major):
        return f"was built for CUDA {item.cuda}, torch for {cuda}" if item.cuda not in runtimes else ""
    return ""


def _abi(missing: Sequence[str]) -> str:
    """Tell which C++ ABI the missing names have; `Ss` is the old std::string in them (Itanium C++ ABI)."""
    if any("__cxx11" in name for name in missing):
        return "; it was built with the new C++11 ABI, torch with the old one, or for another release"
    if any("RKSs" in name or name.endswith("Ss") for name in missing):
        return "; it was built with the old C++ ABI, torch with the new one, or for another release"
    return ""


def _unjudged(names: Sequence[str], reason: str) -> Finding:
    message = f"whether {', '.join(names)} fit the installed torch is not known: {reason}"
    return Finding(Severity.NOTE, names[0], message, {"packages": list(names), "reason": reason})


def _finding(
    package: Distribution,
    faults: Sequence[tuple[Extension, str]],
    torch: str | None,
    remedy: tuple[str, ...],
    blame: Blame | Unavailable,
) -> Finding:
    first, why = faults[0]
    return Finding(
        Severity.ERROR,
        package.name,
        f"{package.label} does not fit torch {torch}: {first.path} {why}",
        {
            "torch": torch,
            "objects": [_shown(item, why) for item, why in faults[:10]],
            "count": len(faults),
            **({} if isinstance(blame, Unavailable) else blame.evidence(package.name)),
        },
        remedy,
    )


def _shown(item: Extension, why: str) -> Mapping[str, object]:
    return {"path": item.path, "why": why, "missing": list(item.missing), "missing_count": item.missing_count}


def _remedy(
    package: Distribution, torch: str | None, remedies: Remedies, expected: Expected | Unavailable
) -> tuple[str, ...]:
    """Go back to the lock where it names another release, else find or make the right build."""
    pin = None if isinstance(expected, Unavailable) else expected.wanted.get(package.name)
    if pin is not None and pin.version and package.version and not same_release(pin.version, package.version):
        return remedies.reinstall([(package.name, pin.version)])
    row = next((row for row in knowledge.rows("extension_wheels") if row["name"] == package.name), None)
    told = "its file name" if row and row["where"] == "file" else "its version label"
    return (
        f"install the wheel of {package.name} that was built for torch {torch}" + (f" ({told} says so)" if row else ""),
        f"or build it here: {_from_source(package, remedies)}",
    )


def _from_source(package: Distribution, remedies: Remedies) -> str:
    """Build against what is installed here, not against what pip would fetch for the build."""
    (command,) = remedies.reinstall([(package.name, package.version)])
    return f"{command} --no-build-isolation --no-binary {package.name}"
