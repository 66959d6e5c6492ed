"""The guard on real torches: what it is for happens without it and not with it, and nothing else changes.

torch 2.13 masks the flag while torch.compile compiles; in older ones threads that only compile meet it.
"""

import ast
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from envdoctor import knowledge
from envdoctor.facts.fx_flag import collect
from envdoctor.facts.torch_build import parse
from envdoctor.guarding import guarded

TARGET = Path(os.environ.get("ENVDOCTOR_TORCH_TARGET", "the target"))

RACE = Path(__file__).parent.parent / "bench" / "fx_race_job.py"
JOB = """
import json, threading, torch
import torch.fx._symbolic_trace as st
from torch.fx.experimental.proxy_tensor import make_fx

if torch.version.cuda and not torch.cuda.is_available():  # such a build without a GPU: see tests/bench/fx_race_job.py
    torch._C._ensureCUDADeviceGuardSet(); torch._C._ensureCUDADeviceGuardSet = lambda: None
x, w = torch.arange(12.0).reshape(3, 4), torch.ones(4, 4, requires_grad=True)
def step(x, w):
    return (x @ w).sin().square().mean()
def asks(x):
    if st.is_fx_symbolic_tracing() or torch.fx._symbolic_trace._is_fx_tracing_flag:
        return x - 1
    return x + 1
def trained(call):
    w.grad = None
    loss = call(x, w)
    loss.backward()
    return loss.item(), w.grad.clone()
def said(call):
    try:
        return call()
    except RuntimeError as error:
        return str(error)[:30]
def tracing(begun, until):
    return threading.Thread(target=make_fx(lambda x: (begun.set(), until.wait(30), x + 1)[2]), args=(x,))
compiled = torch.compile(step, backend="aot_eager")
wanted, (loss, grad) = trained(step), trained(compiled)
told = {"torch": torch.__version__, "off": abs(loss - wanted[0]) + (grad - wanted[1]).abs().max().item()}
begun, over = threading.Event(), threading.Event()
thread = tracing(begun, over); thread.start(); begun.wait(30)
told["beside a trace"] = said(lambda: trained(compiled)[0] == loss)
over.set(); thread.join()
first, second, over = (threading.Event() for _ in range(3))
threads = [tracing(first, second), tracing(second, over)]
threads[0].start(); first.wait(30); threads[1].start(); threads[0].join(); over.set(); threads[1].join()
told["after crossed traces"] = [st._is_fx_tracing_flag, said(lambda: trained(compiled)[0] == loss)]
st._is_fx_tracing_flag = False
told["within a trace of its own"] = said(lambda: make_fx(torch.compile(step, backend="eager"))(x, w) and 0)
told["asked in a graph"] = torch.compile(asks, backend="eager", fullgraph=True)(x).sum().item()
told["skipped by dynamo"] = torch._dynamo.trace_rules.check(st.Tracer.trace)
print(json.dumps(told))
"""
RAISED = "Detected that you are using FX"


def everywhere(test):
    """Mark a test that every torch with the flag must pass."""
    return pytest.mark.torch(pytest.mark.old_torch(test))


@pytest.fixture(scope="module")
def target():
    return TARGET


@pytest.fixture(scope="module")
def torch(target):
    (found,) = target.glob("lib/python3*/site-packages/torch")
    return found


@pytest.fixture(scope="module")
def environments(torch, tmp_path_factory):
    """The environment of a job as it is, and as the guard is put into it."""
    path = torch / "version.py"
    build = parse(path.read_text(), str(path))
    home = str(tmp_path_factory.mktemp("home"))
    env = {"PATH": os.environ["PATH"], "HOME": home, "TORCHINDUCTOR_CACHE_DIR": home}
    done = guarded(env, build, collect(None, None, build))
    assert done.active
    return {"plain": env, "guarded": done.env}


def run(target, env, *command):
    done = subprocess.run(
        [target / "bin" / "python", "-B", *command], env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line for line in done.stderr.splitlines() if line.startswith("envdoctor: ")]
    return json.loads(done.stdout.splitlines()[-1]), lines


@everywhere
def test_traces_and_compiled_calls_side_by_side(target, environments):
    """Without the guard compiled calls raise beside and after other threads' traces; the rest is as it was."""
    plain, silent = run(target, environments["plain"], "-c", JOB)
    cured, (line,) = run(target, environments["guarded"], "-c", JOB)
    assert (plain["beside a trace"], cured["beside a trace"]) == (RAISED, True)
    assert (plain["after crossed traces"], cured["after crossed traces"]) == ([True, RAISED], [False, True])
    same = plain.keys() - {"beside a trace", "after crossed traces"}
    assert {key: plain[key] for key in same} == {key: cured[key] for key in same}
    assert cured["within a trace of its own"] == RAISED, (
        "a compiled call within the thread's own trace is refused still"
    )
    assert (cured["off"], cured["skipped by dynamo"]) == (pytest.approx(0, abs=1e-5), True)
    assert silent == []
    assert line == (
        f"envdoctor: guard fx-race: the FX-tracing flag of torch {plain['torch']} is each thread's own, "
        "here and in child processes"
    )


@everywhere
def test_every_place_that_names_the_flag_is_in_the_table(torch):
    release = ast.literal_eval(re.search("__version__ = (.*)", (torch / "version.py").read_text())[1]).partition("+")[0]
    (row,) = (row for row in knowledge.rows("fx_guard") if row["torch"] == release)
    found = {}
    for path in torch.rglob("*.py"):
        text = path.read_bytes()
        if b"_is_fx_tracing_flag" in text:
            named = (re.sub(r"\b(old|_old)_is_fx_tracing_flag", "", line) for line in text.decode().split("\n"))
            lines = [number for number, line in enumerate(named, 1) if re.search(r"(?<!\w)_is_fx_tracing_flag", line)]
            found[str(path.relative_to(torch.parent))] = lines
    assert found == listed(row["source"])


def listed(source):
    """Read `FILE lines 1, 3-5; FILE lines 7; masked by ...` as file -> lines."""
    parts = (part.rpartition(": ")[2].split(" lines ") for part in source.split("; ") if "masked" not in part)
    ranges = {path: [number.split("-") for number in lines.split(", ")] for path, lines in parts}
    return {
        path: [line for ends in spans for line in range(int(ends[0]), int(ends[-1]) + 1)]
        for path, spans in ranges.items()
    }


@everywhere
def test_compile_workers_start_as_they_would(target, environments):
    code = """
import operator, json
from torch._inductor.compile_worker.subproc_pool import SubprocPool
if __name__ == "__main__":
    pool = SubprocPool(1)
    print(json.dumps(pool.submit(operator.add, 2, 3).result(60)))
    pool.shutdown()
"""
    assert run(target, environments["guarded"], "-c", code)[0] == 5


@pytest.mark.old_torch
def test_threads_that_train(target, environments):
    """Freely running, each with a graph of its own; the figures are those of a single uncompiled thread."""
    plain, _ = run(target, environments["plain"], RACE, "threads", "none")
    cured, _ = run(target, environments["guarded"], RACE, "threads", "none")
    assert plain["failed"]
    assert (cured["failed"], cured["wrong"]) == (False, 0)
