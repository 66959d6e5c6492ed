"""A command finds the target as a shell does that has activated it."""

import pytest

from envdoctor.activation import changes
from envdoctor.environ import applied
from envdoctor.errors import UsageError


def activated(env, *, venv=True):
    return applied(env, changes("/e", env, venv=venv))


def test_the_targets_commands_come_first_and_it_is_named():
    env = {"PATH": "/a:/b", "PYTHONHOME": "/usr", "HOME": "/h"}
    assert activated(env) == {"PATH": "/e/bin:/a:/b", "VIRTUAL_ENV": "/e", "HOME": "/h"}


def test_an_active_target_stays_as_it_is():
    env = {"PATH": "/e/bin:/a", "VIRTUAL_ENV": "/e"}
    assert list(changes("/e", env, venv=True)) == []


@pytest.mark.parametrize("path", [{}, {"PATH": ""}])
def test_without_a_path_the_systems_is_searched_after_it(path):
    assert activated(path)["PATH"] == "/e/bin:/bin:/usr/bin"


def test_a_conda_environment_is_no_venv_and_another_one_is_not_active_any_more():
    env = {"PATH": "/e/bin", "VIRTUAL_ENV": "/other", "CONDA_PREFIX": "/base"}
    assert activated(env, venv=False) == {"PATH": "/e/bin", "CONDA_PREFIX": "/base"}


def test_a_target_that_path_cannot_name_is_refused():
    with pytest.raises(UsageError, match=r"/srv/a:b/bin: PATH cannot name it"):
        list(changes("/srv/a:b", {}, venv=True))
