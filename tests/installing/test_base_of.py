"""The base interpreter behind a venv, as venv, virtualenv and uv write it down."""

import os

import pytest

from envdoctor.errors import UsageError
from envdoctor.installing.creating import base_of


@pytest.fixture
def base(tmp_path):
    path = tmp_path / "opt/bin/python3.12"
    path.parent.mkdir(parents=True)
    path.write_text("")
    path.chmod(0o755)
    return path


def venv(folder, settings):
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text(settings)
    (folder / "bin/python").symlink_to("nowhere")
    return str(folder / "bin/python")


@pytest.mark.parametrize(
    "settings",
    [
        "home = {home}\nexecutable = {home}/python3.12\nversion = 3.12.3\n",
        "home = /gone\nbase-executable = {home}/python3.12\nversion_info = 3.12.3.final.0\n",
        "home = {home}\nversion_info = 3.12.3\n",
        "home = {home}\nexecutable = /gone/python3.12\nversion = 3.12.3\n",
    ],
    ids=["venv", "virtualenv", "uv", "moved"],
)
def test_base_is_found_as_each_tool_writes_it(settings, base, tmp_path):
    assert base_of(venv(tmp_path / "env", settings.format(home=base.parent))) == str(base)


def test_venv_made_of_a_venv_leads_to_the_first_base(base, tmp_path):
    first = venv(tmp_path / "first", f"home = {base.parent}\nversion = 3.12.3\n")
    os.remove(first)
    os.symlink(base, first)
    os.symlink(base, tmp_path / "first/bin/python3.12")
    second = venv(tmp_path / "second", f"home = {tmp_path}/first/bin\nversion = 3.12.3\n")
    assert base_of(second) == str(base)


def test_base_interpreter_is_its_own(base):
    assert base_of(str(base)) == str(base)


def test_base_of_another_version_in_the_same_place_is_not_taken(base, tmp_path):
    (base.parent / "python3").symlink_to(base)
    python = venv(tmp_path / "env", f"home = {base.parent}\nversion = 3.11.2\n")
    with pytest.raises(UsageError, match=r"its base interpreter, .*/python3\.11, is gone; name one with --python"):
        base_of(python)


def test_python_that_is_not_there_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="no interpreter that can be run; name one with --python"):
        base_of(str(tmp_path / "python"))
