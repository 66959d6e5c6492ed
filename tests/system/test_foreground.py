"""A user's command is run to its end, or ended with all that it started."""

import os
import sys
import time

import pytest

from envdoctor.errors import UsageError
from envdoctor.system import foreground

FORKS = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    open(sys.argv[1], "w").write(str(os.getpid()))
    time.sleep(300)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
time.sleep(float(sys.argv[2]))
sys.exit(5)
"""


def run(tmp_path, *, stay, limit):
    file = tmp_path / "pid"
    argv = [sys.executable, "-c", FORKS, str(file), str(stay)]
    status = foreground.run_alone(argv, env=os.environ, cwd=str(tmp_path), limit=limit)
    return status, int(file.read_text())


@pytest.mark.parametrize(("stay", "limit", "status"), [(0, None, 5), (0, 60, 5), (300, 0.7, None)])
def test_its_descendants_end_with_it_and_nobody_elses(tmp_path, stay, limit, status):
    other = os.fork()
    if other == 0:
        time.sleep(300)
        os._exit(0)
    try:
        ended, pid = run(tmp_path, stay=stay, limit=limit)
        assert ended == status
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        assert os.waitpid(other, os.WNOHANG) == (0, 0)
    finally:
        os.kill(other, 9)
        os.waitpid(other, 0)


def test_it_reads_nothing_and_prints_to_standard_error(tmp_path, capfd):
    code = "import sys; print(repr(sys.stdin.read()))"
    assert foreground.run_alone([sys.executable, "-c", code], env=os.environ, cwd=str(tmp_path)) == 0
    assert capfd.readouterr() == ("", "''\n")


def test_what_cannot_be_started_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="did not start"):
        foreground.run_alone(["/nonsense"], env={}, cwd=str(tmp_path))
