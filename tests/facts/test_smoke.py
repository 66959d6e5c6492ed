"""What the payload writes is read; what it does not write is no event, whatever it is."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.facts.smoke import FRESH, STEPS, attempted, parse

BEGIN = {"event": "begin", "device": "cuda:0", "step": "matmul"}
END = {"event": "end", "device": "cuda:0", "step": "matmul", "state": "passed", "seconds": 0.5, "detail": {"a": 1}}
ERROR = {"type": "ValueError", "message": "7", "causes": ["ValueError: 7"], "traceback": ["x"], "paths": ["/c/x.py"]}
FAILED = {**END, "state": "failed", "error": ERROR}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*ERROR, "x"]), inner, max_size=4),
)


def read(event):
    return parse(json.dumps(event).encode())


@pytest.mark.parametrize("event", [BEGIN, END, FAILED, {**END, "device": "", "step": "torch-import"}])
def test_events_are_read(event):
    assert read(event) == event


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"Traceback (most recent call last):",
        b"{",
        b"null",
        b"[1]",
        b'"end"',
        b"\xff\xfe{}",
        b"[" * 100_000,
        b"1" * 10_000,
        json.dumps({**BEGIN, "event": "middle"}).encode(),
        json.dumps({**BEGIN, "device": 0}).encode(),
        json.dumps({**BEGIN, "step": None}).encode(),
        json.dumps({"event": "begin", "device": "cpu"}).encode(),
    ],
)
def test_what_is_no_event_is_none(line):
    assert parse(line) is None


@given(st.binary() | values.map(lambda value: json.dumps(value).encode()))
def test_no_line_stops_it(line):
    parse(line)


def test_a_step_that_passed_says_what_it_measured():
    found = attempted(END, "printed")
    assert (found.device, found.step, found.state, found.seconds) == ("cuda:0", "matmul", "passed", 0.5)
    assert (found.detail, found.failure) == ({"a": 1}, None)


def test_a_step_that_failed_says_how():
    found = attempted(FAILED, "words").failure
    assert (found.how, found.type, found.message, found.printed) == ("raised", "ValueError", "7", "words")
    assert (found.causes, found.traceback, found.paths) == (("ValueError: 7",), ("x",), ("/c/x.py",))
    assert found.error == "ValueError: 7\nx"


@pytest.mark.parametrize("state", ["skipped", "never-ran"])
def test_a_step_that_was_not_tried_says_why(state):
    assert attempted({**END, "state": state, "detail": {"reason": "no GPU"}}, "").reason == "no GPU"


def test_the_import_is_of_no_device():
    assert attempted({**END, "device": ""}, "").device == "torch"


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "ok"},
        {"state": None},
        {"state": ["passed"]},
        {"seconds": "long"},
        {"seconds": None},
        {"seconds": float("nan")},
        {"seconds": 10**400},
        {"detail": None},
        {"detail": ["reason"]},
        {"state": "failed"},
        {"state": "failed", "error": "it broke"},
        {"state": "failed", "error": {"causes": 7}},
        {"state": "failed", "error": {"paths": None}},
    ],
)
def test_an_end_of_another_form_is_refused(changes):
    with pytest.raises(ValueError, match=r"an end with|a failure without"):
        attempted({**END, **changes}, "")


@given(st.dictionaries(st.sampled_from(["state", "seconds", "detail", "error"]), values | st.just("failed")))
def test_an_end_is_an_attempt_or_a_value_error(changes):
    try:
        found = attempted({**END, **changes}, "")
    except ValueError:
        return
    assert isinstance(found.reason, str)
    assert all(isinstance(error, float) for error in found.errors.values())


@pytest.mark.parametrize("figure", ["wide", None, [], float("nan")])
def test_a_figure_that_is_no_number_is_none(figure):
    (error,) = attempted({**END, "detail": {"errors": {"float32": figure}}}, "").errors.values()
    assert math.isnan(error)


def test_figures_are_numbers_by_dtype():
    detail = {"errors": {"float32": 0, "bfloat16": 1e-3, "float16": 10**400}}
    assert attempted({**END, "detail": detail}, "").errors == {"float32": 0.0, "bfloat16": 1e-3, "float16": math.inf}


def test_the_full_level_has_all_steps_of_the_quick_one_in_the_same_order():
    assert [step for step in STEPS["full"] if step in STEPS["quick"]] == list(STEPS["quick"])
    assert FRESH not in STEPS["full"]
