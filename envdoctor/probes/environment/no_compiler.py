"""There is no host compiler for what torch.compile and triton build at run time.

Why it matters: triton compiles its launcher with a C compiler (CC, else gcc, else clang), inductor its C++ code with
CXX or g++. Slim and runtime images have none, so that a training that uses torch.compile dies at its first step. A CC
that names no program is used all the same.

What to do: install gcc and g++, or let CC and CXX name the ones there are. CC is taken as one word: flags or a launcher
such as ccache in it do not work with triton.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envdoctor.facts.jit_tools import Compiler, JitTools
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity, Unavailable

C_BY = "_find_compiler in triton/runtime/build.py of triton 3.9.0"
CXX_BY = "cpp.cxx in torch/_inductor/config.py and cpp_compiler_search in cpp_builder.py of torch 2.13.0"
INSTALL = "as root: apt-get install gcc g++ (Debian, Ubuntu) or dnf install gcc gcc-c++ (Fedora, RHEL)"


def check(jit_tools: JitTools, torch_build: TorchBuild | Unavailable) -> Iterable[Finding]:
    """Call it an error where triton needs the C compiler, a warning where only inductor's C++ lacks one."""
    c, cxx, triton = jit_tools.c, jit_tools.cxx, jit_tools.triton
    if triton is not None and c.path is None:
        who = f"triton {triton.version or ''}".rstrip()
        yield _finding(c, Severity.ERROR, who, "gcc nor clang", C_BY)
    if isinstance(torch_build, Unavailable) or cxx.path is not None:
        return
    # one cause, one finding: without any compiler installing both is the advice already given
    if triton is None or c.path is not None or cxx.variable:
        severity = Severity.WARNING if triton or cxx.variable else Severity.NOTE
        yield _finding(cxx, severity, f"torch.compile of torch {torch_build.version}", "g++ nor CXX", CXX_BY)


def _finding(compiler: Compiler, severity: Severity, who: str, names: str, source: str) -> Finding:
    if compiler.variable:
        message = f"{compiler.variable}={compiler.command!r} names no program, and {who} would run it"
    else:
        message = f"{who} needs a compiler, but neither {names} is there"
    return Finding(
        severity,
        compiler.variable or ("gcc" if source == C_BY else "g++"),
        message,
        {"variable": compiler.variable, "command": compiler.command, "source": source},
        tuple(_remedy(compiler)),
    )


def _remedy(compiler: Compiler) -> Iterator[str]:
    if compiler.variable:
        yield f"unset {compiler.variable}"
        yield f"or let {compiler.variable} name the program alone, without flags"
    yield INSTALL
