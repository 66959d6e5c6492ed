"""A watched program always comes to its end, tells where it was, and leaves no process behind."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import envdoctor
from envdoctor.errors import EnvDoctorError
from envdoctor.system.watched import TAIL, Watched

pytestmark = pytest.mark.whole  # each waits for real processes
ROOT = Path(envdoctor.__file__).parent.parent
BEGIN = """
import faulthandler, os, signal, subprocess, sys, time
events, stacks = map(int, sys.argv[1:])
faulthandler.enable(file=stacks)
faulthandler.register(signal.SIGUSR2, file=stacks)
def tell(text): os.write(events, text.encode() + b"\\n")
"""
DAEMON = """
if not os.fork():
    os.setsid()
    if not os.fork():
        time.sleep(300)
    os._exit(0)
time.sleep(0.2)
"""


def alive(tmp_path):
    """Return the processes that still run a script of this test; a zombie has no command line."""
    lines = []
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            lines.append(Path("/proc", entry, "cmdline").read_bytes())
    return [line for line in lines if os.fsencode(tmp_path) in line]


def begin(child, tmp_path, program):
    """Start a program under watch, with 20 seconds to go."""
    script = tmp_path / "program.py"
    script.write_text(BEGIN + textwrap.dedent(program))
    argv = [sys.executable, str(script), str(child.events), str(child.stacks)]
    child.start(argv, env=os.environ, cwd=str(tmp_path))
    child.ends = time.monotonic() + 20


@pytest.fixture
def watch(tmp_path):
    """Run a program to its end or its limit; return its events, how it ended, what it printed, and the seconds."""

    def run(program, seconds=20.0, order=""):
        with Watched() as child:
            begin(child, tmp_path, program)
            child.order(order)
            began = time.monotonic()
            child.ends = began + seconds
            lines = list(child.lines())
            ended = child.end()
            took = time.monotonic() - began
            assert alive(tmp_path) == []
            return lines, ended, bytes(child.printed), took

    yield run
    assert alive(tmp_path) == []


def test_its_events_its_status_and_what_it_printed(watch):
    lines, ended, printed, _ = watch(
        "print(sys.stdin.readline(), flush=True)\ntell('one')\ntell('two')\nsys.exit(7)", order="go"
    )
    assert (lines, ended.status, ended.left) == ([b"one", b"two"], 7, ())
    assert printed.split() == [b"go"]


def test_what_was_printed_before_an_event_is_there_with_it(tmp_path):
    with Watched() as child:
        begin(child, tmp_path, "for n in range(50): print(n, file=sys.stderr, flush=True); tell(str(n))\n")
        for line in child.lines():
            assert line in child.printed.split()


@pytest.mark.parametrize(
    "program",
    [
        "time.sleep(300)",
        "while True: pass",
        "os.kill(os.getpid(), signal.SIGSTOP)\ntime.sleep(300)",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(300)",
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)', sys.argv[0]])\ntime.sleep(300)",
        f"{DAEMON}\ntime.sleep(300)",
        "os.close(1); os.close(2); os.close(events)\ntime.sleep(300)",
        "while True: os.write(1, b'x' * 65536)",
        "while True: os.write(events, b'x' * 65536)",
    ],
    ids=[
        "sleeps",
        "spins",
        "is stopped",
        "is deaf",
        "has a child",
        "has a daemon",
        "is mute",
        "floods",
        "talks nonsense",
    ],
)
def test_one_that_would_never_end_is_ended_within_three_seconds_of_its_limit(watch, program):
    _, ended, printed, took = watch(program, seconds=1.0)
    assert ended.status is None
    assert took < 4.0
    assert "program.py" in ended.stacks
    assert "most recent call first" in ended.stacks
    assert len(printed) <= TAIL


@pytest.mark.parametrize(
    "program",
    [
        "while True:\n    if not os.fork(): os.setsid(); time.sleep(300)\n    time.sleep(0.005)",
        "while True:\n    if os.fork(): os._exit(0)\n    time.sleep(0.001)",
        "subprocess.Popen([sys.executable, '-c', FORKER, sys.argv[0]])\ntime.sleep(300)",
    ],
    ids=["breeds daemons", "hops from process to process", "has a child that breeds"],
)
def test_one_that_forks_without_end_is_ended(watch, program):
    forker = "import os, time\nwhile True:\n    os.fork() or time.sleep(300)\n    time.sleep(0.005)"
    _, ended, _, took = watch(f"FORKER = {forker!r}\n{program}", seconds=0.5)
    assert ended.left == ()
    assert took < 3.5


def test_a_daemon_left_by_one_that_ended_well_is_ended(watch):
    _, ended, _, took = watch(DAEMON + "tell('done')")
    assert (ended.status, ended.left) == (0, ())
    assert took < 5


def test_one_that_crashes_tells_its_signal_and_its_stack(watch):
    _, ended, _, _ = watch("os.kill(os.getpid(), signal.SIGSEGV)")
    assert ended.status == -signal.SIGSEGV
    assert "Segmentation fault" in ended.stacks


def test_a_limit_that_is_moved_while_it_runs_counts(watch, tmp_path):
    with Watched() as child:
        begin(child, tmp_path, "tell('one'); time.sleep(1.2); tell('two')\n")
        child.ends = time.monotonic() + 1
        seen = []
        for line in child.lines():
            seen.append(line)
            child.ends = time.monotonic() + 20
    assert seen == [b"one", b"two"]


def test_an_error_on_our_side_leaves_nothing(tmp_path):
    with contextlib.suppress(KeyboardInterrupt), Watched() as child:
        begin(child, tmp_path, DAEMON + "tell('up')\ntime.sleep(300)\n")
        next(child.lines())
        raise KeyboardInterrupt
    assert alive(tmp_path) == []


def test_ending_one_leaves_another_and_its_children_alone(tmp_path):
    with Watched() as first, Watched() as second:
        for child in (first, second):
            begin(child, tmp_path, DAEMON + "tell('up')\nsys.stdin.readline()\ntell('told')\n")
        assert next(second.lines()) == b"up"
        first.order("go")
        assert list(first.lines()) == [b"up", b"told"]
        assert first.end().status == 0
        second.order("go")
        assert list(second.lines()) == [b"told"]
        assert second.end().status == 0
    assert alive(tmp_path) == []


@pytest.mark.parametrize(
    ("argv", "why"), [(["/no/such"], "No such file"), (["/etc/passwd"], "Permission denied"), (["a\0b"], "null byte")]
)
def test_one_that_cannot_be_started_is_an_error_of_one_line(tmp_path, argv, why):
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(EnvDoctorError, match=why), Watched() as child:
        child.start(argv, env={}, cwd=str(tmp_path))
    assert set(os.listdir("/proc/self/fd")) == before


def apart(tmp_path, *before, seconds, program):
    """Start a process of its own that watches `sh -c program`; return it."""
    code = f"""
import os, sys, time
sys.path.insert(0, {str(ROOT)!r})
from envdoctor.system.watched import Watched
with Watched() as child:
    child.start(["sh", "-c", {program!r}, {str(tmp_path)!r}], env=os.environ, cwd="/")
    child.order("")
    print(child.process.pid, flush=True)
    child.ends = time.monotonic() + {seconds}
    list(child.lines())
    print(child.end())
"""
    argv = [*before, sys.executable, "-c", code]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_time_in_which_the_watch_itself_is_stopped_does_not_count(tmp_path):
    """A batch system suspends a job as a whole: the program has then had no time either."""
    watch = apart(tmp_path, seconds=2, program="sleep 1.5; :")
    pids = (watch.pid, int(watch.stdout.readline()))
    for number in (signal.SIGSTOP, signal.SIGCONT):
        time.sleep(0.3 if number == signal.SIGSTOP else 3)
        for pid in pids:
            os.kill(pid, number)
    assert watch.communicate(timeout=20)[0] == "Ended(status=0, stacks='', left=())\n"


def test_where_proc_is_another_namespace_s_nobody_else_is_touched(tmp_path):
    """`unshare --pid --fork` without a /proc of its own: the numbers there mean other processes."""
    watch = apart(tmp_path, "unshare", "--pid", "--fork", "--kill-child", seconds=0.3, program="sleep 300; :")
    out, errors = watch.communicate(timeout=30)
    if "unshare failed" in errors or "not permitted" in errors:
        pytest.skip("no PID namespace can be made here")
    assert out.split("\n")[1] == "Ended(status=None, stacks='', left=())", errors
