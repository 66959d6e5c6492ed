"""Metrics into a file, changes to a command: real files and real processes."""

import json
import os
import stat
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from fakes import FakeHost
from nobody import NOBODY
from rounds import FOREIGN, lost, round_, visit

from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.health import notifying, telling, textfile
from envdoctor.health.memory import Memory
from envdoctor.health.telling import Wishes

SLEEP = "86399.0625"
"""Seconds of a sleep that can be told from any other."""


@pytest.fixture
def folder(tmp_path):
    """A directory that root trusts as well, wherever pytest puts its own."""
    tmp_path.chmod(0o755)
    return tmp_path


def script(folder, text):
    path = folder / "told"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def tell(folder, *visits, **wishes):
    return telling.tell(round_(*visits), Wishes(**wishes), Memory(str(folder / "state.sqlite"), FakeHost(), keep=True))


def remembered(folder, seen):
    return Memory(str(folder / "state.sqlite"), FakeHost(), keep=True).remember(seen)


def test_metrics_take_the_place_of_the_old_ones(folder):
    path = folder / "envdoctor.prom"
    path.write_text("old")
    found = tell(folder, visit(), textfile=str(path))
    assert 'envdoctor_verdict{target="/env",verdict="healthy"} 1' in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert sorted(os.listdir(folder)) == ["envdoctor.prom"]
    assert (found.untold, found.status) == ((), 0)


def test_the_old_file_stays_if_the_new_one_cannot_be_put_there(folder):
    path = folder / "envdoctor.prom"
    path.mkdir()
    found = tell(folder, visit(), textfile=str(path))
    assert found.untold == (f"{path}: cannot be written: Is a directory",)
    assert found.status == 3
    assert sorted(os.listdir(folder)) == ["envdoctor.prom"]


def test_a_directory_that_is_not_there_is_not_made(folder):
    with pytest.raises(EnvDoctorError, match="there is no directory"):
        textfile.write(str(folder / "typo" / "envdoctor.prom"), "")


def test_a_name_that_node_exporter_would_not_read_is_refused():
    with pytest.raises(UsageError, match=r"end in \.prom"):
        textfile.checked("/var/lib/envdoctor.txt")


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone can write as somebody else")
def test_into_a_directory_of_another_users_root_writes_as_he_would():
    with tempfile.TemporaryDirectory() as place:  # pytest's own are closed to all others
        Path(place).chmod(0o755)
        os.chown(place, NOBODY, NOBODY)
        textfile.write(f"{place}/envdoctor.prom", "x 1\n")
        status = os.stat(f"{place}/envdoctor.prom")
        assert (status.st_uid, stat.S_IMODE(status.st_mode)) == (NOBODY, 0o644)


def test_the_command_gets_json_and_a_clean_environment_and_no_shell(folder, monkeypatch):
    monkeypatch.setenv("SECRET", "x")
    path = script(folder, f'cat > {folder}/json; env > {folder}/env; printf "%s\\n" "$@" > {folder}/args')
    command = notifying.words(f"{path} '$HOME a' b")
    found = tell(folder, remembered(folder, visit(FOREIGN)), notify=command)
    assert found.untold == ()
    document = json.loads((folder / "json").read_text())
    assert [(item["kind"], item["subject"]) for item in document["changes"]] == [("appeared", "sglang")]
    assert document["targets"] == [
        {"target": "/env", "owner": "alice", "verdict": "sick", "status": 1, "reason": ""},
    ]
    assert "SECRET" not in (folder / "env").read_text()
    assert (folder / "args").read_text() == "$HOME a\nb\n"


def test_without_a_change_nobody_is_called(folder):
    path = script(folder, f"touch {folder}/called")
    assert tell(folder, remembered(folder, visit()), notify=(str(path),)).untold == ()
    assert not (folder / "called").exists()


def test_one_call_tells_of_all(folder):
    path = script(folder, f"cat >> {folder}/json")
    visits = [remembered(folder, visit(FOREIGN, target=f"/env{n}")) for n in range(3)]
    tell(folder, *visits, lost(target="/late", visited=False), notify=(str(path),))
    (line,) = (folder / "json").read_text().splitlines()
    assert len(json.loads(line)["changes"]) == 3
    assert len(json.loads(line)["targets"]) == 4


def test_a_command_that_fails_spoils_nothing(folder):
    path = script(folder, "echo no route to host >&2; exit 7")
    found = tell(folder, remembered(folder, visit(FOREIGN)), notify=(str(path),))
    assert found.untold == (f"{path} was told and ended with status 7: no route to host",)
    assert found.status == 1


def test_a_command_that_does_not_end_is_ended_with_its_group(folder, monkeypatch):
    monkeypatch.setattr(notifying, "WITHIN", 0.5)
    path = script(folder, f"sleep {SLEEP} & sleep {SLEEP}")
    found = tell(folder, remembered(folder, visit(FOREIGN)), notify=(str(path),))
    assert found.untold == (f"{path} was told and no end within 0.5 s",)
    ends = time.monotonic() + 5
    while SLEEP in (listed := subprocess.run(["ps", "ax", "-o", "args"], capture_output=True, text=True).stdout):
        assert time.monotonic() < ends, listed
        time.sleep(0.05)


@pytest.mark.parametrize(("command", "said"), [("no-such-command", "there is no such program"), ("./x", "absolute")])
def test_a_command_that_is_not_there(folder, command, said):
    (problem,) = tell(folder, remembered(folder, visit(FOREIGN)), notify=(command,)).untold
    assert said in problem


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone has more rights than others")
def test_root_runs_nothing_that_others_can_change(folder):
    path = script(folder, f"touch {folder}/called")
    os.chown(path, NOBODY, NOBODY)
    (problem,) = tell(folder, remembered(folder, visit(FOREIGN)), notify=(str(path),)).untold
    assert "not run by root" in problem
    assert not (folder / "called").exists()


@pytest.mark.parametrize(("command", "said"), [("", "no command"), ("mail 'x", "No closing quotation")])
def test_a_command_line_that_is_none(command, said):
    with pytest.raises(UsageError, match=said):
        notifying.words(command)


def test_what_the_state_remembers_is_in_the_metrics(folder):
    remembered(folder, visit())
    path = folder / "envdoctor.prom"
    tell(folder, lost(visited=False), textfile=str(path))
    moment = int(visit().at.timestamp())
    assert f'envdoctor_last_healthy_timestamp_seconds{{target="/env"}} {moment}\n' in path.read_text()
    assert f'envdoctor_last_check_timestamp_seconds{{target="/env"}} {moment}\n' in path.read_text()
