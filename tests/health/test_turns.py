"""One run at a time for each file of state."""

import os
import re
import subprocess
import sys

import pytest
from doctor import Doctor

from envdoctor.health import turns

HOLD = """
import sys, time
from envdoctor.health import turns
turns._now = lambda: {now}
with turns.turn({state!r}, 30.0) as turn:
    print(turn.mine, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    """Return a function that starts a run, as old as is wanted, which holds the turn to the end of the test."""
    started = []

    def start(state, age=0.0):
        code = HOLD.format(now=turns._now() - age, state=str(state))
        process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout.readline() == b"True\n"
        return process

    yield start
    for process in started:
        process.communicate()


def test_the_turn_is_this_runs_if_nobody_has_it(tmp_path):
    with turns.turn(str(tmp_path / "a"), 30) as turn:
        assert turn == turns.Turn(mine=True)


def test_a_young_run_of_another_process_keeps_it(tmp_path, other):
    process = other(tmp_path / "a", age=20)
    with turns.turn(str(tmp_path / "a"), 30) as turn:
        assert (turn.mine, turn.overdue) == (False, False)
        assert re.fullmatch(rf"another run \(process {process.pid}\) has been under way for 2\d s", turn.said)


def test_another_state_has_a_turn_of_its_own(tmp_path, other):
    other(tmp_path / "a")
    with turns.turn(str(tmp_path / "b"), 30) as turn:
        assert turn.mine


def test_one_that_was_killed_gives_it_back(tmp_path, other):
    process = other(tmp_path / "a")
    process.kill()
    process.wait()
    with turns.turn(str(tmp_path / "a"), 30) as turn:
        assert turn.mine


@pytest.mark.whole
@pytest.mark.parametrize(
    ("age", "status", "said"),
    [(30, 0, "has been under way for "), (100, 3, "though its deadline was 30 s: see what it waits for, and end it")],
)
def test_a_second_run_goes_away_and_a_stuck_one_is_named(tmp_path, other, age, status, said):
    process = other(tmp_path / "state.sqlite", age=age)
    (tmp_path / "health.toml").write_text(f'state = "{tmp_path}/state.sqlite"\n[[target]]\npath = "/nowhere/env"\n')
    tmp_path.chmod(0o755)
    answer = Doctor(tmp_path)("health", "--config", tmp_path / "health.toml")
    assert answer.status == status
    assert said in answer.stdout + answer.stderr
    assert f"(process {process.pid})" in answer.stdout + answer.stderr


def test_a_place_that_somebody_has_taken_stops_no_run(tmp_path, monkeypatch):
    monkeypatch.setattr("envdoctor.system.shelf.MEMORY", str(tmp_path / "missing"))
    monkeypatch.setattr(turns, "RUN", str(tmp_path / "missing"))
    with turns.turn(str(tmp_path / "a"), 30) as turn:
        assert turn.mine
        assert turn.said.startswith("whether another run is under way is not known: ")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_user_who_takes_the_place_first_takes_nothing_from_root(tmp_path, monkeypatch):
    taken, run = tmp_path / "shm", tmp_path / "run"
    for folder in (taken, taken / "envdoctor-0", run):
        folder.mkdir()
    os.chown(taken / "envdoctor-0", 12345, 12345)
    monkeypatch.setattr("envdoctor.system.shelf.MEMORY", str(taken))
    monkeypatch.setattr(turns, "RUN", str(run))
    with turns.turn(str(tmp_path / "a"), 30) as turn:
        assert turn == turns.Turn(mine=True)
