"""Compiled flex_attention: errors, and figures that are off."""

import pytest
from values import attempt, failure, tried

from envdoctor.model import Severity
from envdoctor.probes.smoke.flex_attention import check


def judge(error, dtype="bfloat16"):
    return tried(check, attempt("flex-attention", errors={dtype: error}))


@pytest.mark.parametrize("error", [0.1, float("inf"), float("nan")])
def test_a_figure_above_the_bound_is_an_error(error):
    (found,) = judge(error)
    assert (found.severity, found.subject, found.evidence["bound"]) == (Severity.ERROR, "cuda:0", 2e-2)
    assert found.message.startswith("cuda:0: flex-attention in bfloat16 is wrong: off by ")


@pytest.mark.parametrize("error", [0.0, 1e-3, 2e-2])
def test_a_figure_up_to_the_bound_is_silent(error):
    assert judge(error) == []


def test_an_error_is_told():
    (found,) = tried(check, attempt("flex-attention", failure("BackendCompilerFailed: it broke")))
    assert found.message == "cuda:0: flex-attention failed: BackendCompilerFailed: it broke"


@pytest.mark.parametrize("state", ["skipped", "never-ran"])
def test_what_was_not_tried_is_silent(state):
    assert tried(check, attempt("flex-attention", state=state, reason="matmul failed")) == []
