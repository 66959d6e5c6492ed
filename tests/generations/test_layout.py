"""Names and places, by whatever path the environment is called."""

import os
from datetime import UTC, datetime

import pytest

from envdoctor.errors import UsageError
from envdoctor.generations import layout

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
NAME = "0123456789ab-20260304T050607Z"


@pytest.fixture
def place(tmp_path):
    return layout.of(str(tmp_path / "venv"))


def generation(place, name=NAME):
    os.makedirs(place.place(name))
    return place.place(name)


def test_a_generation_bears_the_locks_digest_and_the_time(place):
    assert place.new("0123456789abcdef", NOW) == NAME
    generation(place)
    assert place.new("0123456789abcdef", NOW) == f"{NAME}-2"


@pytest.mark.parametrize(
    "spelled", ["venv", "venv/", "./venv", ".envs/venv/" + NAME, "there/venv", "there/.envs/venv/" + NAME]
)
def test_all_spellings_are_one_environment(tmp_path, place, spelled):
    generation(place)
    (tmp_path / "there").symlink_to(".")
    os.symlink(place.text(NAME), place.link)
    assert layout.of(str(tmp_path / spelled)).link == str(tmp_path / "venv")


def test_what_only_looks_like_a_generation_is_an_environment_of_its_own(tmp_path):
    path = str(tmp_path / ".envs" / "venv" / "mine")
    assert layout.of(path).link == path


def test_kinds(tmp_path, place):
    assert place.kind() == "missing"
    os.mkdir(place.link)
    assert place.kind() == "directory"
    os.rmdir(place.link)
    os.symlink(tmp_path, place.link)
    assert (place.kind(), place.active()) == ("elsewhere", None)
    os.unlink(place.link)
    os.symlink(place.text(NAME), place.link)
    assert (place.kind(), place.active()) == ("generation", NAME)
    os.unlink(place.link)
    (tmp_path / "venv").write_text("")
    with pytest.raises(UsageError, match="no directory"):
        place.kind()


def test_names_come_oldest_first_and_nothing_else_does(place):
    for name in ("fffffffffff0-20260101T000000Z", "adopted-20250101T000000Z", "logs", "states", "lock-me"):
        os.makedirs(place.place(name))
    os.symlink("nowhere", place.place("adopted-20240101T000000Z"))
    assert list(place.names()) == ["adopted-20250101T000000Z", "fffffffffff0-20260101T000000Z"]
