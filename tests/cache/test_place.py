"""Where the cache and its saves are: the rules of torch, and XDG's."""

import os
import pwd

import pytest

from envdoctor.cache import place


@pytest.fixture
def host(tmp_path):
    from envdoctor.system.host import LocalHost

    return lambda **env: LocalHost(env={"HOME": str(tmp_path / "home"), **env}, cwd=str(tmp_path))


def test_the_variable_names_it(host, tmp_path):
    assert place.inductor(host(TORCHINDUCTOR_CACHE_DIR="/c")) == place.Place("/c", "TORCHINDUCTOR_CACHE_DIR")
    assert place.inductor(host(TORCHINDUCTOR_CACHE_DIR="c")).path == str(tmp_path / "c")


def test_what_the_caller_says_counts_more(host, tmp_path):
    named = place.inductor(host(TORCHINDUCTOR_CACHE_DIR="/c"), "mine", "--to")
    assert named == place.Place(str(tmp_path / "mine"), "--to")


@pytest.mark.parametrize("name", ["TMPDIR", "TEMP", "TMP"])
def test_otherwise_it_lies_among_temporary_files(host, tmp_path, name):
    found = place.inductor(host(USER="me", **{name: str(tmp_path)}))
    assert found == place.Place(str(tmp_path / "torchinductor_me"), f"default, of {name} and USER")


def test_a_temporary_directory_that_is_not_there_is_passed_over(host, tmp_path):
    found = place.inductor(host(USER="me", TMPDIR=str(tmp_path / "none")))
    assert found == place.Place("/tmp/torchinductor_me", "default, of USER")


def test_the_user_is_the_one_of_getpass(host):
    assert place.inductor(host(LOGNAME="a/b:c", USER="me")).path == "/tmp/torchinductor_a_b_c"
    assert place.inductor(host()).path == f"/tmp/torchinductor_{pwd.getpwuid(os.getuid()).pw_name}"


def test_a_user_without_an_entry_has_a_number(host, monkeypatch):
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: {}[uid])
    assert place.inductor(host()).path == f"/tmp/torchinductor_uid_{os.getuid()}"


def test_the_store_is_below_xdg_data_and_belongs_to_the_environment(host, tmp_path):
    home = f"{tmp_path}/home/.local/share/envdoctor/caches/"
    assert place.store(host(), "/a/venv").startswith(home)
    assert place.store(host(XDG_DATA_HOME="relative"), "/a/venv").startswith(home)
    assert place.store(host(XDG_DATA_HOME="/data"), "/a/venv").startswith("/data/envdoctor/caches/")
    assert place.store(host(), "/a/venv") != place.store(host(), "/b/venv")


def test_a_link_that_names_an_environment_is_its_identity(host, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "real/venv").symlink_to("generation-1")
    first = place.store(host(), str(tmp_path / "real/venv"))
    assert place.store(host(), str(tmp_path / "linked/venv")) == first
    (tmp_path / "real/venv").unlink()
    (tmp_path / "real/venv").symlink_to("generation-2")
    assert place.store(host(), str(tmp_path / "real/venv")) == first
