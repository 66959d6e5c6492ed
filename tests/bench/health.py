"""Processor time and memory of a warm `envdoctor health` for one venv of 70,000 files with a cache.

nox -s bench
python tests/bench/health.py --files 7000
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from deep import made, peak

COMMAND = [str(Path(sys.executable).parent / "envdoctor"), "health"]
KEYS = 2000
"""Entries of the compile cache."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=70_000)
    parser.add_argument("--size", type=int, default=2_000, help="bytes of a file; health reads few of them")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the files are made; default: the temporary directory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        target = made(Path(folder), options.files, options.size)
        torch = target / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages/torch"
        torch.mkdir()
        (torch / "version.py").write_text("__version__ = '2.11.0+cu128'\ncuda = '12.8'\n")
        measured(configured(Path(folder), target), Path(folder), options.rounds)


def configured(folder: Path, target: Path) -> Path:
    """Write the configuration, and a cache."""
    cache = folder / "cache"
    for number in range(KEYS):
        entry = cache / "fxgraph" / f"{number % 64:02x}" / f"f{number:051x}"
        entry.mkdir(parents=True)
        (entry / f"{number:064x}").write_bytes(os.urandom(4000))
    path = folder / "health.toml"
    path.write_text(
        f'state = "{folder}/state/health.sqlite"\n[[target]]\npath = "{target}"\n'
        f'environment = {{ TORCHINDUCTOR_CACHE_DIR = "{cache}" }}\n'
    )
    return path


def measured(config: Path, folder: Path, rounds: int) -> None:
    command = [*COMMAND, "--config", str(config)]
    env = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    took = [clocked(command, env) for _ in range(rounds + 1)][1:]
    print(f"medians of {rounds} warm runs on {len(os.sched_getaffinity(0))} cores")
    print(f"  {statistics.median(wall for wall, _ in took):.2f} s")
    print(f"  processor time of all processes {statistics.median(cpu for _, cpu in took):.2f} s   (at most 2)")
    print(f"  peak of all processes together, PSS: {peak(command, env) >> 20} MiB   (at most 250)")


def clocked(command: list[str], env: dict[str, str]) -> tuple[float, float]:
    """Return the seconds that a run took, and those of all processors."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, env=env, capture_output=True, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit(f"health ended with {done.returncode}: {done.stdout.decode()[-800:]}{done.stderr.decode()}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
