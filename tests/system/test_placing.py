import pytest

from envdoctor.errors import EnvDoctorError
from envdoctor.system.placing import place


def test_what_passes_takes_the_place(tmp_path):
    goal = tmp_path / "train.txt"
    goal.write_text("old")
    (tmp_path / "train.txt.rejected").write_text("of the last time")
    seen = []

    def check(path):
        seen.append((path, (tmp_path / "scratch").read_text(), goal.read_text()))
        return []

    assert place(str(goal), "new", "scratch", check, rejected="bad new") == ()
    assert seen == [(str(tmp_path / "scratch"), "new", "old")]
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"train.txt": "new"}


def test_what_fails_lies_beside_what_stays(tmp_path):
    goal = tmp_path / "train.txt"
    goal.write_text("old")
    assert place(str(goal), "new", "scratch", lambda _: ["bad"], rejected="bad new") == ("bad",)
    there = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert there == {"train.txt": "old", "train.txt.rejected": "bad new"}


def test_a_check_that_raises_leaves_all_as_it_was(tmp_path):
    def check(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        place(str(tmp_path / "train.txt"), "new", "scratch", check, rejected="bad new")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "train.txt").mkdir()
    with pytest.raises(EnvDoctorError, match=r"train\.txt: cannot be written: Is a directory"):
        place(str(tmp_path / "train.txt"), "new", "scratch", lambda _: [], rejected="bad new")
    assert [path.name for path in tmp_path.iterdir()] == ["train.txt"]
