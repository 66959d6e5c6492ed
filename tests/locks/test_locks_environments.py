"""Environments that a lock is judged for: which Pythons they may be, and what a lock says of its own."""

import pytest
from values import lock

from envdoctor.locks.environments import LockEnvironment, declared
from envdoctor.model import LockHeader

MINOR = LockEnvironment("3.12", {"python_version": "3.12"})
FULL = LockEnvironment("3.12.3", {"python_version": "3.12", "python_full_version": "3.12.3"})
COMING = LockEnvironment("3.15.0rc1", {"python_full_version": "3.15.0rc1"})


@pytest.mark.parametrize(
    ("environment", "requires", "admitted"),
    [
        (MINOR, ">=3.12.4", True),
        (MINOR, "==3.12.40", True),
        (MINOR, ">=3.13", False),
        (FULL, ">=3.12.4", False),
        (FULL, "==3.12.*", True),
        (COMING, ">=3.15", True),
        (COMING, "<3.15", False),
        (LockEnvironment("unknown"), ">=3.99", True),
        (FULL, "nonsense", True),
        (MINOR, f">=3.{'9' * 5000}", True),
        (FULL, None, True),
    ],
)
def test_which_pythons_it_may_be(environment, requires, admitted):
    assert environment.admitted(requires) == admitted


@pytest.mark.parametrize(
    ("requires", "python"), [("==3.12.*", "3.12"), (">=3.12", None), ("==3.12.3", None), (None, None)]
)
def test_a_lock_for_one_minor_release_says_the_python_of_its_environments(requires, python):
    marker = "platform_machine == 'x86_64' and sys_platform == 'linux'"
    (found,) = declared(lock("six==1.17.0", environments=(marker,), requires_python=requires))
    assert (found.python, found.machine) == (python, "x86_64")
    assert (found.tags() is not None) == (python is not None)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        (LockHeader(python="3.12", platform="x86_64-manylinux_2_28"), "Python 3.12 on x86_64-manylinux_2_28"),
        (LockHeader(python="3.12", platform="linux"), "Python 3.12 on linux"),
        (LockHeader(python="3.10"), None),
        (LockHeader(platform="linux"), None),
        (LockHeader(python="3.12", platform="macos"), None),
    ],
)
def test_a_header_declares_an_environment_by_python_and_platform(header, name):
    assert [found.name for found in declared(lock("six==1.17.0", header=header))] == ([name] if name else [])
