"""Growth of the state over runs without a change, and the time of `envdoctor history` over many runs.

    python tests/bench/state.py [FOLDER]

A snapshot of 300 packages is recorded 1,000 times, ten minutes apart, with what changes in every run (free space,
memory, seconds); then 10,000 runs of two months are told by the command itself.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from states import STEP, Story, changed, clean, job, seen, sick
from values import finding

UNCHANGED = 1000
TOLD = 10_000
TIMES = 15


def growth(folder):
    """Print the bytes of a run, and its processor time."""
    story = Story(folder / "growth" / "node.sqlite")
    story.run(clean(), seen(packages=300))
    first = os.path.getsize(story.path)
    for change in (False, True):
        began, before = time.process_time(), os.path.getsize(story.path)
        for number in range(1, UNCHANGED + 1):
            more = {"variables": job(SLURM_NNODES=str(number))} if change else {}
            story.run(clean(seconds=number / 7), seen(number, packages=300, **more))
        size, seconds = os.path.getsize(story.path) - before, time.process_time() - began
        what = "with one variable changed in each" if change else "without change"
        each = f"{size / UNCHANGED:,.0f} bytes, {seconds / UNCHANGED * 1000:.0f} ms of CPU"
        print(f"{UNCHANGED:,} runs {what}: {each} a run")
    print(f"the first run: {first:,} bytes")


def history(folder):
    """Print the wall time of the whole command."""
    path = folder / "envdoctor" / f"{os.uname().nodename}.sqlite"
    story = Story(path)
    story.run(sick(finding()))
    copy = (
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < ?) "
        "INSERT INTO runs (subject, at, verdict, errors, warnings, notes, seconds, reason, lacking) "
        "SELECT subject, at + x * ?, CASE x / 50 % 2 WHEN 0 THEN 'sick' ELSE 'healthy' END, errors, 0, 0, 1, reason, "
        "lacking FROM n, runs"
    )
    changed(story.path, (copy, (TOLD - 1, STEP.total_seconds())))
    command = [sys.executable, "-m", "envdoctor", "history", "--all"]
    env = {**os.environ, "XDG_STATE_HOME": str(folder)}
    taken = []
    for _ in range(TIMES):
        began = time.perf_counter()
        done = subprocess.run(command, env=env, capture_output=True, check=True)
        taken.append(time.perf_counter() - began)
    assert b"checks" in done.stdout
    print(f"history over {TOLD:,} runs: {min(taken):.2f} s, median {statistics.median(taken):.2f} s")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as made:
        growth(Path(made))
        history(Path(made))
