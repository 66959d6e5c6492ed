"""Which hosts pip and uv are configured for."""

import os
from dataclasses import replace

import pytest
from fakes import FakeHost
from values import lock

from envdoctor.audit.configured import hosts
from envdoctor.views.lock_hosts import LockHosts

SECRET = "S3CRETs3cret"


@pytest.fixture
def found(tmp_path):
    """Return the list for a lock of a project, on a machine of these files and variables."""

    def found(files=None, kind="requirements", **env):
        for name, text in (files or {}).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        host = FakeHost(
            env={"XDG_CONFIG_DIRS": str(tmp_path / "xdg"), **env},
            cwd=str(tmp_path),
            home=str(tmp_path / "home"),
            root=str(tmp_path / "root"),
        )
        (tmp_path / "project").mkdir(exist_ok=True)
        given = hosts(replace(lock("six==1.17.0"), path=str(tmp_path / "project" / "lock"), format=kind), host)
        assert SECRET not in str(given)
        return replace(given, source=given.source.replace(str(tmp_path), ""))

    return found


def local(*names, source):
    return LockHosts(names, source, indexes_only=True, local=True)


def test_nothing_is_configured(found):
    assert found() == local(source="")


def test_pips_variables(found):
    env = {
        "PIP_INDEX_URL": f"https://u:{SECRET}@A.example/simple",
        "PIP_EXTRA_INDEX_URL": "https://b.example/x http://c.example",
    }
    assert found(**env) == local("a.example", "b.example", "c.example", source="PIP_INDEX_URL, PIP_EXTRA_INDEX_URL")
    assert found(kind="uv", **env).names == (), "uv does not read them"


def test_an_index_beside_the_default_one_leaves_that_one_unknown(found):
    assert found(PIP_EXTRA_INDEX_URL="https://b.example/x").names == ()
    assert found({"home/.config/uv/uv.toml": '[[index]]\nurl = "https://b.example"\n'}, kind="uv").names == ()


@pytest.mark.parametrize(
    "path",
    ["xdg/pip/pip.conf", "root/etc/pip.conf", "home/.pip/pip.conf", "home/.config/pip/pip.conf", "venv/pip.conf"],
)
def test_pips_files(found, path, tmp_path):
    text = f"[install]\nextra_index_url =\n  https://b.example/x\n  https://c.example/{SECRET}\n[global]\nindex-url = https://a.example\n"
    given = found({path: text}, VIRTUAL_ENV=str(tmp_path / "venv"))
    assert given == local("a.example", "b.example", "c.example", source=f"/{path}")


def test_what_comes_later_overrides(found):
    files = {
        name: f"[global]\nindex-url = https://{host}\n"
        for name, host in (("root/etc/pip.conf", "a"), ("mine.conf", "b"))
    }
    assert found(files, PIP_CONFIG_FILE="mine.conf") == local("b", source="/mine.conf")
    assert found(files, PIP_CONFIG_FILE=os.devnull).names == ()
    assert found(files, PIP_INDEX_URL="https://c").names == ("c",)


@pytest.mark.parametrize("path", ["home/.config/uv/uv.toml", "xdg/uv/uv.toml", "root/etc/uv/uv.toml"])
@pytest.mark.parametrize("kind", ["uv", "requirements"])
def test_uvs_files(found, path, kind):
    text = '[[index]]\nurl = "https://a.example"\ndefault = true\n[[index]]\nurl = "https://b.example"\n'
    assert found({path: text}, kind=kind) == local("a.example", "b.example", source=f"/{path}")
    assert found(kind=kind, UV_NO_CONFIG="1").names == ()


def test_uvs_variables_and_older_names(found):
    env = {
        "UV_DEFAULT_INDEX": "https://a.example",
        "UV_INDEX": f"torch=https://{SECRET}@b.example/whl https://c.example",
    }
    assert found(kind="uv", **env) == local("a.example", "b.example", "c.example", source="UV_DEFAULT_INDEX, UV_INDEX")
    text = 'index-url = "https://d.example"\nextra-index-url = ["https://e.example"]\n'
    assert found({"x.toml": text}, kind="uv", UV_CONFIG_FILE="x.toml").names == ("d.example", "e.example")


def test_the_project_of_the_lock_comes_before_the_machine(found):
    text = '[tool.uv]\nindex = [{ url = "https://p.example", default = true }]\n'
    given = found({"pyproject.toml": text}, PIP_INDEX_URL="https://a.example")
    assert given == LockHosts(("p.example",), "[tool.uv] of /pyproject.toml", indexes_only=True)
    given = found({"project/uv.toml": 'index-url = "https://q.example"\n'})
    assert (given.names, given.local) == (("q.example",), False)


@pytest.mark.parametrize("text", ["[", "index-url", "[global]\nindex-url =", "\0", "[global]\na=1\na=2\n"])
def test_a_file_that_cannot_be_read_says_nothing(found, text):
    files = dict.fromkeys(("root/etc/pip.conf", "home/.config/uv/uv.toml", "project/pyproject.toml"), text)
    assert found(files) == local(source="")
