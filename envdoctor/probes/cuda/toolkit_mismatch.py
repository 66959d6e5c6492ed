"""The CUDA toolkit that a build would take is not the CUDA that torch was built for.

Why it matters: packages that compile CUDA code take nvcc from CUDA_HOME, CUDA_PATH or PATH and link what they build
into torch's process. Against another CUDA major torch's build helper refuses to build, and what is built past it brings
a second CUDA runtime along. A toolkit of another minor works, with a warning.

What to do: point CUDA_HOME and PATH at a toolkit of torch's CUDA, or install a torch that was built for the toolkit's.
Where nothing in the environment compiles, the toolkit plays no part in training. The wheels that torch brings along are
no toolkit, and the CUDA number that nvidia-smi prints is none either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote

from envdoctor import knowledge
from envdoctor.facts.cuda_tools import number, release
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.toolkits import Named, Toolkit, Toolkits
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity

CHECKED_BY = "_check_cuda_version in torch/utils/cpp_extension.py of torch 2.13.0"


def check(
    toolkits: Toolkits, torch_build: TorchBuild, distributions: Distributions, interpreter: Interpreter
) -> Iterable[Finding]:
    """Compare releases; another major is an error only where something here compiles with nvcc."""
    wanted = release(torch_build.cuda)
    if wanted is None:
        return
    builders = [*_builders(distributions), *_extensions(toolkits, torch_build, distributions, interpreter)]
    chosen = toolkits.chosen
    if chosen is None or chosen.nvcc is None:
        if builders and (chosen is None or chosen.exists):
            yield _none(chosen, wanted, builders)
        return
    toolkit = toolkits.at(chosen.prefix)
    found = release(toolkit.nvcc_version) if toolkit else None
    if toolkit is not None and found is None:
        yield _unknown(chosen, toolkit, wanted)
    elif found and found != wanted:
        yield _differs(chosen, found, torch_build, builders, toolkits)


def _builders(distributions: Distributions) -> Iterator[str]:
    """Yield what compiles while a job runs, and what was compiled here from sources and would be again."""
    active = distributions.active
    for row in knowledge.rows("extension_builders"):
        item = active.get(row["name"])
        if item is not None and (row["when"] == "run" or _from_source(item)):
            yield item.name


def _from_source(item: Distribution) -> bool:
    url = item.direct_url
    return url is not None and (url.editable or url.vcs is not None or not url.url.partition("#")[0].endswith(".whl"))


def _extensions(
    toolkits: Toolkits, torch_build: TorchBuild, distributions: Distributions, interpreter: Interpreter
) -> Iterator[str]:
    """Yield extensions that torch compiled for this interpreter and CUDA; without ninja it could compile none."""
    if "ninja" not in distributions.active:
        return
    python = f"py{(interpreter.minor or '').replace('.', '')}{'t' if interpreter.free_threaded else ''}"
    folder = f"{python}_cu{(torch_build.cuda or '').replace('.', '')}"
    yield from (item.name for item in toolkits.built if item.folder in ("", folder))


def _none(chosen: Named | None, wanted: str, builders: list[str]) -> Finding:
    where = f"{chosen.way} leads to {chosen.path}, which has no nvcc" if chosen else "no CUDA toolkit was found"
    return Finding(
        Severity.NOTE,
        builders[0],
        f"{_listed(builders)} may compile CUDA code, but {where}",
        {"builders": builders, "torch_cuda": wanted, "chosen_by": chosen.way if chosen else None},
        (f"where it has to compile, install the CUDA {wanted} toolkit and export CUDA_HOME",),
    )


def _unknown(chosen: Named, toolkit: Toolkit, wanted: str) -> Finding:
    return Finding(
        Severity.NOTE,
        chosen.nvcc or chosen.path,
        f"whether {chosen.nvcc} fits torch's CUDA {wanted} is unknown: it {toolkit.nvcc_problem}",
        {"nvcc": chosen.nvcc, "problem": toolkit.nvcc_problem, "torch_cuda": wanted},
    )


def _differs(chosen: Named, found: str, torch_build: TorchBuild, builders: list[str], toolkits: Toolkits) -> Finding:
    wanted = release(torch_build.cuda) or ""
    other_major = number(found)[0] != number(wanted)[0]
    severity = Severity.NOTE
    if other_major:
        severity = Severity.ERROR if builders else Severity.WARNING
    here = f"; {_listed(builders)} compile{'s' if len(builders) == 1 else ''} with it" if builders else ""
    return Finding(
        severity,
        chosen.nvcc or chosen.path,
        f"a build would take {chosen.nvcc} of CUDA {found}, and torch {torch_build.version} is built for CUDA {wanted}"
        f"{here}",
        {
            "nvcc": chosen.nvcc,
            "toolkit": found,
            "toolkit_prefix": chosen.prefix,
            "chosen_by": chosen.way,
            "torch": torch_build.version,
            "torch_cuda": wanted,
            "builders": builders,
            "source": CHECKED_BY,
        },
        tuple(_remedy(found, wanted, toolkits)) if other_major else (),
    )


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def fitting(wanted: str, toolkits: Toolkits) -> str | None:
    """Return the toolkit of a release, else one of the same major; None if there is none."""
    versions = {item.prefix: release(item.nvcc_version) for item in toolkits.items if item.nvcc}
    found = [prefix for prefix, version in versions.items() if version == wanted]
    found += [prefix for prefix, version in versions.items() if version and _major(version) == _major(wanted)]
    return found[0] if found else None


def _remedy(found: str, wanted: str, toolkits: Toolkits) -> Iterator[str]:
    instead = fitting(wanted, toolkits)
    if instead:
        yield f"export CUDA_HOME={quote(instead)}"
        yield f'export PATH={quote(instead)}/bin:"$PATH"'
    else:
        yield f"install the CUDA {wanted} toolkit, and let CUDA_HOME and PATH name it"
    yield f"or install a torch that is built for CUDA {_major(found)}"


def _major(version: str) -> int:
    return number(version)[0]
