"""Which calls of one thread began while another one traced: the proof that a race was one."""

import importlib.util
import threading
from pathlib import Path

import pytest

import envdoctor

PATH = Path(envdoctor.__file__).parent / "payloads" / "threads" / "recording.py"


@pytest.fixture(scope="module")
def recording():
    spec = importlib.util.spec_from_file_location("recording", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("calls", "traces", "met"),
    [
        ([(1, 5, 6)], [(2, 4, 7)], [(1, 5, 2)]),
        ([(1, 5, 6)], [(1, 4, 7)], []),
        ([(1, 3, 9)], [(2, 4, 7)], []),
        ([(1, 8, 9)], [(2, 4, 7)], []),
        ([(1, 4, 9)], [(2, 4, 7)], [(1, 4, 2)]),
        ([(1, 5, 6)], [(2, 4, 7), (3, 1, 9)], [(1, 5, 2)]),
        ([(1, 5, 6), (3, 1, 2), (1, 6, 9)], [(2, 4, 7)], [(1, 5, 2), (1, 6, 2)]),
        ([], [(2, 4, 7)], []),
        ([(1, 5, 6)], [], []),
    ],
    ids=[
        "within",
        "its own trace",
        "begun before",
        "begun after",
        "at its beginning",
        "two at once count once",
        "in order",
        "no calls",
        "no traces",
    ],
)
def test_a_meeting_is_a_call_that_begins_within_another_threads_trace(recording, calls, traces, met):
    assert recording.meetings(calls, traces) == met


def test_traces_are_recorded_by_thread_and_go_on_as_before(recording):
    class Tracer:
        def trace(self, root, *, twice):
            if root == "bad":
                raise ValueError(root)
            return root * twice

    recorder = recording.Recorder()
    recorder.watch(Tracer)
    assert Tracer().trace(3, twice=2) == 6
    with pytest.raises(ValueError, match="bad"):
        Tracer().trace("bad", twice=2)
    assert [thread for thread, began, ended in recorder.traces if began <= ended] == [threading.get_ident()] * 2


def test_a_call_is_recorded_though_it_raises(recording):
    recorder = recording.Recorder()
    with pytest.raises(ZeroDivisionError):
        recorder.call(divmod, 1, 0)
    assert recorder.call(divmod, 7, 2) == (3, 1)
    assert len(recorder.calls) == 2
