"""Run tasks in forked children under a deadline, so that a dead mount or a FIFO cannot hang the doctor.

The parent touches nothing that a task touches. A child that does not answer in time is killed; one that will not die
even then is abandoned, and the caller leaves by `os._exit`.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import pickle
import selectors
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from envdoctor.errors import EnvDoctorError, UsageError, described
from envdoctor.model import Unavailable
from envdoctor.system.descendants import ENDING, uninterrupted
from envdoctor.system.host import children_bound, end_group, own_group, share_group
from envdoctor.system.prctl import die_with_parent


@dataclass(frozen=True, slots=True)
class Task:
    """Something to be computed in a child of its own."""

    name: str
    run: Callable[..., Any]
    """Called with the results of `needs`, in that order. Its result must survive pickling."""
    needs: tuple[str, ...] = ()
    timeout: float = 10.0
    """Seconds."""
    late: str = "no answer within {limit:g} s"
    """What to say if it was given up."""


_DONE = object()
_ends = math.inf
"""Monotonic time at which this process is given up, if it is a child."""
_parent = 0
"""Process that forked this one, if it is a child."""
_unreaped: set[int] = set()
"""Children that have been killed and not yet waited for."""


@dataclass(slots=True)
class _Child:
    task: Task
    pid: int
    pipe: int
    began: float
    ends: float
    leads: bool
    """True if its process group is its own, and everything in it is to be ended with it."""
    received: bytearray = field(default_factory=bytearray)


def gather(
    tasks: Sequence[Task],
    *,
    deadline: float,
    workers: int = 0,
    meanwhile: Iterable[object] = (),
    took: dict[str, float] | None = None,
) -> dict[str, Any]:
    """Run all tasks, each once its needs are there, several at a time; return their results by name.

    `deadline` is in seconds from now, for all tasks together. What failed is an `Unavailable` that says why;
    a `UsageError` raised in a task is raised here. `meanwhile` is work of the parent's own in small steps (imports),
    done while children are busy. `took` is filled with the seconds of each task.
    """
    ends = time.monotonic() + deadline
    limit = workers or (os.cpu_count() or 2) + 2
    steps = iter(meanwhile)
    results: dict[str, Any] = {}
    waiting = list(tasks)
    running: dict[int, _Child] = {}
    gc.freeze()
    with selectors.DefaultSelector() as selector:
        try:
            while waiting or running:
                if time.monotonic() >= ends:  # to start the others only to kill them takes time that nobody has
                    results |= {task.name: Unavailable(task.late.format(limit=0), failed=True) for task in waiting}
                    waiting.clear()
                for task in _ready(waiting, results)[: limit - len(running)]:
                    waiting.remove(task)
                    # what a signal raises in a hook of fork(2)'s, as logging has one, is passed over: it waits
                    with uninterrupted():
                        child = _start(task, results, ends)
                        running[child.pipe] = child
                    selector.register(child.pipe, selectors.EVENT_READ)
                if not running:
                    for task in waiting:
                        results[task.name] = Unavailable(f"needs {', '.join(task.needs)}", failed=True)
                    break
                done = next(steps, _DONE) is _DONE
                for name, seconds in _receive(selector, running, results, block=done):
                    if took is not None:
                        took[name] = seconds
        finally:
            for child in running.values():
                _finish(child)
            reap()
            gc.unfreeze()
    return results


def call(name: str, run: Callable[..., Any], *, timeout: float, meanwhile: Iterable[object] = ()) -> Any:  # noqa: ANN401 - whatever `run` returns
    """Run one thing in a child. Raises EnvDoctorError if it failed or gave no answer within `timeout` seconds."""
    result = gather([Task(name, run, timeout=timeout)], deadline=timeout, meanwhile=meanwhile)[name]
    if isinstance(result, Unavailable):
        raise EnvDoctorError(f"{name}: {result.reason}")
    return result


def _ready(waiting: Sequence[Task], results: Mapping[str, Any]) -> list[Task]:
    return [task for task in waiting if all(need in results for need in task.needs)]


def _start(task: Task, results: Mapping[str, Any], deadline: float) -> _Child:
    global _ends, _parent
    ours = os.getpid()
    reading, writing = os.pipe()
    now = time.monotonic()
    ends = max(now, min(now + task.timeout, deadline))
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _ends, _parent = min(_ends, ends), ours
        _child(task, [results[need] for need in task.needs], writing)
    os.close(writing)
    return _Child(task, pid, reading, now, ends, own_group(pid))


def end_with_parent() -> None:
    """Let the kernel end this child with the process that forked it; end at once if that is gone already."""
    die_with_parent()
    if _parent and os.getppid() != _parent:
        os._exit(1)


def time_left() -> float:
    """Return the seconds after which this process will be given up; infinity if it is no child of `gather`'s."""
    return _ends - time.monotonic()


def _child(task: Task, arguments: list[Any], writing: int) -> NoReturn:
    """Compute, answer, leave without running anything of the parent's."""
    try:
        own_group(0)
        share_group()
        if children_bound():
            end_with_parent()
        _unreaped.clear()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        gc.disable()
        answer = _answer(task, arguments)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
    finally:
        os._exit(0)


def _answer(task: Task, arguments: list[Any]) -> bytes:
    try:
        return pickle.dumps(task.run(*arguments), pickle.HIGHEST_PROTOCOL)
    except UsageError as error:
        return pickle.dumps(error)
    except EnvDoctorError as error:
        return pickle.dumps(Unavailable(str(error), failed=True))
    except OSError as error:
        return pickle.dumps(Unavailable(f"{error.filename or task.name}: {error.strerror or error}", failed=True))
    except Exception as error:  # noqa: BLE001 - one fact that breaks must not take the others with it
        return pickle.dumps(Unavailable(f"the doctor failed here, please report it: {described(error)}", failed=True))


def _receive(
    selector: selectors.BaseSelector, running: dict[int, _Child], results: dict[str, Any], *, block: bool
) -> list[tuple[str, float]]:
    """Take what has arrived, and end those whose time is over; return the names and seconds of what is done."""
    done: list[tuple[str, float]] = []
    nearest = min(child.ends for child in running.values())
    for key, _ in selector.select(max(0.0, nearest - time.monotonic()) if block else 0):
        child = running[key.fd]
        data = os.read(key.fd, 1 << 20)
        if data:
            child.received += data
            continue
        _close(selector, running, child)
        results[child.task.name] = _result(child)
        done.append((child.task.name, time.monotonic() - child.began))
    for child in [child for child in running.values() if time.monotonic() >= child.ends]:
        _close(selector, running, child)
        limit = round(child.ends - child.began, 1)
        results[child.task.name] = Unavailable(child.task.late.format(limit=limit), failed=True)
        done.append((child.task.name, time.monotonic() - child.began))
    return done


def _close(selector: selectors.BaseSelector, running: dict[int, _Child], child: _Child) -> None:
    selector.unregister(child.pipe)
    del running[child.pipe]
    _finish(child)


def _result(child: _Child) -> Any:  # noqa: ANN401 - whatever the task returned
    try:
        result = pickle.loads(child.received)  # noqa: S301 - written by our own child
    except (EOFError, pickle.UnpicklingError):
        return Unavailable(f"the process that read {child.task.name} died", failed=True)
    if isinstance(result, UsageError):
        raise result
    return result


def _finish(child: _Child) -> None:
    """Close the pipe and kill what is left of the child's group; it is reaped later, so that nobody waits for it."""
    os.close(child.pipe)
    if child.leads:
        end_group(child.pid)
    with contextlib.suppress(OSError):
        os.kill(child.pid, signal.SIGKILL)
    _unreaped.add(child.pid)


def reap(looks: int = 20) -> frozenset[int]:
    """Reap what was ended, for as long as the kernel usually takes, a look a millisecond.

    Returns those that will not die: they are abandoned.
    """
    for _ in range(looks):
        for pid in list(_unreaped):
            with contextlib.suppress(ChildProcessError):
                if not os.waitpid(pid, os.WNOHANG)[0]:
                    continue
            _unreaped.discard(pid)
        if not _unreaped:
            break
        time.sleep(0.001)
    return frozenset(_unreaped)
