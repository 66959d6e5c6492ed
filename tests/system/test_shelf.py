"""What processes of one user share on a node: private, whole, locked by key, and gone after a day."""

import multiprocessing
import os
import time

import pytest

from envdoctor.system import shelf
from envdoctor.system.shelf import Shelf, ShelfError

KEY, OTHER = "a" * 64, "b" * 64


@pytest.fixture
def env(tmp_path):
    return {"XDG_RUNTIME_DIR": str(tmp_path)}


def test_what_is_put_there_is_read_there(env):
    assert Shelf(env).read(KEY) is None
    Shelf(env).put(KEY, b"x" * 100_000)
    Shelf(env).put(KEY, b"y")
    assert Shelf(env).read(KEY) == b"y"
    assert Shelf(env).read(OTHER) is None


def test_nobody_else_can_look_or_write(env):
    place = Shelf(env)
    place.put(KEY, b"x")
    assert os.stat(place.folder).st_mode & 0o077 == 0
    assert os.stat(os.path.join(place.folder, KEY)).st_mode & 0o077 == 0


def link(path, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    path.symlink_to(tmp_path / "elsewhere")


def open_to_all(path, tmp_path):
    path.mkdir()
    path.chmod(0o777)


@pytest.mark.parametrize("prepare", [link, open_to_all, lambda path, _: path.write_text("")])
def test_a_place_that_others_prepared_is_not_used(prepare, env, tmp_path):
    prepare(tmp_path / f"envdoctor-{os.getuid()}", tmp_path)
    with pytest.raises(ShelfError, match="is not a private directory"):
        Shelf(env)


def test_a_link_in_the_place_of_an_answer_is_not_followed(env, tmp_path):
    (tmp_path / "secret").write_text("x")
    place = Shelf(env)
    os.symlink(tmp_path / "secret", os.path.join(place.folder, KEY))
    assert place.read(KEY) is None


def test_old_answers_are_removed_by_the_next(env):
    place = Shelf(env)
    place.put(KEY, b"x")
    os.utime(os.path.join(place.folder, KEY), (0, 0))
    place.put(OTHER, b"y")
    assert (place.read(KEY), place.read(OTHER)) == (None, b"y")


@pytest.mark.parametrize("value", ["", "relative", "/nowhere/at/all"])
def test_without_a_runtime_directory_it_lies_in_memory(value, monkeypatch, tmp_path):
    monkeypatch.setattr(shelf, "MEMORY", str(tmp_path))
    assert Shelf({"XDG_RUNTIME_DIR": value}).folder == str(tmp_path / f"envdoctor-{os.getuid()}")


def test_a_place_that_cannot_be_made_is_told(monkeypatch):
    monkeypatch.setattr(shelf, "MEMORY", "/nowhere")
    with pytest.raises(ShelfError, match="No such file"):
        Shelf({})


def hold(env, key, pipe, seconds):
    with Shelf(env).locked(key, 0) as held:
        pipe.send(held)
        time.sleep(seconds)


@pytest.fixture
def holder(env):
    """Hold a lock in another process."""
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe()

    def start(key, seconds):
        process = fork.Process(target=hold, args=(env, key, theirs, seconds))
        process.start()
        started.append(process)
        assert ours.recv()
        return process

    started = []
    yield start
    for process in started:
        process.kill()
        process.join()


def test_a_lock_keeps_others_out_of_its_key_alone(env, holder):
    holder(KEY, 60)
    with Shelf(env).locked(KEY, 0.05) as held, Shelf(env).locked(OTHER, 0) as other:
        assert (held, other) == (False, True)


def test_who_waits_gets_it_when_the_holder_is_killed(env, holder):
    process = holder(KEY, 60)
    process.kill()
    with Shelf(env).locked(KEY, 10) as held:
        assert held
