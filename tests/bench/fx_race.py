"""How often the race for torch's FX-tracing flag is lost, with and without the guard and its alternatives.

    python tests/bench/fx_race.py MODE RUNS REMEDY[,REMEDY...] TARGET...

MODE as in fx_race_job.py; REMEDY one of none, guard, force, lock, barrier; TARGET a prefix with a torch. Every run is a
process of its own with an empty cache; the remedies take turns.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from envdoctor.hooks import FX_GUARD

JOB = Path(__file__).with_name("fx_race_job.py")


def run(target, mode, remedy):
    """Run one job; return what it told."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": folder, "PYTHONPATH": FX_GUARD if remedy == "guard" else ""}
        inside = "none" if remedy == "guard" else remedy
        command = [str(Path(target, "bin", "python")), "-B", str(JOB), mode, inside]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        return {"failed": True, "died": f"{done.returncode}: {done.stderr[-300:]}"}
    return json.loads(done.stdout)


def main(mode, runs, remedies, *targets):
    """Print a line a target and remedy."""
    for target in targets:
        told = {remedy: [] for remedy in remedies.split(",")}
        for _ in range(int(runs)):
            for remedy, answers in told.items():
                answers.append(run(target, mode, remedy))
        for remedy, answers in told.items():
            failed = sum(answer["failed"] for answer in answers)
            counts = {
                name: sum(answer.get(name, 0) for answer in answers)
                for name in ("threads", "calls", "calls_failed", "rounds", "stuck", "wrong")
                if any(name in answer for answer in answers)
            }
            words = sorted(
                {word for answer in answers for word in (*answer.get("errors", ()), answer.get("died", ""))} - {""}
            )
            version = next((answer["torch"] for answer in answers if "torch" in answer), target)
            print(f"{version} {mode} {remedy}: {failed} of {len(answers)} failed", counts, *words, flush=True)


main(*sys.argv[1:])
