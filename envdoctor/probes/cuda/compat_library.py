"""A forward-compatibility libcuda is in use where it is not needed or does not work.

Why it matters: the libcuda of NVIDIA's cuda-compat packages speaks for a newer driver than the kernel has. It works on
data-centre GPUs with certain older driver branches; elsewhere CUDA fails with error 803 or 804, though nvidia-smi
works.

What to do: take its `compat` directory off LD_LIBRARY_PATH, or remove the package, where the driver itself is new
enough; or install the package that belongs to this driver's branch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from envdoctor import knowledge
from envdoctor.facts.driver import Driver, Library
from envdoctor.facts.loader import Loader
from envdoctor.model import Finding, Severity, Unavailable

_PACKAGE = re.compile(r"/cuda-(\d+)\.(\d+)/")


def check(driver: Driver | Unavailable, loader: Loader) -> Iterable[Finding]:
    """Judge the first libcuda in the loader's order, if it is a compat one."""
    if isinstance(driver, Unavailable):
        yield from _without_driver(driver, loader)
        return
    library = driver.libcuda[0] if driver.libcuda else None
    if library is None or library.kind != "compat":
        return
    kernel = _branch(driver.kernel_module.version if driver.kernel_module else driver.version)
    row = _row(library)
    severity, why = _judged(driver, library, kernel, row)
    if severity is not None:
        yield Finding(
            severity,
            library.path,
            f"{library.path} (driver {library.version or 'unknown'}) stands in for the driver's own libcuda; {why}",
            {
                "found_by": library.origin,
                "kernel_branch": kernel,
                "gpus": [gpu.name for gpu in driver.gpus],
                "source": row["source"] if row else None,
            },
            _advice(library),
        )


def _judged(
    driver: Driver, library: Library, kernel: int | None, row: Mapping[str, Any] | None
) -> tuple[Severity | None, str]:
    consumer = next((gpu.name for gpu in driver.gpus if "geforce" in gpu.name.lower()), None)
    if consumer:
        return Severity.ERROR, f"forward compatibility does not work on {consumer}"
    if kernel is None or row is None:
        return Severity.WARNING, "whether it fits this driver is not known"
    if kernel in row["works_on"]:
        return None, ""
    if kernel in row["refused_on"]:
        return Severity.ERROR, f"{row['package']} does not work on driver branch {kernel}"
    if kernel == _branch(library.version):
        return Severity.WARNING, f"the driver is of branch {kernel} itself and does not need it"
    return Severity.WARNING, f"whether {row['package']} works on driver branch {kernel} is not known"


def _row(library: Library) -> Mapping[str, Any] | None:
    """Find the package by its directory (cuda-13.0/compat), else by the branch in the library's file name."""
    rows = knowledge.rows("cuda_compat")
    named = _PACKAGE.search(library.path)
    if named is not None:
        return next((row for row in rows if row["package"] == f"cuda-compat-{named[1]}-{named[2]}"), None)
    branch = _branch(library.version)
    return next((row for row in rows if branch is not None and row.get("driver") == branch), None)


def _branch(version: str | None) -> int | None:
    first = (version or "").partition(".")[0]
    return int(first) if first.isdigit() else None


def _without_driver(driver: Unavailable, loader: Loader) -> Iterable[Finding]:
    for folder in loader.folders:
        if folder.kind == "compat" and any(copy.soname == "libcuda.so.1" for copy in folder.libraries):
            yield Finding(
                Severity.NOTE,
                folder.path,
                f"LD_LIBRARY_PATH lists the forward-compatibility libcuda of {folder.path}; {driver.reason}",
                {"variable": "LD_LIBRARY_PATH"},
                (f"take {folder.path} off LD_LIBRARY_PATH",),
            )


def _advice(library: Library) -> tuple[str, ...]:
    folder = library.path.rpartition("/")[0]
    if library.origin == "LD_LIBRARY_PATH":
        return (f"take {folder} off LD_LIBRARY_PATH",)
    return (f"take {folder} out of /etc/ld.so.conf.d and run ldconfig",)
