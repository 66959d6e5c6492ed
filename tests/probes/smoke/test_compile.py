"""A compiled block: errors, and figures that are off."""

import pytest
from values import attempt, failure, tried

from envdoctor.model import Severity
from envdoctor.probes.smoke.compile import check


def judge(error, dtype="bfloat16"):
    return tried(check, attempt("compile", errors={dtype: error}))


@pytest.mark.parametrize("error", [0.1, float("inf"), float("nan")])
def test_a_figure_above_the_bound_is_an_error(error):
    (found,) = judge(error)
    assert (found.severity, found.subject, found.evidence["bound"]) == (Severity.ERROR, "cuda:0", 2e-2)
    assert found.message.startswith("cuda:0: compile in bfloat16 is wrong: off by ")


@pytest.mark.parametrize("error", [0.0, 1e-3, 2e-2])
def test_a_figure_up_to_the_bound_is_silent(error):
    assert judge(error) == []


def test_an_error_is_told():
    (found,) = tried(check, attempt("compile", failure("BackendCompilerFailed: it broke")))
    assert found.message == "cuda:0: compile failed: BackendCompilerFailed: it broke"


@pytest.mark.parametrize("state", ["skipped", "never-ran"])
def test_what_was_not_tried_is_silent(state):
    assert tried(check, attempt("compile", state=state, reason="matmul failed")) == []


def test_the_first_figure_that_is_off_is_told():
    (found,) = tried(check, attempt("compile", errors={"float32": 1e-6, "bfloat16": 0.5, "float16": 0.5}))
    assert found.message == "cuda:0: compile in bfloat16 is wrong: off by 5.0e-01 of its norm; up to 2e-02 is rounding"


def test_each_device_is_judged():
    found = tried(check, *(attempt("compile", device=f"cuda:{n}", errors={"float32": n}) for n in range(3)))
    assert [item.subject for item in found] == ["cuda:1", "cuda:2"]


def test_a_step_that_compiled_nothing_proves_nothing():
    (found,) = tried(check, attempt("compile", errors={"float32": 0.0}, compiled=0))
    assert found.message == "cuda:0: compile compiled nothing: torch.compile is switched off, or was replaced"
    assert "unset TORCH_COMPILE_DISABLE" in found.remedy
    assert tried(check, attempt("compile", errors={"float32": 0.0}, compiled=2)) == []


def test_a_step_that_tells_no_figures_is_no_success():
    (found,) = tried(check, attempt("compile", compiled=2))
    assert found.message == "cuda:0: compile told no figures"
