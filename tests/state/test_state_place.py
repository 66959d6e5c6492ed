"""Where the state lies, and that nobody else can lead it elsewhere."""

import os
import stat

import pytest

from envdoctor.state import place
from envdoctor.state.place import DamagedError, StateError, examine, path_of, prepare


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "state" / "envdoctor" / "node7.sqlite")


@pytest.mark.parametrize(
    ("env", "path"),
    [
        ({}, "/home/me/.local/state/envdoctor/node7.sqlite"),
        ({"XDG_STATE_HOME": "/s"}, "/s/envdoctor/node7.sqlite"),
        ({"XDG_STATE_HOME": "relative"}, "/home/me/.local/state/envdoctor/node7.sqlite"),
    ],
    ids=str,
)
def test_each_host_has_a_file_of_its_own_below_xdg_state(env, path):
    assert path_of(env, "/home/me", "node7", root=False) == path


def test_a_host_s_name_is_no_path():
    assert path_of({}, "/h", "../../etc/x", root=False) == "/h/.local/state/envdoctor/.._.._etc_x.sqlite"


@pytest.mark.parametrize("there", [True, False])
def test_root_keeps_it_where_services_do_if_it_may_write_there(tmp_path, monkeypatch, there):
    monkeypatch.setattr(place, "SYSTEM", str(tmp_path / "lib"))
    if there:
        (tmp_path / "lib").mkdir()
    expected = f"{tmp_path}/lib" if there else "/root/.local/state"
    assert path_of({}, "/root", "n", root=True) == f"{expected}/envdoctor/n.sqlite"
    assert path_of({"XDG_STATE_HOME": "/s"}, "/root", "n", root=True) == "/s/envdoctor/n.sqlite"
    assert path_of({}, "/h", "n", root=False) == "/h/.local/state/envdoctor/n.sqlite"


def modes(path):
    return [stat.S_IMODE(os.stat(each).st_mode) for each in (os.path.dirname(path), path)]


def test_directory_and_file_are_the_user_s_alone(path):
    os.mkdir(os.path.dirname(os.path.dirname(path)))
    before = os.umask(0)
    try:
        prepare(path)
    finally:
        os.umask(before)
    assert modes(path) == [0o700, 0o600]


def test_what_was_open_to_others_is_closed(path):
    os.makedirs(os.path.dirname(path))
    os.chmod(os.path.dirname(path), 0o777)  # noqa: S103 - the fault
    with open(path, "wb"):
        os.chmod(path, 0o644)
    prepare(path)
    assert modes(path) == [0o755, 0o600]


def test_a_directory_that_is_open_to_others_is_not_read(path):
    prepare(path)
    os.chmod(os.path.dirname(path), 0o770)  # noqa: S103 - the fault
    with pytest.raises(StateError, match="others may write there"):
        examine(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("which", ["directory", "above", "file"])
def test_root_keeps_nothing_where_somebody_else_decides(path, which):
    prepare(path)
    folder = os.path.dirname(path)
    os.chown({"directory": folder, "above": os.path.dirname(folder), "file": path}[which], 12345, 12345)
    with pytest.raises(StateError, match=r"belongs to (user )?12345|not this user's own"):
        prepare(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("rest", ["node7.sqlite", "made/node7.sqlite", "made/too/node7.sqlite"])
def test_root_follows_nobody_elses_link_and_makes_nothing_behind_it(tmp_path, rest):
    """What it leads to now may be root's own: its owner can turn it while the file is opened."""
    roots = tmp_path / "roots"
    roots.mkdir(mode=0o700)
    (tmp_path / "eve").mkdir()
    (tmp_path / "eve" / "state").symlink_to(roots)
    os.chown(tmp_path / "eve", 12345, 12345)
    with pytest.raises(StateError, match=r"eve belongs to 12345"):
        prepare(str(tmp_path / "eve" / "state" / rest))
    assert os.listdir(roots) == []


def test_a_directory_that_everybody_shares_is_fine(tmp_path):
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    path = str(shared / "state" / "envdoctor" / "node7.sqlite")
    prepare(path)
    assert examine(path)


PLANTED = {
    "link": lambda path, elsewhere: os.symlink(elsewhere, path),
    "hard link": lambda path, elsewhere: os.link(elsewhere, path),
    "FIFO": lambda path, _: os.mkfifo(path),
    "directory": lambda path, _: os.mkdir(path),
}


@pytest.mark.parametrize("ending", ["", "-journal", "-wal", "-shm"])
@pytest.mark.parametrize("what", PLANTED)
def test_nothing_that_was_planted_is_followed_or_waited_for(path, tmp_path, what, ending):
    os.makedirs(os.path.dirname(path), mode=0o700)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    PLANTED[what](path + ending, elsewhere)
    for look in (examine, prepare):
        with pytest.raises(DamagedError):
            look(path)
    assert elsewhere.read_text() == "precious"


def test_where_no_directory_can_be_made_it_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match=r"file"):
        prepare(str(tmp_path / "file" / "x" / "n.sqlite"))
