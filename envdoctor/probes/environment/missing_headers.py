"""Python.h for the target's interpreter is not there.

Why it matters: triton compiles a launcher for each kernel, and inductor its C++ code, against the headers of exactly
the Python that runs. Distributions package them apart (python3.12-dev), and those of another version do not count.

What to do: install the development package of the same minor version; without root, use an interpreter that brings its
headers along (conda's, uv's or pyenv's), or unpack them somewhere and let CPATH name the directory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.jit_tools import JitTools
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity

CALLED_BY = "_build in triton/runtime/build.py of triton 3.9.0"


def check(jit_tools: JitTools, interpreter: Interpreter, torch_build: TorchBuild) -> Iterable[Finding]:
    """Call it an error where torch has triton, a note where only inductor's C++ would need it."""
    header = jit_tools.header
    if header.expected is None or header.found is not None:
        return
    triton = jit_tools.triton
    who = f"triton {triton.version or ''}".rstrip() if triton else f"torch.compile of torch {torch_build.version}"
    others = f"; {header.others[0]} is of another version" if header.others else ""
    yield Finding(
        Severity.ERROR if triton else Severity.NOTE,
        header.expected,
        f"{who} compiles against {header.expected}, which is not there{others}",
        {
            "expected": header.expected,
            "others": list(header.others),
            "python": interpreter.version,
            "source": CALLED_BY,
        },
        tuple(_remedy(interpreter)),
    )


def _remedy(interpreter: Interpreter) -> Iterator[str]:
    minor = interpreter.minor or "3"
    if interpreter.kind == "conda":
        yield f"conda install --force-reinstall python={minor}"
        return
    yield f"as root: apt-get install python{minor}-dev (Debian) or dnf install python{minor}-devel (Fedora, RHEL)"
    yield f"or make the environment with a Python {minor} that brings its headers along (uv, pyenv, conda)"
