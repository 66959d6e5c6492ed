"""A second call compiles nothing."""

import pytest
from values import attempt, failure, tried

from envdoctor.model import Severity
from envdoctor.probes.smoke.recompile import check


def judge(before, after):
    return tried(check, attempt("recompile", graphs_before=before, graphs_after=after, calls=3))


@pytest.mark.parametrize(("after", "said"), [(4, "1 graph anew"), (5, "2 graphs anew")])
def test_graphs_that_were_compiled_again_are_an_error(after, said):
    (found,) = judge(3, after)
    assert (found.severity, found.subject) == (Severity.ERROR, "cuda:0")
    assert found.message == f"a second call on data of the same shape compiled {said}"
    assert found.evidence["graphs_after"] == after


@pytest.mark.parametrize("count", [0, 3])
def test_none_is_silent(count):
    assert judge(count, count) == []


def test_an_error_is_told():
    (found,) = tried(check, attempt("recompile", failure("RuntimeError: it broke")))
    assert found.message == "cuda:0: recompile failed: RuntimeError: it broke"


def test_a_step_that_never_ran_has_no_figures():
    assert tried(check, attempt("recompile", state="never-ran", reason="compile failed")) == []
