"""Advice names an installer that is there, and can be pasted into a shell whatever a package calls itself."""

import shlex
from dataclasses import replace

import pytest
from values import PIP, distribution, distributions, interpreter, remedies


@pytest.mark.parametrize(
    ("installed", "begins"),
    [
        (["pip", "torch"], f"{PIP} install"),
        ([distribution("torch", installer="uv")], "uv pip install --python /env/bin/python"),
        (["torch"], "pip --python /env/bin/python install"),
        ([], "pip --python /env/bin/python install"),
    ],
)
def test_the_installer_is_one_that_the_target_has(installed, begins):
    found = remedies(distributions=distributions(*installed))
    assert found.install("six>=1") == (f"{begins} 'six>=1'",)


def test_a_reinstall_is_forced_and_names_the_build():
    (step,) = remedies().reinstall([("torch", "2.11.0+cu128"), ("six", None)])
    assert step == f"{PIP} install --force-reinstall --no-deps torch==2.11.0+cu128 six"


def test_what_pip_cannot_uninstall_is_installed_over():
    (over,) = remedies().reinstall([("six", "1.0")], over=True)
    assert "--ignore-installed" in over
    by_uv = remedies(distributions=distributions(distribution("six", installer="uv")))
    assert "--force-reinstall" in by_uv.reinstall([("six", "1.0")], over=True)[0], "uv has no --ignore-installed"


def test_nothing_to_remove_is_no_step():
    assert remedies().remove([]) == ()


def test_a_hostile_path_stays_one_word():
    found = remedies(interpreter=replace(interpreter(), python="/my env; x/bin/python"))
    steps = (*found.remove(["six"]), *found.install("six>=1"), *found.reinstall([("six", "1")]))
    assert [shlex.split(step)[0] for step in steps] == ["/my env; x/bin/python"] * 3
    assert [shlex.split(step)[-1] for step in steps] == ["six", "six>=1", "six==1"]


EVIL = ["x; rm -rf $HOME", "-r/etc/passwd", "--pre", "-e.", "a b", "$(x)", "", "six @ file:///x", "six\n"]


@pytest.mark.parametrize("evil", EVIL)
def test_what_is_no_name_or_version_enters_no_command(evil):
    found = remedies()
    assert (found.remove([evil]), found.install(evil), found.reinstall([(evil, "1")])) == ((), (), ())
    assert found.remove([evil, "six"]) == (f"{PIP} uninstall six",)
    pins = [(evil, "1"), ("two", "1 -r x"), ("six", "1")]
    assert found.reinstall(pins) == (f"{PIP} install --force-reinstall --no-deps six==1",)


@pytest.mark.parametrize("proper", ["six", "six==1.0+cu128", "six[a,b]>=1,<2", "six (>=1.0,!=1.5.*)", "six~=1.0 , <3"])
def test_a_requirement_by_name_and_version_is_passed_on(proper):
    (step,) = remedies().install(proper)
    assert shlex.split(step)[-1] == proper
