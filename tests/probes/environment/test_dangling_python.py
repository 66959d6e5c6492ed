"""An interpreter that does not answer is an error that says what was wrong; one that answers is not."""

import pytest

from envdoctor.facts.interpreter import UNSEEN, Interpreter
from envdoctor.model import Severity
from envdoctor.probes.environment.dangling_python import check

CHAIN = ("/env/bin/python", "/opt/python3.12")


def interpreter(problem):
    return Interpreter("/env/bin/python", CHAIN, problem is None, problem, "3.12.3", "3.12.3", {})


@pytest.mark.parametrize(
    "problem",
    ["did not start: No such file or directory", "no answer within 5 s", "printed something that is no answer"],
)
def test_a_python_that_does_not_answer_is_an_error(problem):
    (finding,) = check(interpreter(problem))
    assert (finding.severity, finding.subject) == (Severity.ERROR, "/env/bin/python")
    assert problem in finding.message
    assert "/opt/python3.12" in finding.message
    assert "judged from disk" in finding.message
    assert "put Python 3.12.3 back at /opt/python3.12" in finding.remedy


def test_a_python_that_answers_is_healthy():
    assert list(check(interpreter(None))) == []


def test_a_python_that_may_not_be_looked_at_is_a_note():
    (finding,) = check(interpreter(UNSEEN))
    assert (finding.severity, finding.subject) == (Severity.NOTE, "/env/bin/python")
    assert "whether it is there is not known" in finding.message
