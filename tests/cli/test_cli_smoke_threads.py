"""`envdoctor smoke --level threads` by the real command line, on interpreters that race as they are told."""

import json
import os
import signal
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from patients import Patient, Wheel
from racers import FX, HITS, deadlocked, detail, interpreter

CLEAN = f'end("threads", detail={detail(counters=HITS)!r})'
DIES = f'end("threads", detail={detail(FX, counters=HITS)!r})'
QUIET = f'end("threads", detail={detail(meetings=0, traces=0)!r})'


@pytest.fixture
def patient(tmp_path):
    patient = Patient(tmp_path / "project")
    patient.install(Wheel("torch", "2.11.0", {"torch/__init__.py": "", "torch/version.py": "__version__ = '2.11.0'\n"}))
    return patient


@pytest.fixture
def smoke(doctor, patient, tmp_path):
    """Run it on a stand-in that does this in each try, with a TMPDIR that must be empty afterwards."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()

    def run(racing, *options, start=doctor, **more):
        interpreter(patient.python, racing)
        words = ("smoke", "--level", "threads", "--target", patient.prefix, "--devices", "0,1", *options)
        return start(*words, env={"TMPDIR": str(temporary)}, **more)

    yield run
    assert os.listdir(temporary) == []
    assert running(patient.prefix) == []


def running(prefix):
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except OSError:
            continue
        if os.fsencode(f"{prefix}/bin/python") in line:
            found.append(line)
    return found


def test_what_is_clean_is_0_with_the_proof_of_it(smoke):
    answer = smoke(CLEAN, "--tries", "2")
    assert answer.status == 0
    head, table = answer.stdout.split("\n\n")[:2]
    assert head.splitlines()[0] == "HEALTHY  of 6 settings 6 passed"
    assert "2 tries each, remedy none" in head
    assert table.splitlines()[1] == (
        "1 thread a device, cold cache           ok      "
        "clean in 2 of 2 tries; 6 calls met another thread's trace"
    )  # fmt: skip
    first, *lines = answer.stderr.splitlines()
    assert first == (
        "12 tries, 2 of each of 6 settings, and 2 to fill caches: a process each, at most 60 min "
        "(--timeout 120 for its start, and for its work)"
    )
    assert len(lines) == 1 + 2 + 12
    filled = [line for line in lines if line.startswith("filling the cache ")]
    assert ["for the first device, started in " in filled[0], "for all devices, started in " in filled[1]] == [
        True,
        True,
    ]
    assert all(", started in 0." in line for line in lines[1:])
    assert "graphs stand for devices" not in answer.stdout


def test_the_error_is_1_and_its_advice_is_given_once(smoke):
    answer = smoke(DIES, "--tries", "1", "--states", "cold,warm")
    assert answer.status == 1
    assert answer.stdout.startswith("SICK  of 4 settings 4 failed\n")
    assert answer.stdout.count("see: envdoctor explain smoke/threads") == 4
    assert answer.stdout.count("move to torch 2.14 or newer") == 1
    assert "the FX error in 1 of 1 try; everything hit the cache" in answer.stdout


def test_a_deadlock_is_ended_and_named(smoke, tmp_path):
    options = ("--per-device", "3", "--states", "cold", "--tries", "1", "--timeout", "5", "--format", "json")
    answer = smoke(deadlocked(tmp_path / "code"), *options)
    (found,) = answer.findings()
    assert (answer.status, found["probe"], found["subject"]) == (1, "smoke/threads", "3 threads a device, cold cache")
    assert "a deadlock in 1 of 1 try" in found["message"]
    assert found["evidence"]["each"][0]["waiter"][0].endswith("torch/_inductor/compile_fx.py:3 in compile_fx_backward")


def test_nothing_but_quiet_tries_is_3(smoke):
    answer = smoke(QUIET, "--tries", "1", "--states", "cold", "--format", "json")
    assert (answer.status, answer.report["verdict"], answer.findings()) == (3, "warnings", [])
    (lost,) = answer.report["skipped"]
    assert lost["failed"]
    assert lost["reason"].endswith("not exercised: nothing was traced")
    text = smoke(QUIET, "--tries", "1", "--states", "cold", "--devices", "cpu", "--per-device", "1").stdout
    assert text.startswith("WARNINGS  of 1 setting 1 not exercised\n")
    assert "on the CPU 3 graphs stand for devices: 1 thread a device is 3 threads\n" in text
    assert "cold cache           unclear 1 of 1 not exercised: nothing was traced\n" in text
    assert "FAILED" not in text


def test_one_device_has_nobody_to_race_with_but_several_threads(smoke):
    answer = smoke(CLEAN, "--devices", "0", "--tries", "1", "--format", "json")
    assert answer.status == 0
    states = {trial["device"]: trial["state"] for trial in answer.report["trials"]}
    assert states["1 thread a device, cold cache"] == states["3 threads a device, partly warm cache"] == "skipped"
    assert states["3 threads a device, cold cache"] == states["3 threads a device, warm cache"] == "passed"


def test_junit_has_a_case_a_setting(smoke):
    suite = ET.fromstring(smoke(DIES, "--tries", "1", "--per-device", "1", "--format", "junit").stdout)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "3", "0")
    assert suite.find("testsuite/testcase[2]").get("classname") == "1 thread a device, cold cache"


def test_what_the_target_says_is_made_printable(smoke):
    evil = detail("x\x1b[2J https://me:secret@host/", met=[{"caller": "\x1b[2J", "at": 1, "tracer": "y"}])
    for form in ("text", "json", "junit"):
        options = ("--tries", "1", "--per-device", "1", "--states", "cold", "--format", form)
        answer = smoke(f'end("threads", detail={evil!r})', *options)
        assert answer.status == 1
        assert "\x1b" not in answer.stdout + answer.stderr
        assert "secret" not in answer.stdout + answer.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--per-device", "0"), "--per-device: '0' is no number of threads"),
        (("--states", "hot"), "--states: 'hot' is no state"),
        (("--tries", "0"), "--tries"),
        (("--tries", "101"), "--tries"),
        (("--remedy", "prayer"), "--remedy"),
        (("--cache", "job"), "--cache: not with --level threads"),
        (("--level", "quick", "--tries", "2"), "--tries: only with --level threads"),
        (("--level", "full", "--remedy", "none", "--states", "cold"), "--states, --remedy: only with --level threads"),
        (("--remedy", "guard"), "guard fx-race: not tested with torch"),
    ],
)
def test_bad_options_are_one_line_and_status_2(smoke, patient, options, said):
    tracer = "_is_fx_tracing_flag = False\n"
    patient.install(
        Wheel("torch", "2.9.1", {"torch/version.py": "__version__ = '2.9.1'\n", "torch/fx/_symbolic_trace.py": tracer})
    )
    answer = smoke("raise SystemError('nothing may run')", *options)
    assert (answer.status, answer.stdout) == (2, "")
    assert said in " ".join(answer.stderr.split())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_leaves_nothing(smoke, doctor, tmp_path, number):
    ready = tmp_path / "ready"
    process = smoke(f"open({str(ready)!r}, 'w').close()\ntime.sleep(300)", start=doctor.start)
    while not ready.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert b"Traceback" not in errors


def test_evidence_of_every_try_is_in_the_json(smoke):
    (finding,) = smoke(DIES, "--tries", "2", "--per-device", "3", "--states", "warm", "--format", "json").findings()
    each = finding["evidence"]["each"]
    assert [(one["number"], one["start"], one["meetings"], one["missed"]) for one in each] == [
        (1, "together", 3, []),
        (2, "in turn", 3, []),
    ]
    assert each[0]["met"] == ["lane 0 called at 1.5 s, lane 1 traced"]
    assert json.dumps(finding).count("symbolically trace") >= 2
