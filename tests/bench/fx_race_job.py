"""Work that meets, or provokes, the race for torch's FX-tracing flag; run by a target's python, tells JSON.

    python fx_race_job.py threads|make-fx|crossed none|force|lock|barrier

threads: three threads train, each with a graph of its own, freely until each has done STEPS. make-fx: one thread traces
by make_fx, another one calls what is compiled. crossed: three threads trace at once, ROUNDS times; is the flag stuck?
The second word is what is done about it inside the job. Python 3.9+.
"""

import json
import sys
import threading
import time

import torch
import torch._dynamo
import torch.fx._symbolic_trace as tracing
from torch.fx.experimental.proxy_tensor import make_fx

THREADS, STEPS, ROUNDS, SECONDS = 3, 40, 30, 3
MODE, REMEDY = sys.argv[1:3]
SOURCE = "def step{n}(x, w):\n    return (torch.relu(x @ w).sin() @ w.t() + {n}.25).square().mean()\n"
torch.set_num_threads(1)
if torch.version.cuda and not torch.cuda.is_available() and hasattr(torch._C, "_ensureCUDADeviceGuardSet"):
    torch._C._ensureCUDADeviceGuardSet()  # a CUDA build without a GPU sets it at each fake mode, which threads cannot
    torch._C._ensureCUDADeviceGuardSet = lambda: None


def function(number):
    """Make a function whose code no other one has."""
    space = {"torch": torch}
    exec(SOURCE.format(n=number), space)  # noqa: S102 - dynamo tells functions apart by their code
    return space[f"step{number}"]


def inputs(number):
    generator = torch.Generator().manual_seed(number)
    x, w = (torch.randn(8 * (number + 1), 16, generator=generator), torch.randn(16, 32, generator=generator))
    return x, w.requires_grad_()


def trained(call, number):
    """Make one step; return loss and gradient."""
    x, w = inputs(number)
    loss = call(x, w)
    loss.backward()
    return loss.detach(), w.grad


def threads():
    """Train in threads; compare what each got last with a single thread's eager figures."""
    plain = [function(number) for number in range(THREADS)]
    compiled = [torch.compile(call, backend="aot_eager", dynamic=False) for call in plain]
    errors, done, last = {}, [0] * THREADS, [None] * THREADS
    start, lock, barrier = threading.Barrier(THREADS), threading.Lock(), threading.Barrier(THREADS)

    def run(number):
        if REMEDY == "force":
            torch._dynamo.config.force_compile_during_fx_trace = True  # from 2.12 each thread has its own config
        start.wait()
        try:
            if REMEDY in ("lock", "barrier"):
                with lock:
                    trained(compiled[number], number)
                if REMEDY == "barrier":
                    barrier.wait(60)
            while done[number] < STEPS or min(done) < STEPS:
                last[number] = trained(compiled[number], number)
                done[number] += 1
        except Exception as error:  # noqa: BLE001 - what a training thread dies of
            errors[number] = str(error).splitlines()[0]
            done[number] = STEPS
            barrier.abort()

    together([threading.Thread(target=run, args=(number,)) for number in range(THREADS)])
    wrong = [number for number in range(THREADS) if number not in errors and _off(last[number], plain[number], number)]
    return {"failed": bool(errors), "errors": sorted(set(errors.values())), "threads": len(errors), "wrong": len(wrong)}


def _off(got, plain, number):
    """Tell whether loss or gradient is not what the same function gives uncompiled."""
    wanted = trained(plain, number)
    return not all(torch.allclose(got[n], wanted[n], rtol=1e-5, atol=1e-6) for n in range(2))


def traced_beside():
    """Call what is compiled while another thread traces outside any compile."""
    call = torch.compile(function(0), backend="aot_eager", dynamic=False)
    expected, _ = trained(call, 0)
    calls, failed, wrong, over = 0, 0, 0, threading.Event()

    def trace():
        while not over.is_set():
            make_fx(function(1))(*inputs(1))

    thread = threading.Thread(target=trace)
    thread.start()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        calls += 1
        try:
            wrong += not torch.allclose(trained(call, 0)[0], expected)
        except RuntimeError:
            failed += 1
    over.set()
    thread.join()
    return {"failed": failed > 0, "calls": calls, "calls_failed": failed, "wrong": wrong}


def crossed():
    """Trace in three threads at once; count the times after which a thread that traces nothing sees the flag."""
    call = torch.compile(function(0), backend="eager", dynamic=False)
    trained(call, 0)
    stuck, dead = 0, 0

    def trace():
        for _ in range(3):
            try:
                make_fx(function(1))(*inputs(1))
            except RuntimeError:
                return

    for _ in range(ROUNDS):
        together([threading.Thread(target=trace) for _ in range(3)])
        stuck += tracing.is_fx_tracing()
        try:
            trained(call, 0)
        except RuntimeError:
            dead += 1
        tracing._is_fx_tracing_flag = False
    return {"failed": stuck > 0, "rounds": ROUNDS, "stuck": stuck, "calls_failed": dead}


def together(several):
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()


said = {"threads": threads, "make-fx": traced_beside, "crossed": crossed}[MODE]()
print(json.dumps({"torch": torch.__version__, **said}))
