"""The link always leads to a whole environment, whatever happens in between."""

import errno
import os
from datetime import UTC, datetime

import pytest

from envdoctor.errors import StepError
from envdoctor.generations import journal, layout, switching

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
OLD, NEW = "0123456789ab-20260101T000000Z", "ba9876543210-20260102T000000Z"


@pytest.fixture
def place(tmp_path):
    found = layout.of(str(tmp_path / "venv"))
    for name in (OLD, NEW):
        os.makedirs(found.place(name))
        with open(os.path.join(found.place(name), "who"), "w") as stream:
            stream.write(name)
    return found


def who(place):
    with open(os.path.join(place.link, "who")) as stream:
        return stream.read()


def directory(place):
    os.mkdir(place.link)
    with open(os.path.join(place.link, "who"), "w") as stream:
        stream.write("directory")


def switch(place, name, **options):
    switching.switch(place, place.text(name), NOW, **options)


def test_from_nothing_to_one_to_another_and_back(place):
    switch(place, OLD)
    assert who(place) == OLD
    switch(place, NEW)
    assert who(place) == NEW
    entries = journal.read(place)
    assert [entry.event for entry in entries] == ["switched", "switched"]
    assert journal.before(entries, NEW) == place.text(OLD)
    assert journal.superseded(entries, place, OLD) == "2026-03-04T05:06:07Z"


def test_a_directory_becomes_a_generation(place):
    directory(place)
    switch(place, NEW)
    assert who(place) == NEW
    (adopted,) = (name for name in place.names() if name.startswith("adopted-"))
    assert journal.before(journal.read(place), NEW) == place.text(adopted)
    switch(place, adopted)
    assert who(place) == "directory"


def test_a_link_of_the_users_own_is_remembered(place, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "who").write_text("mine")
    os.symlink("mine", place.link)
    switch(place, NEW)
    assert journal.before(journal.read(place), NEW) == "mine"
    assert (tmp_path / "mine" / "who").exists()


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EINVAL, errno.EXDEV])
def test_where_nothing_can_be_exchanged_a_gap_must_be_allowed(place, monkeypatch, number):
    def refused(*_):
        raise OSError(number, os.strerror(number))

    directory(place)
    monkeypatch.setattr(switching, "exchange", refused)
    with pytest.raises(StepError, match="in one step") as caught:
        switch(place, NEW)
    assert "--allow-gap" in caught.value.advice
    assert who(place) == "directory"
    assert not [name for name in os.listdir(place.home) if os.path.islink(place.place(name))]
    switch(place, NEW, allow_gap=True)
    assert who(place) == NEW
    assert [entry.event for entry in journal.read(place)] == ["gap", "switched"]


def test_a_mount_point_is_named(place, monkeypatch):
    def busy(*_):
        raise OSError(errno.EBUSY, "busy")

    directory(place)
    monkeypatch.setattr(switching, "exchange", busy)
    with pytest.raises(StepError, match="mount point"):
        switch(place, NEW, allow_gap=True)
    assert who(place) == "directory"


def test_a_switch_killed_in_its_gap_is_undone(place, monkeypatch):
    class Killed(BaseException):
        pass

    rename, done = os.rename, []

    def dying(*paths):
        if len(done) == 2:  # the pending link, the directory, and then no more
            raise Killed
        done.append(rename(*paths))

    directory(place)
    monkeypatch.setattr(switching, "exchange", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSYS, "no")))
    monkeypatch.setattr(os, "rename", dying)
    with pytest.raises(Killed):
        switch(place, NEW, allow_gap=True)
    monkeypatch.undo()
    assert not os.path.lexists(place.link)
    assert "is there again" in switching.recover(place, NOW)
    assert who(place) == "directory"
    assert switching.recover(place, NOW) is None
    assert not [name for name in os.listdir(place.home) if os.path.islink(place.place(name))]


@pytest.mark.parametrize("first", ["nothing", "directory", "generation"])
def test_a_switch_that_was_not_written_down_is_written_down_later(place, monkeypatch, first):
    if first == "directory":
        directory(place)
    if first == "generation":
        switch(place, OLD)
    monkeypatch.setattr(journal, "write", lambda *_, **__: None)
    switch(place, NEW)
    monkeypatch.undo()
    assert "not been written down" in switching.recover(place, NOW)
    before = journal.before(journal.read(place), NEW)
    expected = {"nothing": None, "generation": place.text(OLD)}
    assert before == expected[first] if first in expected else before.startswith(place.text("adopted-"))
    assert switching.recover(place, NOW) is None


def test_the_exchange_is_the_kernels_own(tmp_path):
    (tmp_path / "folder").mkdir()
    os.symlink("x", tmp_path / "link")
    switching.exchange(str(tmp_path / "folder"), str(tmp_path / "link"))
    assert (tmp_path / "link").is_dir()
    assert os.readlink(tmp_path / "folder") == "x"
    with pytest.raises(FileNotFoundError):
        switching.exchange(str(tmp_path / "link"), str(tmp_path / "gone"))
