"""`envdoctor seal`: what it refuses, where it writes, what a check then knows, and what a kill leaves behind."""

import contextlib
import json
import os
import random
import signal
import time
from pathlib import Path

import pytest
from patients import Wheel

from envdoctor.errors import EnvDoctorError

SEED = 20260603
"""Of the moments at which a seal is killed."""


def seal_of(folder):
    return json.loads((folder / "seal.json").read_text())


def test_sick_environment_is_sealed_only_by_force(patient, doctor):
    patient.delete("transformers/models.py")
    refused = doctor("seal", "--target", patient.prefix)
    assert refused.status == 1
    assert refused.stdout.startswith("SICK  1 error\n")
    assert refused.stderr == "envdoctor: not sealed: mend the errors above, or seal it as it is with --force\n"
    assert not (patient.prefix / ".envdoctor").exists()
    forced = doctor("seal", "--target", patient.prefix, "--force")
    assert (forced.status, forced.stderr) == (0, "")
    assert f"sealed {patient.prefix} in {patient.prefix}/.envdoctor/seal.json" in forced.stdout
    assert ("packages/missing-file", "transformers") in doctor.check(patient.prefix).said("error")


def test_sound_environment_is_sealed_and_then_judged_by_all_probes(patient, doctor):
    assert doctor("seal", "--target", patient.prefix).status == 0
    answer = doctor.check(patient.prefix, "--fail-on", "warning")
    assert (answer.status, answer.report["verdict"]) == (0, "healthy")
    reasons = {skipped["reason"] for skipped in answer.report["skipped"]}
    assert not [
        reason for reason in reasons if "no seal" in reason or "no lock" in reason
    ]  # only torch, driver and GPU lack


def edit_in_secret(patient):
    """Change a byte and put size and mtime back; only ctime, which nobody can set, tells."""
    patient.edit("transformers/__init__.py", keep_size=True, keep_time=True)


def build_again(patient):
    wheel = Wheel("numpy", "2.3.5", {"numpy/__init__.py": "pi = 4\n"})
    patient.uninstall(wheel)
    patient.install(wheel, requested=True)


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (edit_in_secret, ("packages/altered-file", "transformers")),
        (build_again, ("packages/altered-build", "numpy")),
        (lambda patient: patient.delete("numpy/__init__.py"), ("packages/missing-file", "numpy")),
        (lambda patient: patient.truncate("numpy/__init__.py"), ("packages/altered-file", "numpy")),
    ],
)
def test_damage_after_a_seal_is_found(damage, found, patient, doctor):
    patient.seal()
    damage(patient)
    assert doctor.check(patient.prefix).said("error") == {found}


def test_sealed_lock_is_used_when_the_project_has_lost_it(patient, doctor):
    patient.seal()
    (patient.folder / "requirements.txt").unlink()
    answer = doctor.check(patient.prefix)
    assert answer.report["target"]["lock"] == str(patient.prefix / ".envdoctor/lock-requirements.txt")
    assert answer.report["verdict"] == "healthy"


def test_where_the_prefix_cannot_be_written_the_seal_lies_in_xdg_state(patient, doctor, tmp_path):
    (patient.prefix / ".envdoctor").write_text("in the way")
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    sealed = doctor("seal", "--target", patient.prefix, env=env)
    assert sealed.status == 0
    (found,) = (tmp_path / "state").rglob("seal.json")
    assert str(found) in sealed.stdout
    build_again(patient)
    assert doctor.check(patient.prefix, env=env).said("error") == {("packages/altered-build", "numpy")}
    assert doctor.check(patient.prefix).said("error") == set()


def test_younger_seal_counts_where_the_one_in_the_prefix_became_unwritable(patient, doctor, tmp_path):
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    assert doctor("seal", "--target", patient.prefix, env=env).status == 0
    build_again(patient)
    (patient.prefix / ".envdoctor").rename(tmp_path / "old")
    (patient.prefix / ".envdoctor").write_text("in the way")
    assert doctor("seal", "--target", patient.prefix, env=env).status == 0
    (patient.prefix / ".envdoctor").unlink()
    (tmp_path / "old").rename(patient.prefix / ".envdoctor")
    assert doctor.check(patient.prefix, env=env).report["verdict"] == "healthy"


def test_seal_that_can_be_written_nowhere_is_one_line(patient, doctor, tmp_path):
    (patient.prefix / ".envdoctor").write_text("in the way")
    (tmp_path / "state").write_text("in the way")
    answer = doctor("seal", "--target", patient.prefix, env={"XDG_STATE_HOME": str(tmp_path / "state")})
    assert (answer.status, answer.stdout) == (3, "")
    assert f"{patient.prefix}/.envdoctor: " in answer.stderr
    assert answer.stderr.count("\n") == 1


def kill_session(leader):
    """Kill a process and all its children, whatever process groups they are in."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            session = (folder / "stat").read_text().rpartition(")")[2].split()[3]
            if int(session) == leader:
                os.kill(int(folder.name), signal.SIGKILL)


@pytest.mark.soak
def test_kill_at_any_moment_leaves_the_old_seal_or_the_new_one_whole(patient, doctor):
    began = time.monotonic()
    assert doctor("seal", "--target", patient.prefix).status == 0
    usual, moments = time.monotonic() - began, random.Random(SEED)  # noqa: S311
    folder = patient.prefix / ".envdoctor"
    for _ in range(40):
        process = doctor.start("seal", "--target", str(patient.prefix), start_new_session=True)
        time.sleep(usual * moments.uniform(0.4, 1.0))
        kill_session(process.pid)
        process.communicate()
        left = seal_of(folder)
        assert (folder / left["index_name"]).exists()
        assert (folder / left["lock_name"]).read_text() == (patient.folder / "requirements.txt").read_text()
    assert doctor.check(patient.prefix).report["verdict"] == "healthy"


@pytest.mark.parametrize(
    ("step", "count"), [("fsync", 1), ("fsync", 2), ("fsync", 3), ("replace", 1), ("replace", 3), ("unlink", 1)]
)
def test_kill_at_any_step_of_writing_leaves_a_whole_seal(step, count, patient, monkeypatch):
    path = Path(patient.seal().path)
    for name in (".index-a", ".index-b"):
        (path.parent / name).write_text("for the sweep to remove")
    old, calls, real = path.read_text(), [], getattr(os, step)

    def dying(*arguments):
        calls.append(arguments)
        return os.kill(os.getpid(), signal.SIGKILL) if len(calls) == count else real(*arguments)

    monkeypatch.setattr(os, step, dying)
    with pytest.raises(EnvDoctorError, match="died"):
        patient.seal()
    assert (path.read_text() == old) == (step != "unlink")
    monkeypatch.undo()
    report = patient.check("packages", "environment/freeze-bypassed")
    assert (report.verdict, [outcome.skipped for outcome in report.outcomes if outcome.skipped]) == ("healthy", [])


def test_new_seal_sweeps_away_what_the_old_one_and_killed_ones_left(patient):
    patient.seal()
    folder = patient.prefix / ".envdoctor"
    for name in (".seal.json.abc", ".index-1.jsonl.x"):
        (folder / name).write_text("half")
    (folder / "mine.txt").write_text("not the doctor's")
    patient.seal()
    kept = seal_of(folder)
    assert {path.name for path in folder.iterdir()} == {
        *("seal.json", "mine.txt"),
        *(kept["index_name"], kept["lock_name"]),
    }


def test_seals_at_once_leave_one_whole_seal(patient, doctor):
    running = [doctor.start("seal", "--target", patient.prefix) for _ in range(4)]
    assert {process.communicate(timeout=30)[1] for process in running} == {b""}
    left = seal_of(patient.prefix / ".envdoctor")
    assert {path.name for path in (patient.prefix / ".envdoctor").iterdir()} == {
        *("seal.json", left["index_name"], left["lock_name"])
    }
    assert doctor.check(patient.prefix).report["verdict"] == "healthy"


def test_lock_that_changed_since_the_seal_is_used_and_said_to_have_changed(patient, doctor):
    doctor("seal", "--target", patient.prefix)
    assert "changed since" not in doctor("check", "--target", patient.prefix).stdout
    lock = patient.folder / "requirements.txt"
    lock.write_text(lock.read_text().replace("numpy==2.3.5", "numpy==2.3.4"))
    after = doctor("check", "--target", patient.prefix).stdout
    assert "requirements.txt, changed since the environment was sealed" in after
    assert "the lock says 2.3.4" in after


def test_damaged_seal_is_the_doctor_s_failure_though_the_selected_probes_could_do_without(patient, doctor):
    doctor("seal", "--target", patient.prefix)
    (patient.prefix / ".envdoctor/seal.json").write_text("{")
    answer = doctor.check(patient.prefix, "--select", "packages/file-collision", "--select", "packages/altered")
    assert answer.status == 3
    assert [failed["fact"] for failed in answer.report["failed"]] == ["seal"]
