"""A lock that was compiled for something else than the target."""

from dataclasses import replace

import pytest
from locked import NO_TARGET, read, target, told
from values import findings

from envdoctor.model import LockHeader, Severity
from envdoctor.probes.lock.other_target import check
from envdoctor.views import lock_stated
from envdoctor.views.lock_targets import LockTargets


def made(**header):
    return replace(read("# a header\nnumpy==2.2.6\n"), header=LockHeader("pip-compile", line=1, **header))


def test_another_python():
    (finding,) = found = findings(check, lock=made(python="3.10"), lock_targets=target())
    assert (finding.severity, told(found)) == (Severity.WARNING, [("/project/requirements.txt", 1)])
    assert finding.message == "the lock was compiled for Python 3.10, not for Python 3.12 on manylinux_2_28_x86_64"
    assert finding.evidence["text"] == "3.10"


def test_another_machine():
    lock = made(python="3.12", platform="aarch64-manylinux_2_28")
    (finding,) = findings(check, lock=lock, lock_targets=target())
    assert finding.evidence["text"] == "aarch64-manylinux_2_28"


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"python": "3.12"},
        {"python": "3"},
        {"python": "3.12t"},
        {"python": "3.12.4", "platform": "linux"},
        {"platform": "x86_64-manylinux_2_28"},
        {"python": "3.10", "command": "uv pip compile --universal --python-version 3.10"},
    ],
    ids=["nothing", "minor", "major alone", "free-threaded", "patch", "machine", "universal"],
)
def test_what_is_meant_for_it(header):
    assert findings(check, lock=made(**header), lock_targets=target()) == []


def test_an_older_glibc_is_the_dangerous_direction():
    lock = made(python="3.12", platform="manylinux_2_28_x86_64")
    (finding,) = findings(check, lock=lock, lock_targets=target(platform="manylinux_2_17_x86_64"))
    assert finding.remedy[0].endswith("IN -o FILE --python 3.12 --platform manylinux_2_17_x86_64")
    assert findings(check, lock=lock, lock_targets=target(platform="manylinux_2_35_x86_64")) == []
    assert findings(check, lock=lock, lock_targets=target(platform="linux_x86_64")) == []


def test_a_universal_lock_is_for_later_pythons():
    lock = made(python="3.13", command="uv pip compile --universal")
    assert len(findings(check, lock=lock, lock_targets=target())) == 1


def test_environments_that_the_lock_declares_are_its_own():
    declared = LockTargets(target().environments, stated=False)
    assert lock_stated.view(declared) == NO_TARGET
