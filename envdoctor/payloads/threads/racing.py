"""The race: threads that compile and train at once, and what is left of torch when they are done.

Interfaces: torch 2.9 to 2.15.
"""

from __future__ import annotations

import threading
import time
import traceback
from typing import Any

import torch
import torch._dynamo.config
import torch._dynamo.utils
import torch.fx._symbolic_trace

from __main__ import sibling

recording, made, models = sibling("recording"), sibling("lanes"), sibling("models")
FORCE = "force_compile_during_fx_trace"
MESSAGE, LINES, ERRORS = 2000, 20, 8
"""Characters of an error, lines of its traceback, and errors, that are told in full."""
HEAD = 500
"""Characters that are told of every error."""
COMPILES = 60
"""Compiles that are told one by one."""
UNDER_WAY = 5
"""Steps after which a thread is well past what it compiles."""
BEYOND = 0.001
"""Seconds between the steps of a thread that goes on for the sake of the others."""


class Runner:
    """One thread."""

    def __init__(self, lane: Any, race: Race) -> None:
        self.lane, self.race = lane, race
        self.steps = 0
        self.error: BaseException | None = None
        self.last: list[Any] | None = None
        """Output and gradient of its last step."""
        self.thread = threading.Thread(target=self._run, name="lane %d" % lane.number, daemon=True)

    @property
    def done(self) -> bool:
        """True if nobody need go on for it."""
        return self.steps >= self.race.steps or not self.thread.is_alive()

    def _run(self) -> None:
        """Train, or die of an error, as a thread of a job would."""
        try:
            self.race.settle()
            self.lane.prepare()
            self.race.start.wait()
            self._take_turn()
            if self.race.held is not None:
                with self.race.first:
                    self._step()
                self.race.held.wait()
            while self.steps < self.race.steps or not all(runner.done for runner in self.race.runners):
                self._step()
                if self.steps > self.race.steps:
                    time.sleep(BEYOND)
            self.lane.bench.wait()
        except threading.BrokenBarrierError:
            pass  # another one's error is told
        except BaseException as error:
            self.error = error
            for barrier in (self.race.start, self.race.held):
                if barrier is not None:
                    barrier.abort()

    def _take_turn(self) -> None:
        """Wait until the one before is under way, where they start in turn."""
        before = self.race.before.get(self.lane.number)
        while before is not None and before.steps < UNDER_WAY and not before.done:
            time.sleep(BEYOND)

    def _step(self) -> None:
        self.last = self.lane.step(self.race.recorder.call)
        self.steps += 1


class Race:
    """All threads of one try."""

    def __init__(self, order: dict[str, Any], recorder: Any) -> None:
        self.recorder, self.steps = recorder, order["steps"]
        self.forced = order["remedy"] == "force"
        lanes = made.lanes(order["devices"], order["graphs"], order["per_device"])
        self.start = threading.Barrier(len(lanes))
        self.held = threading.Barrier(len(lanes)) if order["remedy"] == "barrier" else None
        self.first = threading.Lock()
        self.runners = [Runner(lane, self) for lane in lanes]
        in_turn = order["start"] == "in turn" and self.held is None
        self.before = {after.lane.number: one for one, after in zip(self.runners, self.runners[1:]) if in_turn}
        """Number -> the thread that starts before."""

    def settle(self) -> None:
        """Set what holds for a thread alone from torch 2.12 on."""
        if self.forced:
            setattr(torch._dynamo.config, FORCE, True)

    def run(self) -> None:
        """See all threads to their end."""
        self.settle()
        for runner in self.runners:
            runner.thread.start()
        for runner in self.runners:
            runner.thread.join()


def race(order: dict[str, Any]) -> dict[str, Any]:
    """Run the threads and tell what came of them."""
    _alone(order["devices"])
    seen = flag_is_shared()
    if order["remedy"] == "force" and not hasattr(torch._dynamo.config, FORCE):
        raise models.NotHereError("torch %s has no %s" % (torch.__version__, FORCE))
    recorder = recording.Recorder()
    offset = time.time() - recorder.now()
    recorder.watch(torch.fx._symbolic_trace.Tracer)
    trial = Race(order, recorder)
    trial.run()
    calls, traces = list(recorder.calls), list(recorder.traces)
    found = {**_of_threads(trial), **_of_intervals(calls, traces, trial), "flag_shared": seen, "counters": _counters()}
    found["compiles"] = _compiles(offset)
    found["flag_left"] = bool(torch.fx._symbolic_trace.is_fx_symbolic_tracing())
    found["again"], found["figures"] = _again(trial)
    found["seconds"] = round(recorder.now(), 3)
    return found


def fill(order: dict[str, Any]) -> dict[str, Any]:
    """Fill the cache: one lane after the other, or the first alone, forward and backward, in this thread alone."""
    _alone(order["devices"])
    lanes = made.lanes(order["devices"], order["graphs"], 1)
    for lane in lanes[:1] if order["first"] else lanes:
        lane.prepare()
        for _ in range(2):
            lane.step(lambda function, *given: function(*given))
        lane.bench.wait()
    return {"counters": _counters()}


WORK = {"race": race, "fill": fill}


def run(wire: Any, order: dict[str, Any]) -> None:
    """Do one piece of work and tell of it.

    The order has `work` (`race`, or `fill` for a single thread that fills the cache, of the `first` device alone if so
    told), `devices`, `graphs` that a CPU has, `per_device`, `steps`, `remedy` and `start`.
    """
    began = time.monotonic()
    wire.begin("", "threads")
    try:
        detail = WORK[order["work"]](order)
    except models.NotHereError as reason:
        wire.skipped("", "threads", str(reason))
    except Exception as error:
        wire.failed("", "threads", began, error)
    else:
        wire.passed("", "threads", began, detail)


def _alone(devices: list[str]) -> None:
    """Take a CPU's threads out of the way of ours, and a fault that needs no race.

    A build for CUDA on a machine without a GPU exchanges a guard in every FakeTensorMode.__enter__, and threads crash
    in it (`_ensureCUDADeviceGuardSet`, torch/_subclasses/fake_tensor.py of torch 2.11.0).
    """
    if "cpu" not in devices:
        return
    torch.set_num_threads(1)
    name = "_ensureCUDADeviceGuardSet"
    if torch.version.cuda and not torch.cuda.is_available() and hasattr(torch._C, name):
        getattr(torch._C, name)()
        setattr(torch._C, name, lambda: None)


def flag_is_shared() -> bool:
    """Tell whether a thread sees that another one traces, outside any compile."""
    seen: list[bool] = []

    def look() -> None:
        seen.append(bool(torch.fx._symbolic_trace.is_fx_symbolic_tracing()))

    def traced(x: Any) -> Any:
        other = threading.Thread(target=look)
        other.start()
        other.join()
        return x

    torch.fx._symbolic_trace.Tracer().trace(traced)
    return any(seen)


def _of_threads(trial: Race) -> dict[str, Any]:
    errors = [runner.error for runner in trial.runners if runner.error is not None]
    threads = [
        {
            "device": runner.lane.device,
            "steps": runner.steps,
            "type": type(runner.error).__name__ if runner.error is not None else "",
            "message": str(runner.error)[:HEAD] if runner.error is not None else "",
        }
        for runner in trial.runners
    ]
    return {"threads": threads, "errors": [_described(error) for error in errors[:ERRORS]]}


def _described(error: BaseException) -> dict[str, Any]:
    lines = "".join(traceback.format_exception(type(error), error, error.__traceback__)).splitlines()
    return {"type": type(error).__name__, "message": str(error)[:MESSAGE], "traceback": lines[-LINES:]}


def _of_intervals(calls: list[Any], traces: list[Any], trial: Race) -> dict[str, Any]:
    names = {runner.thread.ident: runner.thread.name for runner in trial.runners}
    found = recording.meetings(calls, traces)
    shown = [
        {"caller": names.get(caller, "other"), "at": round(at, 4), "tracer": names.get(tracer, "other")}
        for caller, at, tracer in found[: recording.SHOWN]
    ]
    return {
        "calls": len(calls),
        "traces": len(traces),
        "tracing_threads": len({thread for thread, _, _ in traces}),
        "meetings": len(found),
        "met": shown,
    }


def _compiles(offset: float) -> list[list[float]]:
    """Return begin and end of each compile, in seconds, what is compiled late in the backward pass too."""
    told: list[Any] = getattr(torch._dynamo.utils, "get_compilation_metrics", list)()
    found = []
    for one in told[:COMPILES]:
        began, took = getattr(one, "start_time_us", None), getattr(one, "duration_us", None)
        if began is not None and took is not None:
            at = began / 1e6 - offset
            found.append([round(at, 3), round(at + took / 1e6, 3)])
    return found


def _counters() -> dict[str, dict[str, int]]:
    counters = torch._dynamo.utils.counters
    return {
        group: {name: count for name, count in counters[group].items() if "_cache_" in name}
        for group in ("inductor", "aot_autograd")
    }


def _again(trial: Race) -> tuple[list[str], dict[str, float]]:
    """Call each function once more, one after the other; return the errors, and how far each dtype is from eager."""
    errors, figures = [], dict[str, float]()
    for runner in trial.runners:
        if runner.lane.function is None:
            continue
        try:
            runner.lane.enter()
            last = runner.lane.step(lambda function, *given: function(*given))
            runner.lane.bench.wait()
        except Exception as error:
            errors.append(("%s: %s" % (type(error).__name__, error))[:HEAD])
            last = None
        found = [one for one in (runner.last, last) if one is not None]
        wanted = runner.lane.wanted() if found else []
        name = models.named(runner.lane.dtype)
        for tensors in found:
            figures[name] = max([figures.get(name, 0.0), *map(models.distance, tensors, wanted)])
    return errors, figures
