"""What the guard fx-race costs a call of a compiled function.

    python tests/bench/fx_guard.py [--batches 20] [--calls 10000] TARGET...

Two processes of each target's python, one guarded and one not, hold the same compiled function (backend "eager", so
that little but the wrapper's own work is timed) and take turns, a batch each; the median of the differences is printed.
CPU time of the thread is taken: other work on the machine changes it least.
"""

import argparse
import os
import statistics
import subprocess
from pathlib import Path

from envdoctor.hooks import FX_GUARD

LIMIT = 1.0
"""Microseconds that a call may cost more."""
WORKER = """
import sys, time, torch
torch.set_num_threads(1)
call, x = torch.compile(lambda x: x + 1, backend="eager"), torch.zeros(1)
calls = range(int(sys.argv[1]))
for _ in calls:
    call(x)
hooked = hasattr(torch.fx._symbolic_trace, "_envdoctor_fx_tracing")
print("guarded" if hooked else "plain", torch.__version__, flush=True)
for _ in sys.stdin:
    began = time.thread_time()
    for _ in calls:
        call(x)
    print(1e6 * (time.thread_time() - began) / len(calls), flush=True)
"""


def started(target, calls, hook):
    """Start a worker; return it and what it says of itself."""
    env = {**os.environ, "PYTHONPATH": hook}
    command = [str(Path(target, "bin", "python")), "-B", "-c", WORKER, str(calls)]
    worker = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return worker, worker.stdout.readline().split()


def timed(worker):
    """Let a worker make a batch; return microseconds a call."""
    worker.stdin.write("\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


def measured(target, batches, calls):
    """Measure one target."""
    plain, (was, version) = started(target, calls, "")
    guarded, (became, _) = started(target, calls, FX_GUARD)
    assert (was, became) == ("plain", "guarded")
    pairs = []
    for number in range(batches):
        first, second = (plain, guarded) if number % 2 else (guarded, plain)
        one, two = timed(first), timed(second)
        pairs.append((one, two) if number % 2 else (two, one))
    for worker in (plain, guarded):
        worker.stdin.close()
        worker.wait()
    before, after = (statistics.median(column) for column in zip(*pairs, strict=True))
    more = statistics.median(two - one for one, two in pairs)
    verdict = "within" if more <= LIMIT else "OVER"
    print(
        f"torch {version}: {before:.3f} us a call, guarded {after:.3f}; median of {batches} differences "
        f"{more:+.3f} us, {verdict} {LIMIT:g} us",
        flush=True,
    )


def main():
    """Measure every target named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--calls", type=int, default=10_000)
    options = parser.parse_args()
    for target in options.targets:
        measured(target, options.batches, options.calls)


main()
