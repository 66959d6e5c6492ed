"""NVIDIA wheels of two CUDA majors are installed.

Why it matters: cu12 and cu13 wheels of nccl, cudnn and nvshmem put their library at one path (nvidia/nccl/lib and so
on). The one installed last has the bytes, the other still looks installed, and torch fails with an undefined symbol or
computes with a library it was not built for. `pip check` sees nothing.

What to do: uninstall the family that torch's metadata does not need, and then reinstall the other by force, because the
uninstall deletes the shared file. Wheels that share no path only waste space, and may be what another package needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envdoctor.facts.nvidia_wheels import NvidiaWheel, NvidiaWheels, family
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.views.blame import Blame
from envdoctor.views.remedies import Remedies
from envdoctor.views.requirements import Requirements


def check(
    nvidia_wheels: NvidiaWheels,
    requirements: Requirements,
    remedies: Remedies,
    torch_build: TorchBuild | Unavailable,
    blame: Blame | Unavailable,
) -> Iterable[Finding]:
    """Tell the family that torch needs, then judge the wheels of every other one."""
    wheels = [wheel for wheel in nvidia_wheels.wheels if wheel.cuda is not None]
    needed = _needed(requirements, torch_build)
    majors = {wheel.cuda for wheel in wheels}
    if len(majors | ({needed} if needed else set())) < 2:
        return
    apart: list[NvidiaWheel] = []
    for wheel in wheels:
        if needed is None or wheel.cuda == needed:
            continue
        rivals = [other for other in wheels if other.cuda == needed and _shared(wheel, other)]
        if rivals:
            yield _collision(wheel, rivals, requirements, remedies, blame)
        else:
            apart.append(wheel)
    if needed is None:
        yield from _undecided(wheels)
    elif apart:
        yield _beside(apart, needed, requirements, remedies, blame)


def _needed(requirements: Requirements, torch_build: TorchBuild | Unavailable) -> int | None:
    """Return the CUDA major that torch's metadata needs, else the one that it was built for."""
    majors = {family(name) for name in requirements.reachable(["torch"])} - {None}
    if len(majors) == 1:
        return majors.pop()
    cuda = None if isinstance(torch_build, Unavailable) else torch_build.cuda
    return int(cuda.partition(".")[0]) if cuda and cuda.partition(".")[0].isdigit() else None


def _shared(wheel: NvidiaWheel, other: NvidiaWheel) -> list[str]:
    theirs = {library.path for library in other.libraries}
    return [library.path for library in wheel.libraries if library.path in theirs]


def _collision(
    wheel: NvidiaWheel,
    rivals: Sequence[NvidiaWheel],
    requirements: Requirements,
    remedies: Remedies,
    blame: Blame | Unavailable,
) -> Finding:
    paths = sorted({path for rival in rivals for path in _shared(wheel, rival)})
    survivors = [(rival.name, rival.version) for rival in rivals]
    return Finding(
        Severity.ERROR,
        wheel.name,
        f"{wheel.name} {wheel.version} (CUDA {wheel.cuda}) and {rivals[0].name} {rivals[0].version} "
        f"(CUDA {rivals[0].cuda}, which torch needs) both install {paths[0]}",
        {
            "packages": {item.name: item.version for item in (wheel, *rivals)},
            "needed": rivals[0].cuda,
            "paths": paths[:50],
            "required_by": _required_by(wheel, requirements),
            **_blamed([wheel], blame),
        },
        (*remedies.remove([wheel.name]), *remedies.reinstall(survivors)),
    )


def _beside(
    wheels: Sequence[NvidiaWheel],
    needed: int,
    requirements: Requirements,
    remedies: Remedies,
    blame: Blame | Unavailable,
) -> Finding:
    names = [wheel.name for wheel in wheels]
    wanted = {wheel.name: users for wheel in wheels if (users := _required_by(wheel, requirements))}
    idle = [name for name in names if name not in wanted]
    askers = sorted({user for users in wanted.values() for user in users})
    asked = f"; {', '.join(askers)} asks for it" if askers else ""
    return Finding(
        Severity.WARNING if idle else Severity.NOTE,
        (idle or names)[0],
        f"{', '.join(names)} belong to CUDA {wheels[0].cuda}, torch needs CUDA {needed}; no path is shared{asked}",
        {
            "packages": {wheel.name: wheel.version for wheel in wheels},
            "needed": needed,
            "required_by": wanted,
            **_blamed(wheels, blame),
        },
        remedies.remove(idle),
    )


def _undecided(wheels: Sequence[NvidiaWheel]) -> Iterable[Finding]:
    """Without torch nobody says which family belongs here; a shared path is a fault all the same."""
    for position, wheel in enumerate(wheels):
        for other in wheels[:position]:
            if other.cuda != wheel.cuda and (paths := _shared(wheel, other)):
                yield Finding(
                    Severity.ERROR,
                    wheel.name,
                    f"{other.name} (CUDA {other.cuda}) and {wheel.name} (CUDA {wheel.cuda}) both install {paths[0]}",
                    {"packages": {item.name: item.version for item in (other, wheel)}, "paths": paths[:50]},
                    ("uninstall both, then install the one that belongs here",),
                )


def _required_by(wheel: NvidiaWheel, requirements: Requirements) -> list[str]:
    return sorted({edge.requirer for edge in requirements.required_by.get(wheel.name, ())})


def _blamed(wheels: Sequence[NvidiaWheel], blame: Blame | Unavailable) -> dict[str, str]:
    if isinstance(blame, Unavailable):
        return {}
    return next((found for wheel in wheels if (found := blame.evidence(wheel.name))), {})
