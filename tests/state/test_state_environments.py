"""The variables of jobs: written when they change and once a day, read with their age."""

from dataclasses import replace
from datetime import timedelta

import pytest
from states import SUBJECT, Story, changed, clean, told
from values import NOW

from envdoctor.state import environments
from envdoctor.state.place import StateError

JOB = {"CUDA_HOME": "/usr/local/cuda", "TORCHINDUCTOR_CACHE_DIR": "/srv/\udcff"}
HOUR = timedelta(hours=1)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "state" / "node7.sqlite")


def test_they_come_back_with_the_time_at_which_they_held(path):
    assert environments.last(path, SUBJECT) is None
    assert environments.record(path, SUBJECT, JOB, NOW) is None
    assert environments.last(path, SUBJECT) == (NOW, JOB)
    assert environments.last(path, replace(SUBJECT, user="0")) is None


@pytest.mark.parametrize(
    ("later", "variables", "written"),
    [
        (23 * HOUR, JOB, False),
        (24 * HOUR, JOB, True),
        (-HOUR, JOB, True),
        (HOUR, {"CUDA_HOME": "/other"}, True),
        (HOUR, {}, True),
    ],
    ids=["within a day", "a day later", "a clock set back", "another value", "none"],
)
def test_they_are_written_when_they_have_changed_or_grown_old(path, later, variables, written):
    environments.record(path, SUBJECT, JOB, NOW)
    environments.record(path, SUBJECT, variables, NOW + later)
    assert environments.last(path, SUBJECT) == ((NOW + later, variables) if written else (NOW, JOB))


def test_too_many_are_said_and_not_kept(path):
    assert "are not remembered" in environments.record(path, SUBJECT, {"A": "x" * environments.LONGEST}, NOW)
    assert environments.last(path, SUBJECT) is None


@pytest.mark.parametrize("text", ["[]", "{", '{"A": 1}', "null", "[" * 100_000])
def test_what_no_run_has_written_is_refused_and_replaced(path, text):
    environments.record(path, SUBJECT, JOB, NOW)
    changed(path, ("UPDATE environments SET variables = ?", (text,)))
    with pytest.raises(StateError, match="not what was written"):
        environments.last(path, SUBJECT)
    environments.record(path, SUBJECT, JOB, NOW)
    assert environments.last(path, SUBJECT) == (NOW, JOB)


def test_they_stand_beside_the_history_of_the_same_environment(path):
    Story(path).run(clean())
    environments.record(path, SUBJECT, JOB, NOW)
    assert told(path, "SELECT COUNT(*) FROM subjects") == [(1,)]
