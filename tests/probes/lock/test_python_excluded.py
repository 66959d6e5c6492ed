"""Locks and packages that are not for the environment's Python."""

from dataclasses import replace

import pytest
from locked import audited, read, target, told
from values import findings

from envdoctor.locks.environments import LockEnvironment
from envdoctor.model import Severity
from envdoctor.probes.lock.python_excluded import check
from envdoctor.views.lock_targets import LockTargets

PYLOCK = """
lock-version = "1.0"
requires-python = "{}"
created-by = "demo"
packages = []
"""
PACKAGE = """
lock-version = "1.0"
created-by = "demo"
[[packages]]
name = "numpy"
version = "2.4.6"
requires-python = "{}"
marker = "{}"
[packages.sdist]
url = "https://files.example/numpy-2.4.6.tar.gz"
hashes = {{ sha256 = "1111111111111111111111111111111111111111111111111111111111111111" }}
"""


def judge(requires, python, text=PYLOCK):
    return audited(check, text.format(requires, "os_name == 'posix'"), "/p/pylock.toml", lock_targets=target(python))


def full(version):
    return LockTargets((LockEnvironment(f"Python {version}", {"python_full_version": version}),))


@pytest.mark.parametrize(
    ("requires", "python"),
    [(">=3.13", "3.12"), ("==3.11.*", "3.12"), ("<3.12", "3.12"), (">=3.12.4", "3.12.3"), ("!=3.12.*", "3.12")],
)
def test_a_lock_for_other_pythons(requires, python):
    (finding,) = judge(requires, python)
    assert (finding.severity, finding.subject) == (Severity.ERROR, "/p/pylock.toml")
    assert f"for Python {requires}, which Python {python} on manylinux_2_28_x86_64 is not" in finding.message
    assert finding.evidence["text"] == "requires-python"


def test_a_package_for_other_pythons():
    (finding,) = found = judge(">=3.13", "3.12", PACKAGE)
    assert told(found) == [("numpy", 4)]
    assert finding.message.startswith("numpy 2.4.6 is for Python >=3.13, ")


def test_a_package_that_the_environment_does_not_get():
    text = PACKAGE.format(">=3.13", "sys_platform == 'win32'")
    assert audited(check, text, "/p/pylock.toml", lock_targets=target()) == []


@pytest.mark.parametrize(
    ("requires", "python"),
    [(">=3.12", "3.12"), (">=3.12.4", "3.12"), ("==3.12.*", "3.12.3"), ("==3.12.40", "3.12"), ("nonsense", "3.12")],
    ids=["admitted", "some patch", "minor", "one patch", "no specifier"],
)
def test_healthy_neighbours(requires, python):
    lock = replace(read(PYLOCK.format(">=3")), requires_python=requires)
    assert findings(check, lock=lock, lock_targets=target(python)) == []


def test_a_pre_release_of_python_counts_as_the_release():
    lock = read(PYLOCK.format(">=3.15"), "/p/pylock.toml")
    assert findings(check, lock=lock, lock_targets=full("3.15.0rc1")) == []
    assert len(findings(check, lock=lock, lock_targets=full("3.14.9"))) == 1
