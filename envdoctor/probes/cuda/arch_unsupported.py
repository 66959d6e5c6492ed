"""The installed torch holds no code that this GPU can run.

Why it matters: torch starts, sees the GPU and says that CUDA is available; the first kernel then fails with "no kernel
image is available". Builds of one release differ by their CUDA label in the architectures they hold.

What to do: install the build of the same release whose label holds the architecture; if there is none, another release.
Machine code runs on later GPUs of the same major capability (6.1 runs code for 6.0), PTX on all later ones.
`torch.cuda.is_available()` is no proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envdoctor import knowledge
from envdoctor.facts.arch_list import RULES, ArchList, runs
from envdoctor.facts.cuda_tools import number
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity
from envdoctor.views.devices import Device, Devices
from envdoctor.views.remedies import Remedies

SHOWN = 3


def check(arch_list: ArchList, torch_build: TorchBuild, devices: Devices, remedies: Remedies) -> Iterable[Finding]:
    """Judge every GPU that the job would see; one whose capability is not known is passed over."""
    for device in devices.visible:
        capability = device.gpu.capability
        if capability is not None and runs(capability, arch_list.archs, ptx=arch_list.ptx) is False:
            yield _finding(device, capability, arch_list, torch_build, remedies)


def _finding(
    device: Device, capability: tuple[int, ...], arch_list: ArchList, torch_build: TorchBuild, remedies: Remedies
) -> Finding:
    gpu, (major, minor) = device.gpu, capability
    fitting = list(_builds(capability, torch_build))
    return Finding(
        Severity.ERROR,
        device.subject,
        f"{gpu.name} has compute capability {major}.{minor}, and torch {torch_build.version} holds code for "
        f"{' '.join(arch_list.archs)} only",
        {
            "capability": f"{major}.{minor}",
            "archs": list(arch_list.archs),
            "archs_from": arch_list.source,
            "archs_source": arch_list.detail,
            "index": gpu.index,
            "uuid": gpu.uuid,
            "builds_that_would_run": fitting,
            "rules": RULES,
        },
        tuple(_remedy(fitting, torch_build, remedies)),
    )


def _builds(capability: tuple[int, ...], torch_build: TorchBuild) -> Iterator[str]:
    """Yield known builds that hold code for it: those of the installed series first, then the newest."""
    series = _series((torch_build.version or "").partition("+")[0])
    rows = [row for row in knowledge.rows("torch_arch") if runs(capability, row["arch"], ptx=row.get("ptx"))]
    rows.sort(key=lambda row: number(row["build"].partition("+")[0]), reverse=True)
    yield from (row["build"] for row in rows if _series(row["build"].partition("+")[0]) == series)
    yield from (row["build"] for row in rows if _series(row["build"].partition("+")[0]) != series)


def _series(public: str) -> str:
    return ".".join(public.split(".")[:2])


def _remedy(fitting: list[str], torch_build: TorchBuild, remedies: Remedies) -> Iterator[str]:
    public = (torch_build.version or "").partition("+")[0]
    labels = dict.fromkeys(
        build.partition("+")[2] for build in fitting if _series(build.partition("+")[0]) == _series(public)
    )
    if labels:
        label = next(iter(labels))
        yield remedies.reinstall([("torch", f"{public}+{label}")])[0] + f"  # from the index of the {label} builds"
    elif fitting:
        yield f"install a torch that holds code for it: {', '.join(fitting[:SHOWN])}"
    else:
        yield "build torch from source with TORCH_CUDA_ARCH_LIST naming this capability; no known build holds it"
