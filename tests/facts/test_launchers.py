"""Console scripts, activate scripts and the caller's PATH, as installers really write them; a moved venv is found."""

import os
import shutil
import sys
import venv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.facts import launchers
from envdoctor.facts.interpreter import Interpreter, parse_pyvenv
from envdoctor.facts.launchers import Shebang, parse_activate, parse_shebang
from envdoctor.model import Severity, Target
from envdoctor.probes.environment import moved
from envdoctor.system.host import LocalHost

LONG = "/data/" + "d" * 130 + "/env/bin/python3.12"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("#!/env/bin/python\n# -*- coding: utf-8 -*-\n", Shebang("/env/bin/python")),
        ("#!/env/bin/python3.13t -E\n", Shebang("/env/bin/python3.13t")),
        ("#!/env/bin/python3\r\n", Shebang("/env/bin/python3")),
        (f"#!/bin/sh\n'''exec' {LONG} \"$0\" \"$@\"\n' '''\n", Shebang(LONG)),
        ("#!/bin/sh\n'''exec' \"/my env/bin/python\" \"$0\" \"$@\"\n' '''\n", Shebang("/my env/bin/python")),
        ("#!/bin/sh\n'''exec' '/my env/bin/python' \"$0\" \"$@\"\n' '''\n", Shebang("/my env/bin/python")),
        (
            "#!/bin/sh\n'''exec' \"$(dirname -- \"$(realpath -- \"$0\")\")\"/'python' \"$0\" \"$@\"\n' '''\n",
            Shebang(None, relocatable=True),
        ),
        ("#!/usr/bin/env python3\n", Shebang(None)),
        ("#!/usr/bin/env -S python3 -u\n", Shebang(None)),
        ("#!/usr/bin/env bash\n", None),
        ("#!/bin/sh\nexec something\n", None),
        ("#!/usr/bin/perl\n", None),
        ("#!\n", None),
        ("\x7fELF", None),
        ("", None),
    ],
)
def test_shebangs_are_read_in_every_form_that_installers_write(head, expected):
    assert parse_shebang(head.encode()) == expected


@given(st.binary(max_size=400))
def test_any_bytes_may_be_a_script(head):
    parse_shebang(b"#!" + head)
    parse_shebang(b"#!/bin/sh\n'''exec' " + head + b' "$0" "$@"\n')


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("activate", 'VIRTUAL_ENV="/a/env"\nexport VIRTUAL_ENV\n', "/a/env"),  # venv 3.11
        ("activate", 'export VIRTUAL_ENV=$(cygpath "/x")\n    export VIRTUAL_ENV="/a/env"\n', "/a/env"),  # venv 3.12
        ("activate", "VIRTUAL_ENV='/a/env'\n", "/a/env"),  # uv
        ("activate", 'VIRTUAL_ENV="$CURRENT_ENV"\n    VIRTUAL_ENV=/a/env\n', "/a/env"),  # virtualenv
        ("activate", "VIRTUAL_ENV=''\"$(dirname -- \"$SCRIPT_PATH\")\"''\n", None),  # uv --relocatable
        ("activate.csh", 'setenv VIRTUAL_ENV "/a/env"\n', "/a/env"),
        ("activate.csh", "set _virtualenv_dir='/a/env'\nsetenv VIRTUAL_ENV \"$_virtualenv_dir:q\"\n", "/a/env"),
        ("activate.fish", "set -gx VIRTUAL_ENV '/my env'\n", "/my env"),
        ("activate.fish", "set -gx VIRTUAL_ENV ''(dirname -- (status -f))''\n", None),
        ("activate", 'VIRTUAL_ENV="/a/$NAME"\n', None),
        ("activate", "VIRTUAL_ENV='/un balanced\n", None),
    ],
)
def test_activate_scripts_are_read_as_each_tool_spells_them(name, text, expected):
    assert parse_activate(text, name) == expected


@pytest.fixture
def env(tmp_path):
    """A venv with the activate scripts of this Python, and two console scripts."""
    prefix = tmp_path / "old"
    venv.create(prefix, symlinks=True)
    for name in ("tool", "torchrun"):
        script(prefix / "bin" / name, prefix / "bin/python")
    return prefix


def script(path, python):
    path.write_text(f"#!{python}\nimport sys\n")
    path.chmod(0o755)


def collect(prefix, **variables):
    pyvenv = parse_pyvenv((prefix / "pyvenv.cfg").read_text())
    speaker = Interpreter(f"{prefix}/bin/python", (), True, None, "3.12.3", None, {}, pyvenv=pyvenv)
    host = LocalHost(env=variables, cwd=str(prefix.parent))
    return launchers.collect(Target(str(prefix), f"{prefix}/bin/python"), host, speaker)


def judge(prefix):
    return list(moved.check(collect(prefix), Target(str(prefix), f"{prefix}/bin/python")))


class TestMoved:
    def test_renamed_environment_is_an_error_though_its_python_works(self, env, tmp_path):
        """Case C57."""
        env.rename(tmp_path / "new")
        assert os.access(tmp_path / "new/bin/python", os.X_OK)
        (finding,) = judge(tmp_path / "new")
        assert finding.severity == Severity.ERROR
        assert finding.evidence["named"] == str(env)
        assert finding.evidence["paths"] == [f"{tmp_path}/new/bin/tool", f"{tmp_path}/new/bin/torchrun"]
        assert f"{tmp_path}/new/bin/activate" in finding.evidence["activate"]
        assert f"or move it back: mv {tmp_path}/new {env}" in finding.remedy

    def test_copied_environment_is_an_error_while_the_original_stands(self, env, tmp_path):
        shutil.copytree(env, tmp_path / "new", symlinks=True)
        (finding,) = judge(tmp_path / "new")
        assert finding.severity == Severity.ERROR
        assert "another environment" in finding.message
        assert len(finding.remedy) == 1

    def test_environment_in_its_place_is_healthy(self, env):
        assert judge(env) == []

    def test_prefix_reached_through_a_link_is_healthy(self, env, tmp_path):
        (tmp_path / "link").symlink_to(env)
        assert judge(tmp_path / "link") == []

    def test_scripts_that_name_the_link_are_healthy(self, env, tmp_path):
        (tmp_path / "link").symlink_to(env)
        script(env / "bin/tool", tmp_path / "link/bin/python")
        assert judge(env) == []

    def test_relocatable_scripts_may_move(self, env, tmp_path):
        for path in (env / "bin").glob("activate*"):
            path.unlink()
        for name in ("tool", "torchrun"):
            (env / "bin" / name).write_text(
                "#!/bin/sh\n'''exec' \"$(dirname -- \"$(realpath -- \"$0\")\")\"/'python' \"$0\" \"$@\"\n' '''\n"
            )
        env.rename(tmp_path / "new")
        assert judge(tmp_path / "new") == []

    def test_a_script_of_the_systems_python_is_not_stale(self, env):
        script(env / "bin/tool", os.path.realpath(sys.executable))
        assert judge(env) == []


def test_a_fifo_in_bin_is_passed_over(env):
    os.mkfifo(env / "bin/pipe")
    assert len(collect(env).scripts) == 2


def test_where_the_environment_was_made_is_read_from_pyvenv_cfg(env, tmp_path):
    (env / "pyvenv.cfg").write_text("home = /usr/bin\ncommand = /usr/bin/python3 -m venv --without-pip /a b/old\n")
    assert collect(env).made_at == "/a b/old"


class TestTools:
    def test_own_pip_first_on_path(self, env):
        script(env / "bin/pip", env / "bin/python")
        found = collect(env, PATH=f"{env}/bin:/usr/bin", VIRTUAL_ENV=str(env))
        assert found.activated
        assert found.tool("pip").own
        assert found.tool("python").own

    def test_pip_of_another_python_behind_an_environment_without_pip(self, env, tmp_path):
        (tmp_path / "other").mkdir()
        script(tmp_path / "other/pip", "/opt/python/bin/python3")
        pip = collect(env, PATH=f"{env}/bin:{tmp_path}/other").tool("pip")
        assert (pip.path, pip.interpreter, pip.own) == (f"{tmp_path}/other/pip", "/opt/python/bin/python3", False)

    def test_a_relative_path_entry_starts_at_the_callers_folder(self, env):
        assert collect(env, PATH=f"{env.name}/bin").tool("python").own

    def test_an_empty_path_gives_nothing(self, env):
        assert collect(env).tools == ()

    @pytest.mark.parametrize(("variable", "active"), [("VIRTUAL_ENV", True), ("CONDA_PREFIX", True), ("OTHER", False)])
    def test_activation_is_read_from_the_environment(self, env, tmp_path, variable, active):
        (tmp_path / "link").symlink_to(env)
        assert collect(env, **{variable: str(tmp_path / "link")}).activated is active
