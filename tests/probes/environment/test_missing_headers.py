"""Python.h of exactly the target's minor version is needed; another version's does not count."""

import pytest
from values import findings, interpreter, jit_tools, torch_build

from envdoctor.facts.jit_tools import PythonHeader
from envdoctor.model import Severity
from envdoctor.probes.environment.missing_headers import check

HERE = "/usr/include/python3.12/Python.h"
OTHER = "/usr/include/python3.11/Python.h"


def judge(header, triton="3.6.0", **facts):
    return findings(check, jit_tools=jit_tools(triton, header=header), torch_build=torch_build(), **facts)


@pytest.mark.parametrize("others", [(), (OTHER,)])
def test_absent_headers_are_an_error_with_triton(others):
    (found,) = judge(PythonHeader(HERE, None, others))
    assert (found.severity, found.subject) == (Severity.ERROR, HERE)
    assert "python3.12-dev" in found.remedy[0]
    assert (OTHER in found.message) == bool(others)


def test_without_triton_they_are_a_note():
    (found,) = judge(PythonHeader(HERE, None), triton=None)
    assert found.severity == Severity.NOTE


@pytest.mark.parametrize("header", [PythonHeader(HERE, HERE, (OTHER,)), PythonHeader(HERE, "/mine/Python.h")])
def test_headers_in_their_place_or_named_by_a_variable_are_healthy(header):
    assert judge(header) == []


def test_a_place_that_is_not_known_is_passed_over():
    assert judge(PythonHeader(None, None)) == []


def test_conda_is_told_what_conda_can_do():
    (found,) = judge(PythonHeader(HERE, None), interpreter=interpreter(kind="conda"))
    assert found.remedy == ("conda install --force-reinstall python=3.12",)
