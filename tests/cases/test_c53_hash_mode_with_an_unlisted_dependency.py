"""A hashed lock that is not the whole closure: pypa/pip#9629.

`cli-helpers` needs `configobj`, which the lock does not list; pip then refuses all, and `uv pip sync` installs half.
"""

import pytest
from doctor import Doctor

from envdoctor.wheels import Wheel

ALPHA = Wheel("alpha", "2.1.0", {"alpha/__init__.py": ""}, ("beta>=1",))
BETA = Wheel("beta", "1.0", {"beta/__init__.py": ""})
HASH = "--hash=sha256:" + "1" * 64


def audit(folder, lock):
    wheels = folder / "wheels"
    wheels.mkdir()
    for wheel in (ALPHA, BETA):
        wheel.build(wheels)
    (folder / "lock.txt").write_text(lock)
    meant = ("--python", "3.12", "--platform", "linux_x86_64", "--wheelhouse", "wheels")
    return Doctor(folder)("lock", "audit", "--format", "json", *meant, "lock.txt")


def test_what_is_needed_and_not_listed_is_an_error(tmp_path):
    (found,) = audit(tmp_path, f"alpha==2.1.0 {HASH}\n").findings("lock/incomplete")
    assert (found["severity"], found["subject"]) == ("error", "beta")
    assert "alpha" in found["message"]


def test_what_is_listed_without_a_hash_is_an_error(tmp_path):
    answer = audit(tmp_path, f"alpha==2.1.0 {HASH}\nbeta==1.0\n")
    assert [found["severity"] for found in answer.findings("lock/partly-hashed")] == ["error"]
    assert answer.findings("lock/incomplete") == []


@pytest.mark.parametrize("rule", ["lock/incomplete", "lock/partly-hashed"])
def test_control_the_whole_closure_is_silent(tmp_path, rule):
    answer = audit(tmp_path, f"alpha==2.1.0 {HASH}\nbeta==1.0 {HASH[:-1]}2\n")
    assert answer.findings(rule) == []
    assert rule in answer.report["passed"]
