"""Who would run a job on a machine of which only the files are here."""

import os

import pytest

from envdoctor.system.host import LocalHost
from envdoctor.system.inhabitant import PATH, environment

PASSWD = (
    "root:x:0:0:root:/root:/bin/sh\nalice:x:1234:1234::/home/alice:/bin/sh\nodd:x:7:7::relative:/bin/sh\nshort:x:8\n"
)


@pytest.fixture
def owned(tmp_path, monkeypatch):
    """Return an environment's variables; owners of files are said, for only root could make them so."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").write_text(PASSWD)
    (tmp_path / "venv").mkdir()
    real = os.stat

    def of(venv, etc=0):
        owners = {str(tmp_path / "venv"): venv, str(tmp_path / "etc"): etc}

        def stat(path, **options):
            fields = list(real(path, **options))
            fields[4] = owners.get(str(path), fields[4])
            return os.stat_result(fields)

        with monkeypatch.context() as patched:
            patched.setattr(os, "stat", stat)
            return environment(str(tmp_path), str(tmp_path / "venv"))

    return of


@pytest.mark.parametrize(
    ("venv", "etc", "name", "home"),
    [
        (0, 0, "root", "/root"),
        (1234, 0, "alice", "/home/alice"),
        (1234, 1234, "root", "/root"),
        (999, 0, "root", "/root"),
        (7, 0, "root", "/root"),
        (8, 0, "root", "/root"),
    ],
    ids=["root", "a user", "unpacked by a user", "a stranger", "a home that is none", "a short line"],
)
def test_the_owner_by_the_images_own_passwd(venv, etc, name, home, owned):
    assert owned(venv, etc) == {"PATH": PATH, "HOME": home, "LOGNAME": name}


def test_without_a_passwd_it_is_root(tmp_path):
    assert environment(str(tmp_path), str(tmp_path / "venv"))["HOME"] == "/root"


def test_the_callers_variables_end_below_a_root(tmp_path):
    env = {"PYTHONPATH": "/x", "HOME": "/home/me", "CUDA_HOME": "/y", "XDG_RUNTIME_DIR": "/run/user/1"}
    there = LocalHost(env=env, cwd="/x", root=str(tmp_path)).inhabited(str(tmp_path))
    assert there.env == {"PATH": PATH, "HOME": "/root", "LOGNAME": "root"}
    assert (there.home, there.cwd, there.own) == ("/root", "/", env), "what is the doctor's own lies with the caller"
    assert there.inhabited(str(tmp_path)).own == env
    here = LocalHost(env=env)
    assert here.inhabited("/x") is here
