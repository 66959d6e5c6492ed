"""The guard as a job's python meets it: a start-up hook first on PYTHONPATH, before a torch of a few lines."""

import ast
import json
import os
import py_compile
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import tracers

from envdoctor.facts.fx_flag import guardable
from envdoctor.hooks import COUNTERS, FX_GUARD

ON = "the FX-tracing flag of torch 2.11.0+cu130 is each thread's own, here and in child processes"
UNTESTED = f"alone: tested with {', '.join(guardable())} only"
SEEN = """
import json, os, subprocess, sys, threading, torch
st = torch.fx._symbolic_trace
def elsewhere(ask):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(ask()))
    thread.start(); thread.join()
    return seen[0]
def asked():
    return [st.is_fx_tracing(), st.is_fx_symbolic_tracing(), st._is_fx_tracing_flag]
def traced():
    return st.Tracer().trace(lambda: [asked(), elsewhere(asked)])
def told(value):
    print(json.dumps(value))
"""
TRACED = SEEN + "told(traced())"
OWN = [[True] * 3, [False] * 3]
"""The tracing thread sees its flag, the other one does not."""
SHARED = [[True] * 3, [True] * 3]


@pytest.fixture
def torch(tmp_path):
    return tracers.write(tmp_path / "site")


def run(*command, path, **env):
    """Run a fresh python; return what it told as JSON, and what the guard said."""
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, path)), **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), [
        line.removeprefix("envdoctor: guard fx-race: ") for line in done.stderr.splitlines()
    ]


def start(code, *path, **env):
    return run("-B", "-c", code, path=path, **env)


def test_a_thread_sees_its_own_trace_alone(torch):
    assert start(TRACED, FX_GUARD, torch) == (OWN, [ON])


def test_without_the_guard_it_sees_that_of_another(torch):
    assert start(TRACED, torch) == (SHARED, [])


CROSSED = """
def trace(begun, until):
    st.Tracer().trace(lambda: (begun.set(), until.wait(9)))
first, second, over = (threading.Event() for _ in range(3))
threads = [threading.Thread(target=trace, args=(first, second)), threading.Thread(target=trace, args=(second, over))]
threads[0].start(); first.wait(9); threads[1].start(); threads[0].join(); over.set(); threads[1].join()
told(asked())
"""
"""A trace that begins within another thread's and ends after it puts back what it found: a raised flag."""


@pytest.mark.parametrize(("hooks", "flag"), [((FX_GUARD,), False), ((), True)], ids=["guarded", "plain"])
def test_crossed_traces_leave_no_flag_behind(torch, hooks, flag):
    assert start(SEEN + CROSSED, *hooks, torch)[0] == [flag] * 3


def test_who_sets_the_attribute_sets_his_own_thread_s(torch):
    """As torch/_higher_order_ops/utils.py does; a trace that fails puts back what was."""
    code = """
def lowered():
    before, st._is_fx_tracing_flag = st._is_fx_tracing_flag, False
    try:
        return asked()
    finally:
        st._is_fx_tracing_flag = before
def traced():
    elsewhere(lambda: setattr(st, "_is_fx_tracing_flag", False))
    told([asked(), lowered(), asked()])
    raise KeyError
try:
    st.Tracer().trace(traced)
except KeyError:
    assert not any(asked())
"""
    assert start(SEEN + code, FX_GUARD, torch)[0] == [[True] * 3, [False] * 3, [True] * 3]


def test_functions_remain_torch_s_own(torch):
    """Dynamo skips torch's files and would look into others; tracebacks name lines of the file."""
    code = "told([[f.__code__.co_filename, f.__code__.co_firstlineno] for f in (st.is_fx_tracing, st.Tracer.trace)])"
    guarded = start(SEEN + code, FX_GUARD, torch)[0]
    assert guarded == start(SEEN + code, torch)[0]
    assert guarded[0][0] == str(torch / "torch/fx/_symbolic_trace.py")


def test_the_path_is_the_job_s_and_the_variable_its_children_s(torch):
    path, variable = start(SEEN + "told([sys.path, os.environ['PYTHONPATH']])", FX_GUARD, torch)[0]
    assert FX_GUARD not in path
    assert variable.split(os.pathsep) == [FX_GUARD, str(torch)]


def test_a_job_without_torch_hears_nothing():
    assert start("print(1)", FX_GUARD) == (1, [])


CHILDREN = """
import multiprocessing
def work(queue):
    queue.put(traced())
if __name__ == "__main__":
    found = []
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=work, args=(queue,))
        process.start(); found.append(queue.get(timeout=30)); process.join()
    *others, site = os.environ["PYTHONPATH"].split(os.pathsep)
    other = {**os.environ, "PYTHONPATH": os.pathsep.join([*others, os.path.join(os.path.dirname(site), "other")])}
    subprocess.run([sys.executable, "-c", "import torch"], env=other, check=True)
    told(found)
"""


def test_children_are_guarded_and_only_another_torch_makes_them_speak(torch, tmp_path):
    tracers.write(tmp_path / "other", version="2.10.0")
    script = tmp_path / "job.py"
    script.write_text(SEEN + CHILDREN)
    assert run(script, path=(FX_GUARD, torch)) == ([OWN, OWN], [ON, f"left torch 2.10.0 {UNTESTED}"])


class TestOtherHooks:
    @pytest.fixture
    def users(self, tmp_path):
        folder = tmp_path / "users"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text("import os, torch\nos.environ['USERS'] = 'ran'\n")
        return folder

    def test_the_users_own_runs_and_may_import_torch(self, torch, users):
        code = "told([os.environ['USERS'], sys.modules['sitecustomize'].__file__, traced()])"
        assert start(SEEN + code, FX_GUARD, users, torch) == (["ran", str(users / "sitecustomize.py"), OWN], [ON])

    @pytest.mark.parametrize(
        "hooks", [(FX_GUARD, COUNTERS), (COUNTERS, FX_GUARD)], ids=["guard first", "counters first"]
    )
    def test_that_of_the_counters_works_beside_it(self, torch, users, tmp_path, hooks):
        folder = tmp_path / "counted"
        folder.mkdir()
        code = SEEN + "told([os.environ['USERS'], traced()])"
        assert start(code, *hooks, users, torch, ENVDOCTOR_COUNTERS=str(folder)) == (["ran", OWN], [ON])
        assert [path.suffix for path in folder.iterdir()] == [".json"]

    def test_two_copies_of_it_are_as_one(self, torch, tmp_path):
        assert start(TRACED, FX_GUARD, shutil.copytree(FX_GUARD, tmp_path / "copy"), torch) == (OWN, [ON])

    def test_a_torch_that_was_imported_before_is_guarded_all_the_same(self, torch, tmp_path):
        """A .pth line may do that."""
        (tmp_path / "early.py").write_text(
            f"import sys, torch; held = torch.fx._symbolic_trace.is_fx_tracing; sys.path.insert(0, {FX_GUARD!r})\n"
            "sys.modules.pop('sitecustomize', None); import sitecustomize\n"
        )
        code = "import early\n" + SEEN + "told([traced(), early.held is st.is_fx_tracing])"
        assert start(code, tmp_path, torch) == ([OWN, True], [ON])


FINDER = """
import sys
from importlib.machinery import PathFinder, SourceFileLoader
class Loader(SourceFileLoader):
    def get_code(self, name):
        return compile(self.get_source(name).replace("return torch", "{word}; return torch"), self.path, "exec")
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "torch.fx._symbolic_trace":
            found = PathFinder.find_spec(name, path)
            found.loader = Loader(name, found.origin)
            return found
sys.meta_path.insert({place}, Finder())
import torch, colorsys
"""


class TestOtherFinders:
    def test_the_import_after_one_that_is_in_front_guards_it(self, torch):
        code = FINDER.format(word="''", place=0)
        assert start(code + TRACED, FX_GUARD, torch) == (OWN, [ON])

    def test_one_that_changes_what_it_loads_is_left_alone(self, torch):
        code = FINDER.format(word="print", place=1)
        why = "left torch 2.11.0+cu130 alone: torch.fx._symbolic_trace is not what its source gives"
        assert start(code + TRACED, FX_GUARD, torch) == (SHARED, [why])

    def test_a_module_from_an_archive(self, torch, tmp_path):
        archive = tmp_path / "site.zip"
        with zipfile.ZipFile(archive, "w") as stream:
            for path in torch.rglob("*.py"):
                stream.write(path, path.relative_to(torch))
        code = "told([traced(), type(st.__loader__).__name__, st.__spec__.loader is st.__loader__])"
        assert start(SEEN + code, FX_GUARD, archive) == ([OWN, "zipimporter", True], [ON])


def test_a_reloaded_module_is_guarded_again_and_shares_the_flags(torch):
    code = """
import importlib, pickle
old = st.Tracer
importlib.reload(st)
told([old is st.Tracer, traced(), old().trace(asked), pickle.loads(pickle.dumps(st)) is st])
"""
    assert start(SEEN + code, FX_GUARD, torch) == ([False, OWN, [True] * 3, True], [ON])


@pytest.mark.parametrize(
    ("given", "told", "why"),
    [
        ({"version": "2.10.0"}, "2.10.0", UNTESTED),
        ({"version": "2.11.0\n\x1b[31m"}, "of unknown version", UNTESTED),
        (
            {"tracer": tracers.SHARED + "\n\ndef one_more():\n    return _is_fx_tracing_flag\n"},
            "2.11.0+cu130",
            "alone: its source names the flag in other places",
        ),
        (
            {"tracer": tracers.SHARED.replace("def is_fx_tr", "@__import__('functools').lru_cache(0)\ndef is_fx_tr")},
            "2.11.0+cu130",
            "alone: is_fx_tracing is no plain function",
        ),
    ],
    ids=["not tested", "no version", "one reader more", "no function"],
)
def test_what_was_not_tested_is_left_alone(tmp_path, given, told, why):
    assert start(TRACED, FX_GUARD, tracers.write(tmp_path, **given)) == (SHARED, [f"left torch {told} {why}"])


def test_a_module_without_source_is_left_alone(torch):
    path = torch / "torch/fx/_symbolic_trace.py"
    py_compile.compile(str(path), path.with_suffix(".pyc"), doraise=True)
    path.unlink()
    why = "left torch 2.11.0+cu130 alone: its source cannot be read"
    assert start(TRACED, FX_GUARD, torch) == (SHARED, [why])


def test_a_flag_of_each_thread_s_own_is_left_alone(tmp_path):
    folder = tracers.write(tmp_path, version="2.13.0", tracer=tracers.OF_EACH_THREAD)
    why = "left torch 2.13.0 alone: it has no such flag, or a trace is going on"
    assert start("import torch; print(1)", FX_GUARD, folder) == (1, [why])


def test_a_python_that_is_told_to_run_no_hook_runs_none(torch):
    code = f"import sys; sys.path.insert(0, {str(torch)!r})\n"
    assert run("-I", "-B", "-c", code + TRACED, path=(FX_GUARD, torch)) == (SHARED, [])


def test_a_closed_stderr_is_no_reason_to_fail(torch):
    assert start(f"import sys; sys.stderr = None\n{TRACED}", FX_GUARD, torch) == (OWN, [])


def test_it_knows_the_releases_that_the_table_says_were_tested():
    body = ast.parse(Path(FX_GUARD, "sitecustomize.py").read_text(encoding="utf-8")).body
    (value,) = [
        node.value for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TESTED"
    ]
    assert ast.literal_eval(value) == guardable()
