"""triton needs a C compiler, inductor a C++ one; a variable that names nothing is used all the same."""

import pytest
from values import findings, jit_tools, torch_build

from envdoctor.facts.jit_tools import Compiler
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.environment.no_compiler import check

NONE = Compiler("", None)
TORCH = torch_build()


def judge(triton="3.6.0", torch=TORCH, **compilers):
    found = findings(check, jit_tools=jit_tools(triton, **compilers), torch_build=torch)
    return [(finding.severity, finding.subject) for finding in found]


def test_no_compiler_at_all_is_one_error():
    assert judge(c=NONE, cxx=NONE) == [(Severity.ERROR, "gcc")]


@pytest.mark.parametrize("command", ["/opt/gone/gcc", "ccache gcc", ""])
def test_cc_that_names_no_program_is_an_error_whatever_else_is_there(command):
    assert judge(c=Compiler(command, None, "CC")) == [(Severity.ERROR, "CC")]


def test_a_c_compiler_without_a_c_plus_plus_one_is_a_warning():
    assert judge(cxx=NONE) == [(Severity.WARNING, "g++")]
    assert judge(cxx=Compiler("/opt/gone/g++", None, "CXX")) == [(Severity.WARNING, "CXX")]


def test_without_triton_only_inductor_s_compiler_counts():
    assert judge(None, c=NONE, cxx=NONE) == [(Severity.NOTE, "g++")]
    assert judge(None, c=NONE) == []


def test_without_torch_only_triton_s_counts():
    absent = Unavailable("torch is not installed")
    assert judge(torch=absent, c=NONE, cxx=NONE) == [(Severity.ERROR, "gcc")]
    assert judge(torch=absent, cxx=NONE) == []


def test_compilers_that_are_there_are_healthy():
    assert judge() == []
    assert judge(c=Compiler("/opt/gcc-13/bin/gcc", "/opt/gcc-13/bin/gcc", "CC")) == []
