"""An extension in a cache was built with another CUDA toolkit than torch's CUDA, or with one that is gone.

Why it matters: such a library brings a second CUDA runtime into torch's process. It is loaded as long as its sources
stay as they are; the day they change, the build starts with a compiler that no longer fits, or is not there.

What to do: delete that extension's directory and let it be built again with CUDA_HOME at a toolkit of torch's CUDA.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from shlex import quote

from envdoctor.facts.cache_builds import Build
from envdoctor.facts.compile_caches import CompileCaches
from envdoctor.facts.cuda_tools import number, release
from envdoctor.facts.toolkits import Toolkit, Toolkits
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity


def check(compile_caches: CompileCaches, toolkits: Toolkits, torch_build: TorchBuild) -> Iterable[Finding]:
    """Compare the compiler that a build names; another minor of the same major works."""
    wanted = release(torch_build.cuda)
    if wanted is None:
        return
    for cache in compile_caches.caches:
        for build in cache.builds:
            toolkit = _toolkit(build, toolkits)
            found = release(toolkit.nvcc_version) if toolkit else None
            if found and number(found)[0] != number(wanted)[0]:
                what = f"was built with {build.nvcc} of CUDA {found}, and torch is built for CUDA {wanted}"
                yield _finding(build, Severity.WARNING, what, found, wanted)
            elif toolkit is None and build.nvcc.startswith("/"):
                what = f"was built with {build.nvcc}, which is no toolkit of this machine any more"
                yield _finding(build, Severity.NOTE, what, None, wanted)


def _toolkit(build: Build, toolkits: Toolkits) -> Toolkit | None:
    prefix = os.path.dirname(os.path.dirname(os.path.normpath(build.nvcc)))
    named = next((item.prefix for item in toolkits.named if item.path == prefix), prefix)
    return toolkits.at(named) or next((item for item in toolkits.items if item.nvcc == build.nvcc), None)


def _finding(build: Build, severity: Severity, what: str, found: str | None, wanted: str) -> Finding:
    return Finding(
        severity,
        build.folder,
        f"{build.folder} {what}",
        {"nvcc": build.nvcc, "toolkit": found, "torch_cuda": wanted},
        (f"rm -r {quote(build.folder)}",) if severity > Severity.NOTE else (),
    )
