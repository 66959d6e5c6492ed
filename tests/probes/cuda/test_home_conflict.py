"""The variables and PATH must lead to one toolkit, links being followed."""

import pytest
from values import findings, toolkit, toolkits

from envdoctor.facts.toolkits import Named
from envdoctor.model import Severity
from envdoctor.probes.cuda.home_conflict import check

OLD, NEW = toolkit("/usr/local/cuda-12.8", "12.8.93", "12.8"), toolkit()


@pytest.mark.parametrize(
    "ways", [{"CUDA_HOME": 0, "PATH": 1}, {"CUDA_HOME": 1, "CUDA_PATH": 0}, {"CUDA_PATH": 0, "PATH": 1}]
)
def test_two_toolkits_are_a_warning_that_names_both(ways):
    (found,) = findings(check, toolkits=toolkits(OLD, NEW, **ways))
    assert (found.severity, found.subject) == (Severity.WARNING, next(iter(ways)))
    assert "CUDA 12.8" in found.message
    assert "CUDA 13.0" in found.message


def test_a_link_and_what_it_leads_to_are_one_toolkit():
    link = Named("CUDA_HOME", "/usr/local/cuda", NEW.prefix, nvcc="/usr/local/cuda/bin/nvcc")
    wrapper = Named("PATH", "/usr/local", NEW.prefix, nvcc="/usr/local/bin/nvcc")
    assert findings(check, toolkits=toolkits(NEW, CUDA_HOME=link, PATH=wrapper)) == []


def test_the_default_place_is_no_second_opinion():
    assert findings(check, toolkits=toolkits(OLD, NEW, CUDA_HOME=0, default=1)) == []
    assert findings(check, toolkits=toolkits(OLD, NEW, PATH=0, default=1)) == []
    assert findings(check, toolkits=toolkits()) == []


@pytest.mark.parametrize(("exists", "said"), [(False, "does not exist"), (True, "has no nvcc")])
@pytest.mark.parametrize("way", ["CUDA_HOME", "CUDA_PATH"])
def test_a_variable_that_leads_to_no_nvcc_is_a_warning(way, exists, said):
    useless = Named(way, "/opt/gone", "/opt/gone", exists=exists)
    (found,) = findings(check, toolkits=toolkits(NEW, PATH=0, **{way: useless}))
    assert (found.severity, found.subject) == (Severity.WARNING, way)
    assert found.message == f"{way}=/opt/gone {said}"
    assert found.remedy == (f"unset {way}", f"or export {way}=/usr/local/cuda-13.0")


def test_cuda_path_is_not_read_where_cuda_home_is_set():
    useless = Named("CUDA_PATH", "/opt/gone", "/opt/gone", exists=False)
    assert findings(check, toolkits=toolkits(NEW, CUDA_HOME=0, CUDA_PATH=useless)) == []
