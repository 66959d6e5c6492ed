"""What goes, and above all what stays."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from envdoctor.generations import collecting, journal, layout, marker, switching
from envdoctor.generations.marker import Marker

NOW = datetime(2026, 3, 10, tzinfo=UTC)
MARKER = Marker("2026-01-01T00:00:00Z", "1", "node7", "/srv/train.txt", "ab" * 32, "3.12.3", "uv 1", (), 1, 1, "none")


@pytest.fixture
def place(tmp_path):
    return layout.of(str(tmp_path / "venv"))


def make(place, day, state="complete"):
    name = f"0123456789ab-202601{day:02}T000000Z"
    os.makedirs(os.path.join(place.place(name), "lib"))
    if state != "unfinished":
        marker.write(place.place(name), Marker(**{**{f: getattr(MARKER, f) for f in MARKER.__slots__}, "state": state}))
    return name


def activate(place, name, days_ago):
    switching.switch(place, place.text(name), NOW - timedelta(days=days_ago))


def nobody(_):
    return ""


def test_those_beyond_what_is_to_be_kept_go_the_oldest_first(place):
    names = [make(place, day) for day in range(1, 6)]
    for number, name in enumerate(names):
        activate(place, name, 20 - number)
    assert collecting.collect(place, 2, NOW, nobody).removed == (names[1], names[0])
    assert list(place.names()) == names[2:]


def test_it_counts_when_one_was_last_active_not_when_it_was_made(place):
    names = [make(place, day) for day in range(1, 4)]
    for number, name in enumerate([*names, names[0], names[2]]):
        activate(place, name, 20 - number)
    assert collecting.collect(place, 1, NOW, nobody).removed == (names[1],)


def test_what_was_active_within_a_day_and_what_is_in_use_stays(place):
    names = [make(place, day) for day in range(1, 4)]
    for name, days in zip(names, (20, 10, 0.5), strict=True):
        activate(place, name, days)
    found = collecting.collect(place, 0, NOW, lambda path: "process 7 uses it" if path.endswith(names[0]) else "")
    assert found.removed == ()
    assert dict(found.kept) == {names[0]: "process 7 uses it", names[1]: "it was the active one less than a day ago"}


def test_red_ones_go_and_the_active_one_never_does(place):
    good, red = make(place, 1), make(place, 2, "red")
    activate(place, good, 0)
    assert collecting.collect(place, 2, NOW, nobody).removed == (red,)
    assert list(place.names()) == [good]


def test_remains_of_killed_rebuilds_go_and_nothing_else(place):
    active, remains, adopted = make(place, 1), make(place, 2, "unfinished"), "adopted-20260105T000000Z"
    os.makedirs(place.place(adopted))
    os.makedirs(place.place(".trash-old/lib"))
    activate(place, active, 3)
    assert collecting.clear(place) == (remains,)
    assert set(os.listdir(place.home)) == {active, adopted, "journal.jsonl"}


def test_an_environment_that_lost_its_marker_is_no_remains(place):
    """As `python -m venv --clear` through the link leaves it."""
    one, other = make(place, 1), make(place, 2)
    activate(place, one, 3)
    activate(place, other, 2)
    os.unlink(marker.path_of(place.place(one)))
    assert collecting.clear(place) == ()


def test_a_frozen_one_can_be_removed(place):
    name = make(place, 1, "unfinished")
    os.chmod(os.path.join(place.place(name), "lib"), 0o500)
    os.chmod(place.place(name), 0o500)
    assert collecting.clear(place) == (name,)
    assert os.listdir(place.home) == []


def test_a_line_that_was_cut_off_does_not_hide_the_others(place):
    name = make(place, 1)
    activate(place, name, 3)
    with open(place.journal, "a") as stream:
        stream.write('{"event": "switched", "at": "2026')
    journal.write(place, "complete", name, NOW)
    assert [entry.event for entry in journal.read(place)] == ["switched", "complete"]


def test_what_was_left_last_stays_though_the_clock_was_put_back(place):
    names = [make(place, day) for day in range(1, 4)]
    activate(place, names[0], 10)
    activate(place, names[1], -2000)  # while the clock was years ahead, the first one was left
    activate(place, names[2], 5)  # put right again, the second one was
    assert collecting.collect(place, 1, NOW, nobody).kept == ((names[0], "it was the active one less than a day ago"),)
    assert names[1] in place.names()


def test_what_a_link_beside_it_leads_to_stays(place):
    name = make(place, 1)
    for link in ("current", "moved"):
        os.symlink(place.text(name), os.path.join(place.parent, link))
        assert collecting.collect(place, 0, NOW, nobody).removed == ()
        os.unlink(os.path.join(place.parent, link))


def test_the_last_one_that_was_active_stays_where_the_link_is_gone(place):
    names = [make(place, day) for day in (1, 2)]
    activate(place, names[0], 20)
    activate(place, names[1], 19)
    os.unlink(place.link)
    assert collecting.collect(place, 0, NOW, nobody).removed == (names[0],)


@pytest.mark.parametrize("moment", ["2026-01-01T00:00:00", "0001-01-01T00:00:00Z", "x", ""])
def test_a_moment_may_be_anything(place, moment):
    names = [make(place, day) for day in (1, 2)]
    for name in names:
        activate(place, name, 20)
    with open(place.journal, encoding="utf-8") as stream:
        text = stream.read()
    with open(place.journal, "w", encoding="utf-8") as stream:
        stream.write(text.replace("2026-02-18T00:00:00Z", moment))
    collecting.collect(place, 0, NOW, nobody)
    assert names[1] in place.names()


def test_what_cannot_be_removed_is_kept_and_said(place, monkeypatch):
    names = [make(place, day) for day in (1, 2)]
    for name in names:
        activate(place, name, 20)

    def busy(path):
        raise OSError(16, "Device or resource busy", path)

    monkeypatch.setattr(collecting.shutil, "rmtree", busy)
    (kept,) = collecting.collect(place, 0, NOW, nobody).kept
    assert (kept[0], "busy" in kept[1]) == (names[0], True)
    assert collecting.clear(place) == ()
