"""Code for the device, by torch's own list."""

import pytest
from values import attempt, failure, tried

from envdoctor.model import Severity
from envdoctor.probes.smoke.arch import check


def judge(capability, *archs):
    return tried(check, attempt("arch", capability=list(capability), archs=list(archs)))


def test_a_list_without_the_capability_is_an_error():
    (found,) = judge((6, 1), "sm_75", "sm_80", "sm_90", "compute_90")
    assert (found.severity, found.subject) == (Severity.ERROR, "cuda:0")
    assert found.message == (
        "cuda:0 has compute capability 6.1, and this torch holds code for sm_75 sm_80 sm_90 compute_90 only"
    )
    assert found.evidence["capability"] == [6, 1]


@pytest.mark.parametrize("archs", [(), ("sm_90a",), ("sm_80", "sm_90"), ("sm_120",)])
def test_nothing_that_runs_on_it_is_an_error(archs):
    assert len(judge((10, 0), *archs)) == 1


@pytest.mark.parametrize(
    ("capability", "archs"),
    [
        ((9, 0), ("sm_80", "sm_90")),
        ((8, 6), ("sm_80", "sm_90")),
        ((10, 0), ("sm_80", "sm_90", "compute_90")),
        ((9, 0), ("sm_90a",)),
    ],
    ids=["its own", "of its major", "ptx", "for it alone"],
)
def test_healthy_neighbours(capability, archs):
    assert judge(capability, *archs) == []


def test_a_failed_step_is_told_and_not_judged():
    (found,) = tried(check, attempt("arch", failure("RuntimeError: no GPU")))
    assert found.message == "cuda:0: arch failed: RuntimeError: no GPU"


def test_a_cpu_has_none():
    assert tried(check, attempt("arch", device="cpu", state="skipped", reason="a CPU has no capability")) == []
