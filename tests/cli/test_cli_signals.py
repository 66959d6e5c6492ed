"""A signal from a batch system or a closed terminal ends the doctor as an error does: tidily."""

import os
import signal
import time
from pathlib import Path

import pytest


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def processes_of(folder):
    """Return the processes that name a folder among their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [path.parent.name] if os.fsencode(folder) in path.read_bytes() else []
        except OSError:
            continue
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_demo_that_is_ended_leaves_neither_files_nor_processes(number, doctor, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = doctor.start("demo", env={"TMPDIR": str(scratch)})
    wait_for(lambda: list(scratch.glob("envdoctor-demo-*/.venv")))
    process.send_signal(number)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == (130 if number == signal.SIGINT else 128 + number)
    assert b"Traceback" not in stderr
    assert os.listdir(scratch) == []
    wait_for(lambda: processes_of(scratch) == [], seconds=2)  # a killed one may be seen while it dies


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_check_that_is_ended_leaves_no_child(number, patient, doctor, tmp_path):
    mark = tmp_path / "started"
    patient.interpreter(f"touch {mark}; exec sleep 60 {mark}")
    process = doctor.start("check", "--target", patient.prefix)
    wait_for(mark.exists)
    process.send_signal(number)
    assert process.communicate(timeout=10) == (b"", b"")
    assert process.returncode == 128 + number
    wait_for(lambda: processes_of(mark) == [], seconds=2)


def test_how_a_command_ended_is_known_where_the_caller_ignores_the_ends_of_children(patient, doctor):
    """The kernel then forgets a status, and wait says 0 of every child."""
    process = doctor.start(
        *("cache", "verify", "--target", patient.prefix, "--run", "--", "sh", "-c", "exit 7"),
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
    )
    stdout, _ = process.communicate(timeout=20)
    assert process.returncode == 1
    assert b"the command failed with status 7" in stdout


def test_hangup_that_nohup_ignores_ends_nothing(patient, doctor, tmp_path):
    mark = tmp_path / "started"
    patient.interpreter(f"touch {mark}; exec sleep 1")
    process = doctor.start(
        "check", "--target", patient.prefix, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    wait_for(mark.exists)
    process.send_signal(signal.SIGHUP)
    stdout, _ = process.communicate(timeout=20)
    assert process.returncode in (0, 1)
    assert stdout
