"""What stops the doctor is one line and a status."""

import pickle

import pytest

from envdoctor.errors import EnvDoctorError, LockError, PolicyError, UsageError, described


@pytest.mark.parametrize(
    ("error", "status"),
    [(EnvDoctorError("x"), 3), (UsageError("x"), 2), (LockError("x", "y"), 2), (PolicyError("x"), 2)],
)
def test_each_kind_has_its_status(error, status):
    assert error.status == status


@pytest.mark.parametrize(
    ("error", "text"),
    [(LockError("a.txt", "bad"), "a.txt: bad"), (LockError("a.txt", "bad", 12), "a.txt:12: bad")],
)
def test_a_lock_error_can_be_clicked_and_crosses_a_pipe(error, text):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (str(again), again.path, again.problem, again.line) == (text, error.path, error.problem, error.line)


def test_an_unforeseen_error_is_named_with_its_line():
    def inner():
        raise ValueError("why")

    with pytest.raises(ValueError, match="why") as caught:
        inner()
    line = inner.__code__.co_firstlineno + 1
    assert described(caught.value) == f"ValueError: why (test_errors.py:{line})"
    assert described(KeyError("k")) == "KeyError: 'k'"
