"""The target and the configuration are found where a user expects, or it is said where was looked."""

import os
import sys

import pytest
from fakes import FakeHost
from located import found, make, policy

from envdoctor.errors import PolicyError, UsageError
from envdoctor.locate import Wish, is_environment, locate


@pytest.fixture
def project(tmp_path):
    (tmp_path / "project/.git").mkdir(parents=True)
    return tmp_path / "project"


def test_the_active_venv_then_conda_then_the_folders(project):
    venv, conda = make(project.parent / "active"), make(project.parent / "conda", "conda-meta")
    make(project / ".venv")
    make(project / "venv")
    env = {"VIRTUAL_ENV": str(venv), "CONDA_PREFIX": str(conda), "CONDA_DEFAULT_ENV": "train"}
    assert found(project, **env).prefix == str(venv)
    del env["VIRTUAL_ENV"]
    assert found(project, **env).prefix == str(conda)
    assert found(project).prefix == str(project / ".venv")
    (project / ".venv/pyvenv.cfg").unlink()
    assert found(project).prefix == str(project / "venv")
    assert found(project).python == str(project / "venv/bin/python")


def test_nothing_to_check_says_what_was_tried_and_names_the_demo(project):
    (project / "venv").mkdir()
    with pytest.raises(UsageError) as caught:
        found(project, VIRTUAL_ENV="/gone")
    assert str(caught.value) == (
        "no environment to check; tried $VIRTUAL_ENV: /gone is not there; $CONDA_PREFIX: not set; ./.venv: not there; "
        f"./venv: {project}/venv is not a Python environment. "
        "Name one with --target DIR, or see `envdoctor demo` for what a check looks like"
    )


@pytest.mark.parametrize("base", ["name", "condabin"])
def test_condas_base_is_never_taken(base, project):
    conda = make(project.parent / "conda", "conda-meta")
    env = {"CONDA_PREFIX": str(conda), "CONDA_DEFAULT_ENV": "base" if base == "name" else "/odd"}
    if base == "condabin":
        (conda / "condabin").mkdir()
    with pytest.raises(UsageError, match=r"conda is conda's base environment"):
        found(project, **env)


def test_the_doctors_own_environment_is_never_taken_unasked(project, monkeypatch):
    own = make(project / ".venv")
    (project.parent / "link").symlink_to(own)
    monkeypatch.setattr(sys, "prefix", str(own))
    with pytest.raises(UsageError, match=r"\.venv is envdoctor's own environment"):
        found(project, VIRTUAL_ENV=str(project.parent / "link"))
    assert found(project, Wish(target=".venv")).prefix == str(own)


@pytest.mark.parametrize("said", [".venv", "./.venv/", "{project}/.venv", ".venv/bin/python", ".venv/bin/python3.12"])
def test_a_named_target_is_a_folder_or_its_interpreter(said, project):
    make(project / ".venv/bin", "python3.12")
    (project / ".venv/pyvenv.cfg").touch()
    (project / ".venv/bin/python").symlink_to("gone")
    target = found(project, Wish(target=said.format(project=project)))
    assert target.prefix == str(project / ".venv")
    assert target.python == str(project / ".venv/bin" / (os.path.basename(said) if "bin" in said else "python"))


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("gone", "gone is not there; name an environment's directory or its bin/python"),
        ("nul\0", "is not there"),
        (".", "is not a Python environment .*; did you mean .*/.venv?"),
        ("file", "is neither a directory nor an interpreter in a bin directory"),
        ("bin/python", "is neither a directory nor an interpreter"),
        ("fifo", "is neither a directory nor"),
        ("loop", "is neither a directory nor"),
    ],
)
def test_a_named_target_that_is_none_is_said(said, problem, project):
    make(project / ".venv")
    (project / "file").touch()
    make(project / "bin", "python.x").joinpath("python").touch()
    os.mkfifo(project / "fifo")
    (project / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match=problem):
        found(project, Wish(target=said))


@pytest.mark.parametrize(
    "mark", ["pyvenv.cfg", "conda-meta", "lib/python3.12/site-packages", "lib/python3/dist-packages"]
)
def test_what_an_environment_is(mark, tmp_path):
    (tmp_path / "other").mkdir()
    assert (is_environment(str(make(tmp_path / "e[1]", mark))), is_environment(str(tmp_path / "other"))) == (
        True,
        False,
    )


def generation(project):
    built = make(project / ".envs/train/20260603")
    (built / "bin").mkdir()
    (built / "bin/python").touch()
    (project / "train").symlink_to(".envs/train/20260603")
    return built


@pytest.mark.parametrize("said", [".envs/train/20260603", "train", ".envs/train/20260603/bin/python"])
def test_a_generation_is_known_by_its_link(said, project):
    generation(project)
    target = found(project, Wish(target=said))
    assert (target.prefix, target.python) == (str(project / "train"), str(project / "train/bin/python"))


def test_an_active_generation_is_known_by_its_link(project):
    assert found(project, VIRTUAL_ENV=str(generation(project))).prefix == str(project / "train")


def test_an_old_generation_is_itself(project):
    generation(project)
    old = make(project / ".envs/train/20260101")
    assert found(project, Wish(target=str(old))).prefix == str(old)


def test_the_configuration_names_the_target_from_where_it_lies(project):
    make(project / "envs/train")
    (project / "sub").mkdir()
    (project / "envdoctor.toml").write_text("target = 'envs/train'\ngroups = ['a']\nextras = ['x']\n")
    target = found(project / "sub", Wish(groups=("b", "a"), extras=("y",)))
    assert (target.prefix, target.groups, target.extras) == (str(project / "envs/train"), ("a", "b"), ("x", "y"))


def test_a_configured_target_that_is_none_names_the_configuration(project):
    (project / "envdoctor.toml").write_text("target = 'gone'")
    with pytest.raises(UsageError, match=r"target in .*/envdoctor\.toml: .*/gone is not there"):
        found(project)


def test_the_configuration_is_the_nearest_and_the_targets_before_the_current_directorys(project, tmp_path):
    other = tmp_path / "other"
    make(other / ".venv")
    (project / "envdoctor.toml").write_text("allow = ['here']")
    assert policy(project, Wish(target=str(other / ".venv"))).allow == ("here",)
    (other / "pyproject.toml").write_text("[tool.envdoctor]\nallow = ['there']")
    assert policy(project, Wish(target=str(other / ".venv"))).allow == ("there",)
    (other / "envdoctor.toml").write_text("allow = ['nearer']")
    assert policy(project, Wish(target=str(other / ".venv"))).allow == ("nearer",)


def test_an_active_environments_configuration_counts_where_there_is_no_other(project, tmp_path):
    active = make(tmp_path / "other/.venv")
    (tmp_path / "other/envdoctor.toml").write_text("allow = ['there']")
    (_, found_policy) = locate(Wish(), FakeHost(env={"VIRTUAL_ENV": str(active)}, cwd=str(project)))
    assert found_policy.allow == ("there",)


def test_no_configuration_is_looked_for_above_the_project(project, tmp_path):
    make(project / ".venv")
    (tmp_path / "envdoctor.toml").write_text("allow = ['above']")
    (project / "pyproject.toml").write_text("[tool.ruff]\n")
    assert policy(project).path is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"[tool.ruff]\n", r"named\.pyproject\.toml: has no \[tool\.envdoctor\]"),
        (b"\xff", "not UTF-8 at byte 0"),
        (b"= 1", "named.pyproject.toml:1: not TOML"),
        (None, "No such file or directory"),
        (os.mkfifo, "is not a regular file"),
        (os.mkdir, "is not a regular file"),
    ],
    ids=["no table", "no UTF-8", "no TOML", "gone", "fifo", "directory"],
)
def test_a_named_configuration_that_is_none_is_said(content, problem, project):
    make(project / ".venv")
    path = project / "named.pyproject.toml"
    if callable(content):
        content(path)
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(PolicyError, match=problem):
        policy(project, Wish(config=path.name))


def test_a_byte_order_mark_is_no_mistake(project):
    make(project / ".venv")
    (project / "envdoctor.toml").write_bytes(b"\xef\xbb\xbfallow = ['a']\r\n")
    assert policy(project).allow == ("a",)


@pytest.mark.parametrize(
    ("said", "path"),
    [
        (None, None),
        ("run/train.log", "{}/run/train.log"),
        ("/x.log", "/x.log"),
        ("~/x.log", "~"),
        ("run/../x.log", "{}/x.log"),
        ("link/../x.log", "{}/link/../x.log"),
    ],
)
def test_a_log_is_meant_from_where_the_caller_is(tmp_path, said, path):
    make(tmp_path / "p/.venv")
    (tmp_path / "p/link").symlink_to("/usr/lib")
    log = found(tmp_path / "p", Wish(log=said)).log
    assert log == (os.path.expanduser("~/x.log") if path == "~" else path and path.format(tmp_path / "p"))
