"""Matrix products, by what each dtype can hold."""

import pytest
from values import attempt, failure, tried

from envdoctor.model import Severity
from envdoctor.probes.smoke.matmul import check


def judge(dtype, error, **detail):
    return tried(check, attempt("matmul", errors={dtype: error}, **detail))


@pytest.mark.parametrize(
    ("dtype", "bound", "fields"),
    [
        ("float32", 1e-4, {"tf32": False}),
        ("float32", 5e-3, {"tf32": True}),
        ("bfloat16", 2e-2, {"tf32": True}),
        ("float16", 4e-3, {"tf32": True}),
    ],
)
def test_a_figure_is_judged_by_its_bound(dtype, bound, fields):
    assert judge(dtype, bound, **fields) == []
    (found,) = judge(dtype, bound * 1.01, **fields)
    assert (found.severity, found.subject) == (Severity.ERROR, "cuda:0")
    assert (found.evidence["dtype"], found.evidence["bound"]) == (dtype, bound)


@pytest.mark.parametrize("error", [float("nan"), float("inf")])
def test_what_is_no_number_is_wrong_and_can_be_written_down(error):
    (found,) = judge("float32", error)
    assert found.evidence["error"] == str(error)


def test_a_figure_in_an_unknown_dtype_has_no_bound():
    assert len(judge("float8_e4m3fn", 1e-9)) == 1


def test_an_error_is_told():
    (found,) = tried(check, attempt("matmul", failure("RuntimeError: CUBLAS_STATUS_NOT_INITIALIZED")))
    assert found.message.startswith("cuda:0: matmul failed: ")


def test_wrong_figures_send_one_to_the_error_counters():
    assert judge("float32", 0.1)[0].remedy[-1] == "envdoctor check --select node/gpu-errors"
