"""LD_LIBRARY_PATH hides CUDA libraries that the environment brings along.

Why it matters: the loader asks LD_LIBRARY_PATH before a library's own DT_RUNPATH, and DT_RPATH before both (ld.so(8)).
torch's libraries have DT_RPATH, NVIDIA's wheels have DT_RUNPATH: so torch finds its cuSPARSE in the wheel, and that
cuSPARSE takes nvJitLink, or cuDNN its parts, from the toolkit on LD_LIBRARY_PATH. Another release there means an
undefined symbol at `import torch`, or wrong kernels.

What to do: unset LD_LIBRARY_PATH for the job, or take the toolkit off it. Where something else needs it, put the
environment's own directories first. A directory counts only if it holds a library that the wheels bundle; it is a
warning if all that torch loads comes from the wheels nevertheless.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from envdoctor.facts.loader import Copy, Folder, Loader
from envdoctor.model import Finding, Severity


@dataclass(frozen=True, slots=True)
class _Case:
    copy: Copy
    bundled: str
    taken: bool
    """True if the loader would take the copy on LD_LIBRARY_PATH, as far as is known."""
    how: str


def check(loader: Loader) -> Iterable[Finding]:
    """Report one finding for each directory that holds another copy of a bundled library."""
    for folder in loader.folders:
        cases = [_case(copy, copy.bundled, loader) for copy in folder.libraries if copy.bundled]
        if cases:
            yield _finding(folder, cases, loader)


def _case(copy: Copy, bundled: str, loader: Loader) -> _Case:
    found = loader.resolution(copy.soname)
    if loader.unknown:
        return _Case(copy, bundled, taken=True, how=f"by rule; {loader.unknown}")
    if found is None:
        return _Case(copy, bundled, taken=False, how="torch does not load it")
    if found.path == copy.path:
        return _Case(copy, bundled, taken=True, how=f"{found.by}, for {found.needed_by}")
    return _Case(copy, bundled, taken=False, how=f"{found.path} by {found.by}")


def _finding(folder: Folder, cases: Sequence[_Case], loader: Loader) -> Finding:
    taken = [case for case in cases if case.taken]
    named = taken or cases
    places = sorted({os.path.dirname(case.bundled) for case in named})
    names = ", ".join(case.copy.soname for case in named)
    verb = "hides" if taken else "holds another copy of"
    after = "" if taken else "; torch still loads the environment's own"
    return Finding(
        Severity.ERROR if taken else Severity.WARNING,
        folder.path,
        f"{folder.path} on LD_LIBRARY_PATH {verb} {names} of {' and '.join(places)}{after}",
        {
            "libraries": [
                {"soname": case.copy.soname, "there": case.copy.path, "bundled": case.bundled, "loaded": case.how}
                for case in (*taken, *(case for case in cases if not case.taken))
            ],
            "variable": "LD_LIBRARY_PATH",
            "unknown": loader.unknown,
        },
        (
            "unset LD_LIBRARY_PATH",
            f"or export LD_LIBRARY_PATH={':'.join(places)}:$LD_LIBRARY_PATH",
        ),
    )
