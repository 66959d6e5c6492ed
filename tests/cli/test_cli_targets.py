"""Finding what to look at, and what is said of something that is no environment."""

import os
import sys
import time

import pytest


def one_usage_line(answer):
    """Return the one line on standard error of a usage error."""
    assert (answer.status, answer.stdout) == (2, "")
    assert answer.stderr.startswith("envdoctor: ")
    assert answer.stderr.count("\n") == 1
    return answer.stderr


def fifo(path):
    os.mkfifo(path)


def dead_link(path):
    path.symlink_to("gone")


def loop(path):
    path.symlink_to(path.name)


def regular_file(path):
    path.write_text("no environment")


def empty_folder(path):
    path.mkdir()


def fifo_for_python(path):
    (path / "bin").mkdir(parents=True)
    os.mkfifo(path / "bin/python")


@pytest.mark.parametrize("make", [fifo, dead_link, loop, regular_file, empty_folder, fifo_for_python])
def test_what_is_no_environment_is_one_line_and_hangs_nothing(make, tmp_path, doctor):
    target = tmp_path / "target"
    make(target)
    began = time.monotonic()
    assert str(target) in one_usage_line(doctor("check", "--target", target))
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("path", ["bin/python", "lib/x/METADATA", "transformers/models.py", "surprise.pth"])
def test_fifo_inside_an_environment_hangs_nothing(path, patient, doctor):
    if path == "bin/python":
        patient.fifo(patient.python)
    else:
        file = patient.info(numpy()) / "METADATA" if "METADATA" in path else patient.site / path
        patient.fifo(file)
    began = time.monotonic()
    answer = doctor.check(patient.prefix)
    assert answer.status in (0, 1)
    assert answer.said("error", "warning") != set()
    assert time.monotonic() - began < 5


def numpy():
    from patients import Wheel

    return Wheel("numpy", "2.3.5")


def test_nothing_to_check_tells_what_was_tried_and_names_the_demo(tmp_path, doctor):
    (tmp_path / "venv").mkdir()
    env = {"VIRTUAL_ENV": str(tmp_path / "gone"), "CONDA_PREFIX": sys.prefix}
    line = one_usage_line(doctor("check", env=env))
    tried = (
        f"$VIRTUAL_ENV: {tmp_path}/gone is not there",
        f"$CONDA_PREFIX: {sys.prefix} is envdoctor's own",
        "./.venv",
    )
    assert all(place in line for place in (*tried, f"./venv: {tmp_path}/venv is not a Python environment"))
    assert "`envdoctor demo`" in line
    assert "--target" in line


@pytest.mark.parametrize("way", ["active", "here", "its python", "relative", "link"])
def test_environment_is_found_however_it_is_meant(way, patient, doctor, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(patient.prefix)
    arguments, cwd, env = {
        "active": ([], None, {"VIRTUAL_ENV": str(patient.prefix), "PATH": str(patient.bin)}),
        "here": ([], patient.folder, {}),
        "its python": (["--target", str(patient.python)], None, {}),
        "relative": (["--target", "project/.venv"], None, {}),
        "link": (["--target", str(link), "--lock", str(patient.folder / "requirements.txt")], None, {}),
    }[way]
    answer = doctor("check", "--format", "json", *arguments, cwd=cwd, env=env)
    assert (answer.status, answer.report["verdict"]) == (0, "healthy")
    assert answer.report["target"]["prefix"] == str(link if way == "link" else patient.prefix)


def test_project_named_in_place_of_its_environment_is_told_so(patient, doctor):
    assert f"did you mean {patient.prefix}?" in one_usage_line(doctor("check", "--target", patient.folder))


def test_deleted_working_directory_keeps_nothing_from_being_judged(patient, doctor, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    answer = doctor.check(patient.prefix, cwd=gone, preexec_fn=gone.rmdir)
    assert (answer.status, answer.report["verdict"], answer.stderr) == (0, "healthy", "")


def test_deleted_working_directory_holds_no_environment(doctor, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    assert "`envdoctor demo`" in one_usage_line(doctor("check", cwd=gone, preexec_fn=gone.rmdir))
