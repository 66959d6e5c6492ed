"""Races of threads, told and judged; and a stand-in for the interpreter in which they would be run."""

import sys
from pathlib import Path

from envdoctor.facts.smoke import Failure
from envdoctor.facts.threads import Race, Setting, Thread, Told, Try

FX = "Detected that you are using FX to symbolically trace a dynamo-optimized function. This is not supported at the"
HITS = {"inductor": {"fxgraph_cache_hit": 4}, "aot_autograd": {"autograd_cache_hit": 2}}
COLD = {"inductor": {"fxgraph_cache_miss": 4}, "aot_autograd": {"autograd_cache_miss": 2}}
SETTING = Setting(1, "cold")


def detail(*errors, **fields):
    """Return what the payload tells of a race, in which these errors ended threads."""
    threads = [{"device": "cuda:0", "steps": 7, "type": "RuntimeError", "message": error} for error in errors]
    threads += [{"device": "cuda:1", "steps": 40, "type": "", "message": ""}] * (2 - len(errors))
    told = [{"type": "RuntimeError", "message": error, "traceback": ["  File x"]} for error in errors]
    return {
        "threads": threads,
        "errors": told,
        "calls": 80,
        "traces": 4,
        "meetings": 3,
        "met": [{"caller": "lane 0", "at": 1.5, "tracer": "lane 1"}],
        "compiles": [[0.5, 2.5]],
        "flag_shared": True,
        "flag_left": False,
        "again": [],
        "figures": {"bfloat16": 0.003},
        "counters": COLD,
    } | fields


TOLD = Told((Thread("cuda:0", 40), Thread("cuda:1", 44)), 84, 4, 3, flag_shared=True, flag_left=False, counters=COLD)
"""A race that went well."""


def tried(told=TOLD, setting=SETTING, number=1, start="together", failure=None):
    return Try(setting, number, start, 9.5, told if failure is None else None, failure)


def race(*tries, settings=None, **fields):
    """Return a run that came to these tries."""
    given = tuple(settings or dict.fromkeys(one.setting for one in tries))
    return Race(given, **{"tries": max(len(tries), 1), "done": tries, "flag": "global"} | fields)


def ended(how="hung", message="no end within 120 s", **fields):
    return Failure(how, message=message, **fields)


STAND_IN = """#!{python} -I
import faulthandler, json, os, sys, threading, time
events, stacks, number, scratch = *map(int, sys.argv[2:5]), sys.argv[5]
faulthandler.register(number, file=stacks, all_threads=True)
def write(line):
    os.write(events, (line if isinstance(line, str) else json.dumps(line)).encode() + b"\\n")
def end(step, state="passed", detail=None, **more):
    found = {{"event": "end", "device": "", "step": step, "state": state, "seconds": 1, "detail": detail or {{}}}}
    write({{**found, **more}})
def begin(step):
    write({{"event": "begin", "device": "", "step": step}})
cache = os.environ["TORCHINDUCTOR_CACHE_DIR"]
def fill(order):
    os.makedirs(cache, exist_ok=True)
    for device in order["devices"][:1] if order["first"] else order["devices"]:
        open(os.path.join(cache, device), "w").close()
def held():
    return sorted(os.listdir(cache)) if os.path.isdir(cache) else []
def racing(order):
{racing}
begin("torch-import")
end("torch-import", detail={{"torch": "2.11.0"}})
order = json.loads(sys.stdin.readline())
begin("threads")
if order["work"] == "fill":
    fill(order)
    end("threads")
else:
    racing(order)
"""
"""`racing` is the body of a function: what a try does, with the order as `order`."""


def interpreter(path, racing, **replaced):
    """Write a stand-in."""
    code = STAND_IN.format(python=sys.executable, racing="".join(f"    {line}\n" for line in racing.splitlines()))
    for old, new in replaced.values():
        assert old in code
        code = code.replace(old, new)
    Path(path).unlink(missing_ok=True)
    Path(path).write_text(code)
    Path(path).chmod(0o755)
    return Path(path)


def deadlocked(folder):
    """Write modules at the places of torch's, and return the code that lets two threads wait for each other in them."""
    for name, code in {
        "torch/autograd/graph.py": "def _engine_run_backward(work):\n    work.acquire()\n",
        "torch/_dynamo/convert_frame.py": "import threading\ncompile_lock = threading.RLock()\n"
        "def compiled(held, trace):\n    with compile_lock:\n        held.set()\n        trace()\n",
        "torch/_inductor/compile_fx.py": "from torch._dynamo.convert_frame import compile_lock\n"
        "def compile_fx_backward():\n    with compile_lock:\n        pass\n",
    }.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    return f"""sys.path.insert(0, {str(folder)!r})
from torch._dynamo.convert_frame import compiled
from torch.autograd.graph import _engine_run_backward
from torch._inductor.compile_fx import compile_fx_backward
work, held = threading.Lock(), threading.Event()
work.acquire()
holder = threading.Thread(target=compiled, args=(held, lambda: _engine_run_backward(work)), daemon=True)
holder.start()
held.wait()
threading.Thread(target=compile_fx_backward, daemon=True).start()
holder.join()
"""
