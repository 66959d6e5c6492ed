"""How an environment was, and what tells that it is not so any more."""

import os
import time

import pytest

from envdoctor.generations import states


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "env"
    for path in ("bin/python", "lib/a/__init__.py", "lib/a/data", "lib/odd name\nwith a line"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path)
    (folder / "link").symlink_to("lib")
    return folder


@pytest.fixture
def recorded(place, tmp_path):
    path = str(tmp_path / "states" / "env.state")
    assert states.record(str(place), path) == 5
    return path


def test_what_nobody_touched_is_the_same(place, recorded):
    assert states.compare(str(place), recorded) is None


def test_byte_code_and_the_doctors_own_folder_do_not_count(place, recorded):
    for path in ("lib/a/__pycache__/a.cpython-312.pyc", "lib/b.pyc", ".envdoctor/seal.json"):
        (place / path).parent.mkdir(exist_ok=True)
        (place / path).write_text("")
    assert states.compare(str(place), recorded) is None


def edit_in_place(place):
    """Same size, and its author set the time back."""
    path = place / "lib/a/data"
    times = path.stat()
    path.write_text(path.read_text()[::-1])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


CHANGES = {
    "lib/a/data: altered": edit_in_place,
    "lib/a/new: added": lambda place: (place / "lib/a/new").write_text(""),
    "bin/python: gone": lambda place: (place / "bin/python").unlink(),
    "lib/a/__init__.py: altered": lambda place: (place / "lib/a/__init__.py").chmod(0o600),
    "link: altered": lambda place: ((place / "link").unlink(), (place / "link").symlink_to("bin")),
}


@pytest.mark.parametrize("said", CHANGES)
def test_what_is_not_as_it_was_is_named(place, recorded, said):
    time.sleep(0.01)
    CHANGES[said](place)
    difference = states.compare(str(place), recorded)
    assert (difference.count, difference.examples) == (1, (said,))


def test_other_links_to_a_file_come_and_go(place, tmp_path):
    """An installer's cache of hard links that is emptied moves the ctime of every file, and changes none."""
    os.link(place / "lib/a/data", tmp_path / "cache")
    path = str(tmp_path / "env.state")
    states.record(str(place), path)
    time.sleep(0.01)
    (tmp_path / "cache").unlink()
    assert states.compare(str(place), path) is None
