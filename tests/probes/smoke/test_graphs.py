"""CUDA graphs: errors, figures that are off, graphs that torch gave up."""

import pytest
from values import attempt, failure, tried

from envdoctor.model import Severity
from envdoctor.probes.smoke.graphs import check


def judge(skipped=0, error=1e-3):
    return tried(check, attempt("graphs", errors={"bfloat16": error}, graphs_skipped=skipped))


@pytest.mark.parametrize(("skipped", "said"), [(1, "1 CUDA graph of"), (3, "3 CUDA graphs of")])
def test_graphs_that_were_given_up_are_an_error(skipped, said):
    (found,) = judge(skipped)
    assert (found.severity, found.subject) == (Severity.ERROR, "cuda:0")
    assert f"torch gave up {said}" in found.message


def test_figures_that_are_off_are_an_error():
    assert judge(error=0.1)[0].message.startswith("cuda:0: graphs in bfloat16 is wrong")


def test_graphs_that_were_recorded_are_silent():
    assert judge() == []


def test_an_error_is_told_once():
    (found,) = tried(check, attempt("graphs", failure("RuntimeError: capture failed"), graphs_skipped=2))
    assert found.message == "cuda:0: graphs failed: RuntimeError: capture failed"
