"""LD_LIBRARY_PATH leads to a toolkit's stub of the driver library.

Why it matters: the libcuda.so in a toolkit's `stubs` directory is for linking on machines without a driver and has no
code. A program that finds it first fails with CUDA_ERROR_STUB_LIBRARY (34, cuda.h), or sees no GPU at all.

What to do: take the directory off LD_LIBRARY_PATH. LIBRARY_PATH, which only the linker reads, may keep it.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.loader import Loader
from envdoctor.facts.variables import Variables
from envdoctor.model import Finding, Severity


def check(loader: Loader, variables: Variables) -> Iterable[Finding]:  # noqa: ARG001 - where they are not known, skipped
    """Report the stub directories that hold a stub of the driver's."""
    for folder in loader.folders:
        stubs = [copy for copy in folder.libraries if copy.soname.startswith(("libcuda.so", "libnvidia-ml.so"))]
        if folder.kind == "stub" and stubs:
            yield Finding(
                Severity.ERROR,
                folder.path,
                f"LD_LIBRARY_PATH lists {folder.path}, whose {stubs[0].soname} is a stub to link with, without code",
                {"variable": "LD_LIBRARY_PATH", "paths": [copy.path for copy in stubs]},
                (f"take {folder.path} off LD_LIBRARY_PATH (LIBRARY_PATH may keep it)",),
            )
