"""The lock is found where a user expects, and the others that lie around are named."""

import os

import pytest
from located import HASHED, found, make
from patients import Patient, Wheel

from envdoctor import seals
from envdoctor.errors import LockError
from envdoctor.locate import Wish


@pytest.fixture
def project(tmp_path):
    (tmp_path / "project/.git").mkdir(parents=True)
    return tmp_path / "project"


def relative(project, target):
    return [os.path.relpath(path, project) for path in (*filter(None, [target.lock]), *target.other_locks)]


ORDER = [
    *("pylock.toml", "pylock.train.toml", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"),
    *("lockfiles/a.txt", "requirements.txt", "requirements-x.txt"),
]


@pytest.mark.parametrize("first", range(len(ORDER)))
def test_the_first_lock_is_taken_and_the_others_are_named(first, project):
    make(project / ".venv")
    (project / "lockfiles").mkdir()
    for name in ORDER[first:]:
        (project / name).write_text(HASHED)
    assert relative(project, found(project)) == ORDER[first:]


@pytest.mark.parametrize("name", ["requirements.txt", "lockfiles/train.txt", "lockfiles/README.md"])
def test_requirements_without_hashes_are_no_lock(name, project):
    make(project / ".venv")
    (project / "lockfiles").mkdir()
    (project / name).write_text("six==1\n" if name.endswith("txt") else HASHED)
    assert (found(project).lock, found(project).other_locks) == (None, ())


@pytest.mark.parametrize("make_it", [os.mkfifo, os.mkdir, lambda path: path.symlink_to(path)])
def test_what_is_no_file_is_no_lock(make_it, project):
    make(project / ".venv")
    make_it(project / "pylock.toml")
    make_it(project / "requirements.txt")
    assert (found(project).lock, found(project).other_locks) == (None, ())


@pytest.mark.parametrize("mark", [".git", "pyproject.toml"])
def test_the_project_is_the_targets_own_and_not_the_current_directorys(mark, project, tmp_path):
    other = tmp_path / "other"
    make(other / "deep/.venv")
    (other / mark).touch()
    (other / "requirements.txt").write_text(HASHED)
    (project / "pylock.toml").touch()
    assert found(project, Wish(target=str(other / "deep/.venv"))).lock == str(other / "requirements.txt")


def test_without_a_project_the_folder_around_the_target_is_it(tmp_path):
    make(tmp_path / "envs/a")
    (tmp_path / "envs/requirements.txt").write_text(HASHED)
    assert found(tmp_path, Wish(target="envs/a")).lock == str(tmp_path / "envs/requirements.txt")


def sealed(project, origin):
    one = seals.Seal("2026", "0", "h", None, "p", (), lock_origin=str(origin), lock_name="lock-train.txt")
    seals.write(str(project / ".venv"), one, [], HASHED.encode())


def test_the_sealed_lock_comes_before_what_lies_around(project):
    make(project / ".venv")
    origin = project / "lockfiles/train.txt"
    (project / "pylock.toml").touch()
    origin.parent.mkdir()
    origin.write_text(HASHED)
    sealed(project, origin)
    assert relative(project, found(project)) == ["lockfiles/train.txt", "pylock.toml"]
    origin.unlink()
    assert relative(project, found(project)) == [".venv/.envdoctor/lock-train.txt", "pylock.toml"]


def test_a_named_lock_comes_before_configuration_and_that_before_the_seal(project):
    make(project / ".venv")
    for name in ("named.txt", "configured.txt", "sealed.txt"):
        (project / name).write_text(HASHED)
    sealed(project, project / "sealed.txt")
    assert found(project).lock == str(project / "sealed.txt")
    (project / "envdoctor.toml").write_text("lock = 'configured.txt'")
    assert found(project).lock == str(project / "configured.txt")
    assert found(project, Wish(lock="named.txt")).lock == str(project / "named.txt")


@pytest.mark.parametrize("by", ["option", "configuration"])
def test_a_lock_that_is_not_there_is_said(by, project):
    make(project / ".venv")
    if by == "configuration":
        (project / "envdoctor.toml").write_text("lock = 'gone.txt'")
    with pytest.raises(LockError, match=r"gone\.txt.*: no such file"):
        found(project, Wish(lock="gone.txt" if by == "option" else None))


def test_a_real_patient_is_found_with_its_lock(tmp_path):
    patient = Patient(tmp_path)
    lock = patient.lock([Wheel("a", "1")])
    assert (found(tmp_path).prefix, found(tmp_path).lock) == (str(patient.prefix), lock)
