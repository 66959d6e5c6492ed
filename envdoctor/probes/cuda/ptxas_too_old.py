"""The ptxas that triton would use cannot make code for the GPU.

Why it matters: triton, and with it torch.compile, hands every kernel to ptxas. One that is older than the GPU's
architecture, or so new that it has dropped it, refuses it, and the first compiled kernel fails. TRITON_PTXAS_PATH, set
once for a new card, stays behind when triton itself has moved on.

What to do: unset TRITON_PTXAS_PATH, or let it name the ptxas of a CUDA toolkit that knows the architecture; otherwise
install a newer triton with the torch that requires it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from envdoctor import knowledge
from envdoctor.facts.cuda_tools import number, release
from envdoctor.facts.jit_tools import JitTools, Ptxas
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.views.devices import Device, Devices


def check(jit_tools: JitTools, devices: Devices | Unavailable) -> Iterable[Finding]:
    """Judge the variables on any machine, the assembler for each GPU that the job would see."""
    yield from _variables(jit_tools)
    if not isinstance(devices, Unavailable):
        for device in devices.visible:
            yield from _device(device, jit_tools)


def _variables(tools: JitTools) -> Iterator[Finding]:
    for named in (item for item in tools.ptxas if item.variable):
        own = next((item for item in tools.ptxas if item.name == named.name and not item.variable), None)
        if not named.exists:
            yield _named(
                named, own, "which is no program, so that triton takes its own" if own else "which is no program"
            )
        elif own and named.version and own.version and _older(named.version, own.version):
            yield _named(
                named, own, f"of CUDA {release(named.version)}, older than triton's own {release(own.version)}"
            )


def _older(version: str, other: str) -> bool:
    return number(version)[:2] < number(other)[:2]


def _named(named: Ptxas, own: Ptxas | None, what: str) -> Finding:
    return Finding(
        Severity.WARNING,
        named.variable or named.path,
        f"{named.variable} names {named.path}, {what}",
        {"path": named.path, "version": named.version, "bundled": own.version if own else None},
        (f"unset {named.variable}",),
    )


def _device(device: Device, tools: JitTools) -> Iterator[Finding]:
    capability = device.gpu.capability
    if capability is None:
        return
    arch = capability[0] * 10 + capability[1]
    used = next((item for item in tools.ptxas_for(arch) if item.exists), None)
    row: Mapping[str, Any] = next((row for row in knowledge.rows("arch_toolkit") if row["arch"] == f"sm_{arch}"), {})
    fault = _fault(row, used.version) if used and row and used.version else None
    if used and fault:
        triton = f"triton {tools.triton.version}" if tools.triton else "triton"
        yield Finding(
            Severity.ERROR,
            device.subject,
            f"{device.gpu.name} (compute capability {capability[0]}.{capability[1]}) needs a ptxas of {fault}, and "
            f"{triton} uses {used.path} of CUDA {release(used.version)}",
            {
                "ptxas": used.path,
                "version": used.version,
                "variable": used.variable,
                "arch": f"sm_{arch}",
                "index": device.gpu.index,
                "uuid": device.gpu.uuid,
                "source": row["source"],
            },
            tuple(_remedy(used, fault)),
        )


def _fault(row: Mapping[str, Any], version: str) -> str | None:
    """Say which CUDA an architecture needs; None if this one knows it."""
    first, last = row.get("first_cuda"), row.get("last_cuda")
    if first and _older(version, first):
        return f"CUDA {first} or later"
    return f"CUDA {last} or earlier" if last and _older(last, version) else None


def _remedy(used: Ptxas, fault: str) -> Iterator[str]:
    if used.variable:
        yield f"unset {used.variable}"
    variable = f"TRITON_{used.name.upper().replace('-', '_')}_PATH"
    yield f"export {variable} to the bin/ptxas of a toolkit of {fault}"
    yield "or install the triton, and the torch that requires it, of a release that supports this GPU"
