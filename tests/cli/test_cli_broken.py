"""Whatever is broken in a target, a lock or a snapshot: an answer within 20 s, a status, and never a traceback."""

import time

import pytest
from breaking import Broken, broken_text
from doctor import Doctor

WITHIN = 20
FEW, MANY = 40, 300
ON_TARGETS = (
    ("check", "--format", "json"),
    ("check", "--format", "text"),
    ("snapshot",),
)


def answered(doctor, *words):
    """Run a command, which `Doctor` keeps from ever showing a traceback; return its answer."""
    began = time.monotonic()
    answer = doctor(*words)
    assert time.monotonic() - began < WITHIN
    assert answer.status in (0, 1, 2, 3), answer
    assert answer.stdout or answer.stderr
    assert "fault of envdoctor's" not in answer.stderr
    return answer


def ask_about(tmp_path, seed):
    broken = Broken(tmp_path / "project", seed)
    done = broken.damage(1 + seed % 6)
    doctor = Doctor(tmp_path)
    command = ON_TARGETS[seed % len(ON_TARGETS)]
    answer = answered(doctor, *command, "--target", broken.patient.prefix, "--lock", broken.lock)
    if answer.status in (0, 1) and "json" in command:
        assert answer.report["crashed"] == [], done
        assert answer.report["verdict"] != "healthy" or answer.report["skipped"], done
    if broken.lock.exists():
        answered(doctor, "lock", "audit", broken.lock)


@pytest.mark.parametrize("seed", range(FEW))
def test_a_broken_target_or_lock_gets_an_answer(seed, tmp_path):
    ask_about(tmp_path, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(FEW, MANY + FEW))
def test_many_broken_targets_and_locks_get_an_answer(seed, tmp_path):
    ask_about(tmp_path, seed)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    broken = Broken(folder / "project", 0)
    return Doctor(folder)("snapshot", "--target", broken.patient.prefix, "--lock", broken.lock).stdout


@pytest.mark.parametrize("seed", range(10))
def test_a_broken_snapshot_gets_an_answer(seed, snapshot, tmp_path):
    (tmp_path / "s.json").write_bytes(broken_text(snapshot, seed))
    answered(Doctor(tmp_path), "check", "--snapshot", "s.json")


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 200))
def test_many_broken_snapshots_get_an_answer(seed, snapshot, tmp_path):
    test_a_broken_snapshot_gets_an_answer(seed, snapshot, tmp_path)
