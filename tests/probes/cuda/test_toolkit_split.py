"""nvcc, headers and version file of one directory must be of one release."""

import pytest
from values import findings, toolkit, toolkits

from envdoctor.facts.toolkits import Header
from envdoctor.model import Severity
from envdoctor.probes.cuda.toolkit_split import check

PREFIX = "/usr/local/cuda-13.0"


@pytest.mark.parametrize(
    "parts", [{"headers": "13.1"}, {"headers": "12.0"}, {"recorded": "12.8.1"}, {"nvcc": None, "recorded": "12.8.1"}]
)
def test_parts_of_different_releases_are_an_error(parts):
    (found,) = findings(check, toolkits=toolkits(toolkit(**parts), CUDA_HOME=0))
    assert (found.severity, found.subject) == (Severity.ERROR, PREFIX)


def test_headers_of_two_machines_are_compared_too():
    item = toolkit()
    headers = (*item.headers, Header(f"{PREFIX}/targets/sbsa-linux/include/cuda.h", "12.9"))
    mixed = type(item)(item.prefix, item.nvcc, item.nvcc_version, headers=headers)
    (found,) = findings(check, toolkits=toolkits(mixed, CUDA_HOME=0))
    assert "targets/sbsa-linux/include/cuda.h says CUDA 12.9" in found.message


@pytest.mark.parametrize("parts", [{}, {"recorded": "13.0.2"}, {"headers": None}, {"nvcc": None}])
def test_one_release_or_one_part_is_healthy(parts):
    assert findings(check, toolkits=toolkits(toolkit(**parts), CUDA_HOME=0)) == []


def test_a_toolkit_that_no_build_would_take_is_a_warning():
    mixed = toolkit("/usr/local/cuda-12.8", "12.8.93", "12.9")
    (found,) = findings(check, toolkits=toolkits(toolkit(), mixed, CUDA_HOME=0))
    assert (found.severity, found.subject) == (Severity.WARNING, "/usr/local/cuda-12.8")


def test_two_whole_toolkits_side_by_side_are_healthy():
    assert findings(check, toolkits=toolkits(toolkit(), toolkit("/opt/cuda", "12.8.93", "12.8"), PATH=0)) == []
