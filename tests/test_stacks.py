"""Stacks as faulthandler writes them: of a real deadlock where torch's is, and of what only looks like it."""

import subprocess
import sys

import pytest
from racers import deadlocked

from envdoctor.stacks import deadlock, threads

TORCH = "/env/lib/python3.12/site-packages/torch"


def stack(*frames, head="Thread 0x00007f01 (most recent call first):"):
    return "\n".join([head, *(f'  File "{path}", line {line} in {function}' for path, line, function in frames)])


ENGINE = (f"{TORCH}/autograd/graph.py", 869, "_engine_run_backward")
GRAD = (f"{TORCH}/autograd/__init__.py", 500, "grad")
VARIABLE = (f"{TORCH}/_dynamo/variables/higher_order_ops.py", 3000, "call_function")
CALLED = (f"{TORCH}/_dynamo/eval_frame.py", 1024, "compile_wrapper")
LATE = (f"{TORCH}/_inductor/compile_fx.py", 2418, "compile_fx_backward")
QUEUED = (f"{TORCH}/_dynamo/convert_frame.py", 2314, "__call__")
JOB = ("/job/train.py", 7, "step")
HOLDER, WAITER = stack(ENGINE, GRAD, VARIABLE, JOB), stack(LATE, JOB)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """What faulthandler says of two threads that really wait for each other."""
    folder = tmp_path_factory.mktemp("deadlock")
    code = deadlocked(folder).replace("holder.join()", "faulthandler.dump_traceback(all_threads=True)")
    wait = "import faulthandler, sys, threading, time\n"
    last = "faulthandler.dump_traceback"
    code = wait + code.replace(last, f"time.sleep(0.3)\n{last}")
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    return done.stderr


def test_a_real_one_is_recognised_with_both_threads(real):
    found = deadlock(real)
    assert found is not None, real
    assert str(found.holder[0]).endswith("torch/autograd/graph.py:2 in _engine_run_backward")
    assert found.waiter[0].is_at(("torch/_inductor/compile_fx.py", "compile_fx_backward"))


def test_one_in_the_manner_of_torchs_is_recognised_among_others():
    text = "\n\n".join([stack(QUEUED, JOB), WAITER, stack(QUEUED, JOB), HOLDER, stack(JOB, head="Current thread 0x1:")])
    found = deadlock(text)
    assert [frame.function for frame in found.holder] == ["_engine_run_backward", "grad", "call_function", "step"]
    assert found.waiter[0].line == 2418


@pytest.mark.parametrize(
    "text",
    [
        "",
        HOLDER,
        WAITER,
        "\n\n".join([stack(ENGINE, GRAD, CALLED, JOB), WAITER]),
        "\n\n".join([HOLDER, stack((f"{TORCH}/_inductor/codecache.py", 1, "load"), LATE, JOB)]),
        "\n\n".join([stack((f"{TORCH}/fx/graph.py", 1, "lint"), VARIABLE, JOB, ENGINE), WAITER]),
        "\n\n".join([stack(("/job/graph.py", 869, "_engine_run_backward"), VARIABLE), WAITER]),
    ],
    ids=[
        "nothing",
        "nobody waits for the lock",
        "nobody holds it",
        "a backward pass outside a compile",
        "a compile that goes on",
        "an engine far out",
        "a file of the job's",
    ],
)
def test_what_only_looks_like_it_is_none(text):
    assert deadlock(text) is None


@pytest.mark.parametrize("text", ["Segmentation fault\n\n\n", "  File x\n", "\x00\xff", f"{WAITER}\n\n  ...\n"])
def test_text_that_is_no_stack_is_passed_over(text):
    assert len(threads(text)) == ("Thread" in text)
