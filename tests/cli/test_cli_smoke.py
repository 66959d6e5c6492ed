"""`envdoctor smoke` by the real command line, on targets whose torch is a stub that misbehaves."""

import json
import os
import signal
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from patients import Patient, Wheel

HANG = (
    "import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)', __file__])\n"
)
SLEEP = "time.sleep(300)\n"
SYMBOL = "/x/libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12"


@pytest.fixture
def torch(tmp_path):
    """Return a function that makes a target with a torch of this code."""

    def make(code):
        patient = Patient(tmp_path / "project")
        patient.install(
            Wheel("torch", "2.2.0", {"torch/__init__.py": code, "torch/version.py": "__version__ = '2.2.0'\n"})
        )
        return patient

    return make


@pytest.fixture
def smoke(doctor, tmp_path):
    """Run `smoke` on a target with a TMPDIR of its own, which must be empty afterwards."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()

    def run(patient, *options, env=None, **more):
        given = options if "--devices" in options else ("--devices", "cpu", *options)
        variables = {"TMPDIR": str(temporary)} | (env or {})
        return doctor("smoke", "--target", patient.prefix, *given, env=variables, **more)

    yield run
    assert os.listdir(temporary) == []
    assert running(tmp_path) == []


def running(tmp_path):
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(tmp_path) in line:
            found.append(line)
    return found


def test_one_that_is_stopped_tells_its_stacks_all_the_same(torch, smoke):
    patient = torch("import os, signal, time\nos.kill(os.getpid(), signal.SIGSTOP)\n" + SLEEP)
    (finding,) = smoke(patient, "--timeout", "1", "--format", "json").findings("smoke/hung")
    assert "torch/__init__.py" in finding["message"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise RuntimeError('no\\x1b[2J good')", "torch-import failed: RuntimeError: no\\x1b[2J good"),
        (f"raise ImportError('{SYMBOL}')", "__nvJitLinkComplete_12_4"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "torch-import failed: the process died by SIGSEGV"),
        ("import os; os._exit(0)", "ended with status 0 before its work was done"),
        ("raise SystemExit(0)", "torch-import failed: SystemExit: 0"),
        (
            "raise ImportError('/x/libcudnn.so.9: cannot open shared object file: No such file or directory')",
            "libcudnn",
        ),
    ],
    ids=["raises", "lacks a symbol", "crashes", "leaves", "exits", "lacks a library"],
)
def test_an_import_that_fails_is_said_in_one_finding(torch, smoke, code, said):
    answer = smoke(torch(code), "--format", "json")
    (finding,) = answer.findings()
    assert (answer.status, finding["probe"], finding["subject"]) == (1, "smoke/torch-import", "torch")
    assert said in finding["message"]
    assert {trial["state"] for trial in answer.report["trials"][1:]} == {"never-ran"}


def test_without_a_torch_it_says_so(tmp_path, smoke):
    answer = smoke(Patient(tmp_path / "project"), "--format", "json")
    (finding,) = answer.findings()
    assert finding["message"] == "torch-import failed: torch is not installed there"
    assert finding["remedy"] == ["name another environment with --target"]


def test_a_broken_interpreter_is_one_line(torch, smoke):
    patient = torch("")
    patient.python.unlink()
    patient.python.symlink_to("/no/such/python")
    answer = smoke(patient)
    assert (answer.status, answer.stdout) == (3, "")
    assert "did not start: No such file or directory" in answer.stderr


def test_what_it_prints_does_not_disturb_the_report(torch, smoke):
    event = '{"event": "end", "device": "", "step": "torch-import", "state": "passed"}'
    code = f"import os\nprint({event!r}, flush=True)\nos.system('echo noise >&2')\nraise ImportError('x')"
    answer = smoke(torch(code), "--format", "json")
    assert answer.report["schema"] == 1
    assert "noise" not in answer.stderr
    assert answer.findings()[0]["evidence"]["last_lines"][1] == "noise"


def test_the_job_sees_its_own_pythonpath_and_none_of_ours(torch, smoke, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "steps.py").write_text("raise SystemError('the wrong steps')\n")
    code = "import os, sys\nraise ImportError(' '.join([os.environ['MARK'], *sys.path]))"
    answer = smoke(torch(code), "--format", "json", env={"PYTHONPATH": str(tmp_path / "mine"), "MARK": "job"})
    error = answer.findings()[0]["evidence"]["error"]
    assert error.startswith("ImportError: job ")
    assert str(tmp_path / "mine") in error
    assert "payloads" not in error


def test_junit_has_a_case_a_step(torch, smoke):
    suite = ET.fromstring(smoke(torch("raise ImportError('x')"), "--format", "junit").stdout)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("9", "1", "8")


def test_progress_goes_to_stderr_and_the_report_to_stdout(torch, smoke):
    answer = smoke(torch("raise ImportError('x')"))
    assert answer.stderr.split()[:3] == ["torch", "torch-import", "failed"]
    assert answer.stdout.startswith("SICK  of 9 steps 1 failed, 8 never ran\n")
    assert "see: envdoctor explain smoke/torch-import" in answer.stdout


def test_no_gpu_to_be_had_is_not_smoked(torch, doctor):
    """Hidden where there is a GPU, none where there is not: either way nothing ran, and that is no success."""
    patient = torch("raise SystemError('nothing may run')")
    for options in ((), ("--devices", "all")):
        answer = doctor("smoke", "--target", patient.prefix, *options, env={"CUDA_VISIBLE_DEVICES": ""})
        assert (answer.status, answer.stdout.split("\n")[0]) == (3, "NOT SMOKED")
        assert "--devices cpu" in answer.stdout
        assert answer.stderr == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--devices", "gpu0"), "--devices: 'gpu0' is no device"),
        (("--devices", ""), "--devices: '' is no device"),
        (("--devices", "7-5"), "--devices: 7-5 runs backwards"),
        (("--level", "deep"), "--level"),
        (("--timeout", "0"), "--timeout"),
        (("--format", "sarif"), "--format"),
        (("--timeout", "nan"), "--timeout"),
        (("--timeout", "inf"), "--timeout"),
        (("--cache", "/etc/passwd"), "--cache: /etc/passwd is not a directory"),
        (("--cache", ""), "--cache: names no directory"),
    ],
)
def test_bad_options_are_one_line_and_status_2(torch, smoke, options, said):
    answer = smoke(torch("raise SystemError('nothing may run')"), *options)
    assert (answer.status, answer.stdout) == (2, "")
    assert said in answer.stderr


def test_no_place_for_the_cache_is_one_line(torch, doctor, tmp_path):
    answer = doctor("smoke", "--target", torch("").prefix, "--devices", "cpu", env={"TMPDIR": str(tmp_path / "gone")})
    assert (answer.status, answer.stdout) == (3, "")
    assert "let TMPDIR name another" in answer.stderr


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_it_and_leaves_nothing(torch, doctor, tmp_path, number, status):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    ready = tmp_path / "ready"
    patient = torch(HANG + f"open({str(ready)!r}, 'w')\n" + SLEEP)
    process = doctor.start("smoke", "--target", patient.prefix, "--devices", "cpu", env={"TMPDIR": str(temporary)})
    while not ready.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == status
    assert b"Traceback" not in errors
    assert os.listdir(temporary) == []
    assert running(tmp_path) == []


def test_kill_9_of_the_doctor_ends_the_target_too(torch, doctor, tmp_path):
    ready = tmp_path / "ready"
    patient = torch(f"import time\nopen({str(ready)!r}, 'w')\n" + SLEEP)
    process = doctor.start("smoke", "--target", patient.prefix, "--devices", "cpu", env={"TMPDIR": str(tmp_path)})
    while not ready.exists():
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=10)
    end = time.monotonic() + 5
    while running(tmp_path) and time.monotonic() < end:
        time.sleep(0.05)
    assert running(tmp_path) == []


def test_all_that_was_not_done_is_in_the_json(torch, smoke):
    answer = smoke(torch("raise ImportError('x')"), "--level", "full", "--format", "json")
    skipped = {item["probe"]: item for item in answer.report["skipped"]}
    assert {f"smoke/{step}" for step in ("compile", "half", "graphs", "toolchain", "fresh-process")} <= skipped.keys()
    assert all(item["failed"] for item in skipped.values())
    assert json.dumps(answer.report).count("never-ran") == 11


def test_a_second_signal_does_not_stop_the_clearing_up(torch, doctor, tmp_path):
    """The scratch directory holds thousands of files, and somebody presses Ctrl-C again and again."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    ready = tmp_path / "ready"
    fill = "import sys, time\nfolder = sys.argv[4] + '/many'\nimport os\nos.mkdir(folder)\n"
    fill += "for n in range(5000): open(f'{folder}/{n}', 'w').close()\n"
    patient = torch(f"{fill}open({str(ready)!r}, 'w')\n{SLEEP}")
    process = doctor.start("smoke", "--target", patient.prefix, "--devices", "cpu", env={"TMPDIR": str(temporary)})
    while not ready.exists():
        assert process.poll() is None
        time.sleep(0.01)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    process.communicate(timeout=10)
    assert process.returncode == 130
    assert os.listdir(temporary) == []


@pytest.mark.parametrize("options", [("--devices", "cpu"), ("--devices", "gpu0")])
def test_a_stderr_that_takes_nothing_changes_no_status(torch, doctor, options):
    patient = torch("raise ImportError('x')")
    with open("/dev/full", "w", encoding="utf-8") as full:
        process = doctor.start("smoke", "--target", patient.prefix, *options, stderr=full)
        out, _ = process.communicate(timeout=30)
    status = 1 if options[1] == "cpu" else 2
    assert process.returncode == status
    assert out.startswith(b"SICK") == (status == 1)


def test_very_many_devices_are_no_reason_to_wait_for_ever(torch, smoke):
    """The order must fit where nobody reads it."""
    patient = torch(HANG + SLEEP)
    assert smoke(patient, "--devices", "0-255", "--timeout", "1", "--format", "json").findings("smoke/hung")
    assert smoke(patient, "--devices", "0-256").status == 2
