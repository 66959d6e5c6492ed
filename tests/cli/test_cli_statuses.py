"""The exit status says the same in every format: 0 fine, 1 findings, 2 usage, 3 the doctor failed, 130 interrupted."""

import contextlib
import os
import signal
import time

import pytest


def nothing(patient):
    """Leave it healthy."""


def note(patient):
    patient.add("transformers/kernel.bin", "built here")


def warning(patient):
    patient.add("stray.py", "import torch\n")


def error(patient):
    patient.delete("transformers/models.py")


def doctor_fails(patient):
    (patient.prefix / ".envdoctor").mkdir()
    (patient.prefix / ".envdoctor/seal.json").write_text("{")


def both(patient):
    doctor_fails(patient)
    error(patient)


@pytest.mark.parametrize(
    ("damage", "options", "status"),
    [
        (nothing, ["--fail-on", "note"], 0),
        (note, ["--fail-on", "warning"], 0),
        (note, ["--fail-on", "note"], 1),
        (warning, [], 0),
        (warning, ["--fail-on", "warning"], 1),
        (error, ["--fail-on", "error"], 1),
        (doctor_fails, [], 3),
        (both, [], 1),
        (both, ["--ignore", "packages/missing-file"], 3),
        (both, ["--select", "packages/missing-file"], 1),
        (both, ["--select", "packages/shadowed"], 0),
    ],
)
def test_status_follows_findings_threshold_and_selection(damage, options, status, patient, doctor):
    damage(patient)
    answer = doctor.check(patient.prefix, *options)
    assert answer.status == status, answer.stdout
    assert answer.stderr == ""


@pytest.mark.parametrize(("damage", "status"), [(nothing, 0), (error, 1), (doctor_fails, 3)])
def test_status_of_the_text_report_is_the_same(damage, status, patient, doctor):
    damage(patient)
    assert doctor("check", "--target", patient.prefix).status == status


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--select", "pakages"], "'pakages'"),
        (["--ignore", "packages/none-such"], "'packages/none-such'"),
        (["--group", "none-such"], "none-such"),
        (["--extra", "none-such"], "none-such"),
        (["--lock", "none-such.txt"], "none-such.txt"),
        (["--config", "none-such.toml"], "none-such.toml"),
        (["--target", "none-such"], "none-such"),
    ],
)
def test_what_is_not_there_is_a_usage_error_of_one_line(options, said, patient, doctor):
    answer = doctor("check", "--target", patient.prefix, *options)
    assert (answer.status, answer.stdout) == (2, "")
    assert answer.stderr.startswith("envdoctor: ")
    assert answer.stderr.count("\n") == 1
    assert said in answer.stderr


@pytest.mark.parametrize(
    "options", [["--no-such"], ["--fail-on", "fatal"], ["--format", "xml"], ["--deadline", "soon"]]
)
def test_bad_option_is_a_usage_error_that_names_it(options, patient, doctor):
    answer = doctor("check", "--target", patient.prefix, *options)
    assert (answer.status, answer.stdout) == (2, "")
    assert options[-1] in answer.stderr


def test_interrupt_ends_at_once_and_leaves_no_process(patient, doctor, tmp_path):
    mark = tmp_path / "pid"
    patient.interpreter(f"echo $$ > {mark}.new; mv {mark}.new {mark}; exec sleep 60")
    process = doctor.start("check", "--target", patient.prefix)
    wait_for(mark.exists)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=10)
    assert (process.returncode, stdout, stderr) == (130, b"", b"envdoctor: interrupted\n")
    assert time.monotonic() - began < 5
    wait_for(lambda: not is_alive(int(mark.read_text())), seconds=2)


def wait_for(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_alive(pid):
    """Tell whether a process runs; a zombie, which only its parent can reap, does not."""
    with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/stat") as stream:
        return stream.read().rpartition(")")[2].split()[0] != "Z"
    return False


def test_hanging_python_is_judged_from_disk_within_the_deadline(patient, doctor):
    patient.interpreter("exec sleep 60")
    error(patient)
    began = time.monotonic()
    answer = doctor.check(patient.prefix, "--deadline", "1")
    assert time.monotonic() - began < 4
    assert answer.status == 1
    assert answer.said("error") == {
        ("environment/dangling-python", str(patient.python)),
        ("packages/missing-file", "transformers"),
    }


def forbid(folder):
    folder.chmod(0)


def loop(folder):
    folder.rename(folder.with_name("moved"))
    folder.symlink_to(folder.name)


NOT_ROOT = pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")


@pytest.mark.parametrize("make", [pytest.param(forbid, marks=NOT_ROOT), loop])
def test_unreadable_site_packages_is_the_doctors_failure_and_never_healthy(make, patient, doctor):
    make(patient.site)
    answer = doctor.check(patient.prefix)
    assert answer.status == 3
    assert f"{patient.site}: " in answer.report["skipped"][0]["reason"]
    assert not any(probe.startswith("packages/") for probe in answer.report["passed"])
