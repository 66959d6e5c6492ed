"""Tasks run in children: at once, within their time, and nothing of them is left behind."""

import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

from envdoctor.errors import EnvDoctorError, LockError, UsageError
from envdoctor.model import Unavailable
from envdoctor.system import forked
from envdoctor.system.forked import Task, call, gather
from envdoctor.system.host import LocalHost


def raising(error):
    def run(*_):
        raise error

    return run


def gone(pid, within=2.0):
    """Tell whether a process ends in time; a zombie that nobody reaps has ended."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            with open(f"/proc/{pid}/stat") as stream:
                if stream.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def written(path, within=5.0):
    """Wait for a child to write a number, and return it."""
    end = time.monotonic() + within
    while time.monotonic() < end and not (path.exists() and path.read_text().endswith("\n")):
        time.sleep(0.01)
    return int(path.read_text())


def test_tasks_run_at_the_same_time():
    began = time.monotonic()
    results = gather([Task(str(n), lambda: time.sleep(0.3)) for n in range(3)], deadline=5, workers=3)
    assert (set(results), time.monotonic() - began < 0.8) == ({"0", "1", "2"}, True)


def test_no_more_run_at_once_than_there_are_workers():
    spans = [(lambda: (time.monotonic(), time.sleep(0.05), time.monotonic())) for _ in range(3)]
    found = gather([Task(str(n), run) for n, run in enumerate(spans)], deadline=5, workers=1)
    ordered = sorted((span[0], span[2]) for span in found.values())
    assert all(ordered[n][1] <= ordered[n + 1][0] for n in range(2))


def test_results_are_passed_on_to_whoever_needs_them():
    tasks = [Task("sum", lambda a, b: a + b, ("a", "b")), Task("a", lambda: 1), Task("b", lambda a: a + 1, ("a",))]
    assert gather(tasks, deadline=5) == {"a": 1, "b": 2, "sum": 3}


def test_a_task_gets_the_reason_why_what_it_needs_is_missing():
    tasks = [Task("a", raising(EnvDoctorError("no"))), Task("b", lambda a: (a.reason, a.failed), ("a",))]
    assert gather(tasks, deadline=5)["b"] == ("no", True)


def test_needs_that_nobody_provides_are_named():
    tasks = [Task("a", lambda b: b, ("b",)), Task("b", lambda a: a, ("a",)), Task("c", lambda x: x, ("nothing",))]
    assert gather(tasks, deadline=5) == {
        name: Unavailable(f"needs {need}", failed=True) for name, need in (("a", "b"), ("b", "a"), ("c", "nothing"))
    }


@pytest.mark.parametrize("error", [UsageError("which one?"), LockError("a.txt", "bad", 3)])
def test_a_usage_error_is_raised_in_the_parent(error):
    with pytest.raises(type(error), match="^" + str(error).replace("?", r"\?") + "$"):
        gather([Task("slow", lambda: time.sleep(60)), Task("a", raising(error))], deadline=5)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (EnvDoctorError("cannot"), "cannot"),
        (PermissionError(13, "Permission denied", "/x/y"), "/x/y: Permission denied"),
        (OSError(5, "Input/output error"), "a: Input/output error"),
        (ZeroDivisionError("oh"), "please report it: ZeroDivisionError: oh (test_forked.py:"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_another_error_is_a_failed_fact(error, reason):
    found = gather([Task("a", raising(error)), Task("b", lambda: 2)], deadline=5)
    assert (reason in found["a"].reason, found["a"].failed, found["b"]) == (True, True, 2)


def test_a_result_that_cannot_be_sent_is_a_failed_fact():
    assert "please report it" in gather([Task("a", lambda: lambda: 1)], deadline=5)["a"].reason


def half_an_answer():
    """Die in the middle of answering, as a process does that the kernel kills for its memory."""
    frame = sys._getframe()
    while "writing" not in frame.f_locals:
        frame = frame.f_back
    os.write(frame.f_locals["writing"], pickle.dumps("x" * 1000)[:100])
    os._exit(0)


@pytest.mark.parametrize(
    "death",
    [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: os._exit(3), raising(SystemExit(0)), half_an_answer],
    ids=["signal", "exit", "SystemExit", "half an answer"],
)
def test_a_child_that_dies_is_a_failed_fact(death):
    assert gather([Task("a", death)], deadline=5)["a"] == Unavailable("the process that read a died", failed=True)


@pytest.mark.parametrize(("timeout", "deadline"), [(0.2, 9), (9, 0.2)], ids=["its own time", "everybody's"])
def test_a_child_that_hangs_is_given_up_in_time(timeout, deadline):
    began = time.monotonic()
    found = gather([Task("a", lambda: time.sleep(60), timeout=timeout), Task("b", lambda: 2)], deadline=deadline)
    assert found == {"a": Unavailable("no answer within 0.2 s", failed=True), "b": 2}
    assert time.monotonic() - began < 2


def test_a_child_that_ignores_signals_is_killed(tmp_path):
    def deaf():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        (tmp_path / "pid").write_text(f"{os.getpid()}\n")
        time.sleep(60)

    gather([Task("a", deaf)], deadline=0.3)
    assert gone(written(tmp_path / "pid"))


def runs_a_process(tmp_path):
    LocalHost().run(["sh", "-c", f"sleep 60 & echo $! > {tmp_path}/pid; wait"], timeout=50)


def gathers_again(tmp_path):
    gather([Task("inner", lambda: runs_a_process(tmp_path), timeout=50)], deadline=50)


@pytest.mark.parametrize("task", [runs_a_process, gathers_again])
def test_what_a_child_started_is_gone_when_its_time_is_over(task, tmp_path):
    gather([Task("a", lambda: task(tmp_path))], deadline=0.5)
    assert gone(written(tmp_path / "pid"))


def test_a_child_of_a_child_is_gone_when_its_own_time_is_over(tmp_path):
    def inner():
        (tmp_path / "pid").write_text(f"{os.getpid()}\n")
        time.sleep(60)

    def outer():
        gather([Task("inner", inner)], deadline=0.4)
        return gone(written(tmp_path / "pid"))

    assert gather([Task("outer", outer)], deadline=9) == {"outer": True}


def test_what_a_child_started_is_gone_when_it_answered(tmp_path):
    def quick():
        return LocalHost().run(["sh", "-c", "sleep 60 >/dev/null & echo $!"], timeout=5).stdout

    assert gone(int(gather([Task("a", quick)], deadline=5)["a"]))


def test_what_a_child_started_is_gone_when_another_raised(tmp_path):
    def usage():
        written(tmp_path / "pid")
        raise UsageError("no")

    with pytest.raises(UsageError):
        gather([Task("a", lambda: runs_a_process(tmp_path)), Task("b", usage)], deadline=5)
    assert gone(written(tmp_path / "pid"))


def test_the_parent_does_its_own_work_while_it_waits():
    seen = []
    began = time.monotonic()
    gather(
        [Task("a", lambda: time.sleep(0.2))], deadline=5, meanwhile=(seen.append(time.sleep(0.01)) for _ in range(5))
    )
    assert (len(seen), time.monotonic() - began < 0.6) == (5, True)


def test_children_are_killed_when_the_parents_own_work_fails(tmp_path):
    def steps():
        written(tmp_path / "pid")
        yield 1 / 0

    with pytest.raises(ZeroDivisionError):
        gather([Task("a", lambda: runs_a_process(tmp_path))], deadline=5, meanwhile=steps())
    assert gone(written(tmp_path / "pid"))


def test_no_descriptor_is_left_open():
    before = len(os.listdir("/proc/self/fd"))
    gather([Task("a", lambda: 1), Task("b", lambda: time.sleep(60)), Task("c", raising(OSError()))], deadline=0.2)
    assert len(os.listdir("/proc/self/fd")) == before


def test_call_returns_what_its_child_returned():
    assert call("it", lambda: {"x": 1}, timeout=5) == {"x": 1}


def test_call_names_what_failed():
    with pytest.raises(EnvDoctorError, match=r"^the search: no answer within 0\.2 s$"):
        call("the search", lambda: time.sleep(60), timeout=0.2)


def test_a_child_knows_how_much_time_it_has():
    assert forked.time_left() == float("inf")
    results = gather(
        [
            Task("limited", forked.time_left, timeout=5),
            Task("by all", forked.time_left),
            Task("inner", lambda: call("it", forked.time_left, timeout=60), timeout=5),
        ],
        deadline=8,
    )
    assert 4 < results["limited"] <= 5
    assert 7 < results["by all"] <= 8
    assert 3 < results["inner"] <= 5


def test_a_signal_during_a_fork_is_not_lost():
    """Python passes over what a hook of fork(2)'s raises; logging has such a hook."""
    code = """
import os, signal, sys
sys.path[:0] = sys.argv[1:]
from envdoctor.system import forked, tool
def left(number, frame):
    raise SystemExit(7)
signal.signal(signal.SIGTERM, left)
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGTERM) or [None for _ in range(1000)])
RUN
print("lost")
"""
    runs = 'forked.call("x", int, timeout=5)', 'tool.perform(["true"], env={}, cwd="/", timeout=5)'
    for run in runs:
        done = subprocess.run(
            [sys.executable, "-c", code.replace("RUN", run), *sys.path], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (7, "", ""), run


def test_what_cannot_be_ready_in_time_is_not_even_started(monkeypatch):
    started = []
    start = forked._start
    monkeypatch.setattr(forked, "_start", lambda *given: started.append(given[0].name) or start(*given))
    tasks = [Task(str(number), lambda: time.sleep(60)) for number in range(50)]
    found = gather(tasks, deadline=0.1, workers=2)
    assert {answer.reason for answer in found.values()} == {"no answer within 0.1 s", "no answer within 0 s"}
    assert started == ["0", "1"]
