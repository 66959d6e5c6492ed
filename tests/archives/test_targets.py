"""A Python's own word on what fits it."""

import json
import sys

import pytest
from fakes import FakeHost

from envdoctor.archives.targets import directories, environment_of
from envdoctor.errors import UsageError
from envdoctor.facts.interpreter import PAYLOAD
from envdoctor.system.host import Completed, LocalHost


def test_this_python():
    found = environment_of(sys.executable, LocalHost(), otherwise="name another")
    assert found.python == f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert found.platform.startswith(("manylinux_2_", "linux_"))


@pytest.mark.parametrize("libc", ["musl 1.2", ""])
def test_what_no_manylinux_wheel_fits_is_refused(libc):
    """Its tags would be those of every glibc, and a wheel of the wrong kind would be installed."""
    own = LocalHost().run([sys.executable, "-I", "-S", "-B", PAYLOAD], timeout=10)
    answer = json.loads(own.stdout.splitlines()[-1]) | {"libc": libc}
    host = FakeHost(answer=Completed(0, json.dumps(answer).encode()))
    with pytest.raises(UsageError, match="no Python on a Linux with glibc; name another"):
        environment_of("python", host, otherwise="name another")


def test_one_that_does_not_answer():
    with pytest.raises(UsageError, match=r"python: does not answer \(.*\); name another"):
        environment_of("python", FakeHost(), otherwise="name another")


def test_directories(tmp_path):
    (tmp_path / "wheels").mkdir()
    host = LocalHost(cwd=str(tmp_path))
    assert directories(["wheels"], host) == (str(tmp_path / "wheels"),)
    with pytest.raises(UsageError, match="--find-links: gone: is no directory"):
        directories(["gone"], host)
