"""Each GPU needs a ptxas that knows its architecture; which one triton uses hangs on its release."""

import pytest
from values import SITE, driver, findings, gpu, jit_tools

from envdoctor.facts.jit_tools import Ptxas
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.cuda.ptxas_too_old import check

OWN = f"{SITE}/triton/backends/nvidia/bin"
NO_DRIVER = Unavailable("no NVIDIA driver on this node")


def own(version, name="ptxas"):
    return Ptxas(name, f"{OWN}/{name}", version)


def judge(tools, *capabilities):
    cards = [gpu(index, capability=capability) for index, capability in enumerate(capabilities)]
    return findings(check, jit_tools=tools, driver=driver(*cards) if cards else NO_DRIVER)


@pytest.mark.parametrize(
    ("version", "capability"), [("12.4.99", (10, 0)), ("12.4.99", (12, 0)), ("12.8.93", (12, 1)), ("13.0.88", (7, 0))]
)
def test_a_ptxas_that_does_not_know_the_gpu_is_an_error(version, capability):
    (found,) = judge(jit_tools("3.4.0", ptxas=(own(version),)), (9, 0), capability)
    assert (found.severity, found.subject) == (Severity.ERROR, "cuda:1") if version < "13" else found.severity
    assert found.evidence["ptxas"] == f"{OWN}/ptxas"


@pytest.mark.parametrize(
    ("version", "capability"), [("12.8.93", (10, 0)), ("12.4.99", (9, 0)), ("12.9.41", (12, 1)), ("13.0.88", (7, 5))]
)
def test_one_that_knows_it_is_healthy(version, capability):
    assert judge(jit_tools("3.4.0", ptxas=(own(version),)), capability) == []


def test_newer_gpus_get_the_other_ptxas():
    tools = (own("12.4.99"), own("12.8.61", "ptxas-blackwell"))
    assert judge(jit_tools("3.3.1", ptxas=tools), (9, 0), (10, 0)) == []
    (found,) = judge(jit_tools("3.3.1", ptxas=(tools[0], own("12.4.99", "ptxas-blackwell"))), (9, 0), (10, 0))
    assert (found.subject, found.evidence["ptxas"]) == ("cuda:1", f"{OWN}/ptxas-blackwell")
    (found,) = judge(jit_tools("3.9.0", ptxas=(own("12.9.86"), own("11.7.99", "ptxas-blackwell"))), (8, 9), (9, 0))
    assert found.subject == "cuda:1", "from 3.9 on Hopper gets it too"


@pytest.mark.parametrize(
    ("tools", "capability"),
    [
        (jit_tools("4.7.0", ptxas=(own("12.4.99"),)), (12, 0)),
        (jit_tools("3.4.0", ptxas=(own(None),)), (12, 0)),
        (jit_tools("3.4.0", ptxas=(own("12.4.99"),)), (19, 0)),
        (jit_tools("3.4.0", ptxas=(own("12.4.99"),)), None),
        (jit_tools(None), (12, 0)),
    ],
    ids=["triton", "ptxas", "architecture", "capability", "no triton"],
)
def test_what_is_unknown_is_passed_over(tools, capability):
    assert judge(tools, capability) == []


@pytest.mark.parametrize("devices", [(), ((9, 0),)])
def test_a_variable_that_names_an_older_one_is_a_warning_with_and_without_gpus(devices):
    older = Ptxas("ptxas", "/usr/local/cuda-12.4/bin/ptxas", "12.4.131", "TRITON_PTXAS_PATH")
    (found,) = judge(jit_tools("3.4.0", ptxas=(older, own("12.8.93"))), *devices)
    assert (found.severity, found.subject) == (Severity.WARNING, "TRITON_PTXAS_PATH")


def test_an_older_one_in_the_way_of_a_new_gpu_is_an_error_too():
    older = Ptxas("ptxas", "/usr/local/cuda-12.4/bin/ptxas", "12.4.131", "TRITON_PTXAS_PATH")
    warning, error = judge(jit_tools("3.4.0", ptxas=(older, own("12.8.93"))), (12, 0))
    assert (warning.severity, error.severity) == (Severity.WARNING, Severity.ERROR)
    assert error.remedy[0] == "unset TRITON_PTXAS_PATH"


@pytest.mark.parametrize("version", ["12.8.61", "12.9.86", None])
def test_one_of_the_same_release_or_newer_or_unknown_is_healthy(version):
    named = Ptxas("ptxas", "/usr/local/cuda/bin/ptxas", version, "TRITON_PTXAS_PATH")
    assert judge(jit_tools("3.4.0", ptxas=(named, own("12.8.93")))) == []


def test_a_variable_that_names_nothing_is_a_warning_and_triton_s_own_is_judged():
    gone = Ptxas("ptxas", "/gone/ptxas", None, "TRITON_PTXAS_PATH", exists=False)
    warning, error = judge(jit_tools("3.4.0", ptxas=(gone, own("12.4.99"))), (12, 0))
    assert "so that triton takes its own" in warning.message
    assert error.evidence["ptxas"] == f"{OWN}/ptxas"
