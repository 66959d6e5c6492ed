"""One at a time, and the tools of a killed doctor count as the doctor."""

import os
import subprocess
import sys

import pytest

from envdoctor.errors import EnvDoctorError
from envdoctor.generations import holding, layout


@pytest.fixture
def place(tmp_path):
    return layout.of(str(tmp_path / "venv"))


def test_the_holder_is_named(place):
    said = f"process {os.getpid()} on node7"
    with holding.held(place, "node7"), pytest.raises(EnvDoctorError, match=said), holding.held(place, "b", patience=0):
        pass
    with holding.held(place, "node8", patience=0.1):
        pass


def test_a_tool_that_inherited_the_lock_holds_it_until_it_ends(place):
    with holding.held(place, "node7") as descriptor:
        tool = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(descriptor,))
    try:
        with pytest.raises(EnvDoctorError, match="being changed"), holding.held(place, "node8", patience=0.1):
            pass
    finally:
        tool.communicate(b"\n")
    with holding.held(place, "node8", patience=0.1):
        pass


def test_a_link_in_the_locks_place_is_not_followed(place, tmp_path):
    os.makedirs(place.home)
    os.symlink(tmp_path / "elsewhere", place.lock)
    with pytest.raises(EnvDoctorError, match="lock"), holding.held(place, "node7"):
        pass
    assert not (tmp_path / "elsewhere").exists()
