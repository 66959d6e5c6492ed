"""What stays behind in an old environment: named, where it is nobody's."""

import os

import pytest

from envdoctor.rebuild.leavings import leavings
from envdoctor.wheels import Wheel


@pytest.fixture
def venv(tmp_path):
    """A venv as `python -m venv` makes it, with one package that brings a command, and all times of one moment."""
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    wheel = Wheel("tool", "1.0", {"tool/__init__.py": ""}, console_scripts={"tool": "tool:main"})
    for path, content in wheel.entries().items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(content)
    with open(site / "tool-1.0.dist-info" / "RECORD", "a", encoding="utf-8") as record:
        record.write("../../../bin/tool,,\n")
    (tmp_path / "bin").mkdir()
    for name in ("activate", "activate.csh", "activate.fish", "Activate.ps1", "python", "python3.12", "tool"):
        (tmp_path / "bin" / name).write_text("")
    (tmp_path / "pyvenv.cfg").write_text("")
    for path in (*(tmp_path / "bin").iterdir(), tmp_path / "pyvenv.cfg"):
        os.utime(path, (1000, 1000))
    return tmp_path


def said(venv):
    return [(left.what, os.path.relpath(left.path, venv)) for left in leavings(str(venv)).left]


def test_nothing_of_an_untouched_venv(venv):
    found = leavings(str(venv))
    assert (said(venv), found.files) == ([], 13)


def test_what_lies_beside_it_is_named(venv):
    (venv / "src" / "repository").mkdir(parents=True)
    (venv / "notes.txt").write_text("")
    (venv / "pip.conf").write_text("")
    assert said(venv) == [("file", "notes.txt"), ("file", "pip.conf"), ("directory", "src")]


def test_a_command_of_nobody_is_named(venv):
    (venv / "bin" / "mine").write_text("")
    assert said(venv) == [("file", "bin/mine")]


@pytest.mark.parametrize("moment", [1010, 1100])
def test_an_activate_script_that_was_changed_is_named(venv, moment):
    os.utime(venv / "bin" / "activate", (moment, moment))
    assert said(venv) == [("changed script", "bin/activate")]


def test_a_link_is_not_followed(venv, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "large").write_bytes(b"0" * 100_000)
    (venv / "lib64").symlink_to("lib")
    (venv / "share").symlink_to(elsewhere)
    assert leavings(str(venv)).size < 100_000
