"""Time and memory of `envdoctor check --deep` against hashlib in as many processes as there are cores, in one run.

nox -s bench                               # on 7,000 files and 0.7 GB
python tests/bench/deep.py --files 70000   # on 7 GB
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from multiprocessing import Pool
from pathlib import Path

from envdoctor.wheels import Wheel

CORES = len(os.sched_getaffinity(0))
COMMAND = [str(Path(sys.executable).parent / "envdoctor"), "check", "--select", "packages"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=7000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the files are made; default: the temporary directory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        target = made(Path(folder), options.files)
        time.sleep(3)  # what is younger is not remembered
        measured(target, Path(folder), options.rounds)


def made(folder: Path, files: int, size: int = 100_000) -> Path:
    """Make a venv of many small files and some large ones, about so many bytes a file, in a hundred distributions."""
    chance = random.Random(1)  # noqa: S311 - the same files each time
    target = folder / "target"
    site = target / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    (target / "bin").mkdir(parents=True)
    (target / "bin/python").symlink_to(sys.executable)
    (target / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).parent}\nversion = {sys.version.split()[0]}\n")
    for number in range(100):
        sizes = [chance.randint(100, size * 3 // 10) for _ in range(files // 100 - 1)]
        large = max(0, size * len(sizes) - sum(sizes))
        content = {f"p{number}/s{n % 40}/m{n}.py": chance.randbytes(size) for n, size in enumerate(sizes)}
        content[f"p{number}/large.so"] = chance.randbytes(large)
        for path, data in Wheel(f"p{number}", "1.0", content).entries().items():
            (site / path).parent.mkdir(parents=True, exist_ok=True)
            (site / path).write_bytes(data)
    return target


def measured(target: Path, folder: Path, rounds: int) -> None:
    paths = [str(path) for path in target.rglob("*") if path.is_file() and not path.is_symlink()]
    size = sum(os.path.getsize(path) for path in paths)
    env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "XDG_STATE_HOME": str(folder / "state")}
    print(f"{len(paths):,} files, {size / 1e9:.2f} GB, {CORES} cores, medians of {rounds} interleaved rounds")
    peer, first, second, plain = [], [], [], []
    for number in range(rounds + 1):
        shutil.rmtree(folder / "cache", ignore_errors=True)
        took = [hashed(paths), *(clocked(env, *options) for options in (["--deep"], ["--deep"], []))]
        if number:  # the first round warms the page cache
            for found, seconds in zip((peer, first, second, plain), took, strict=True):
                found.append(seconds)
    by = [statistics.median(found) for found in (peer, first, second, plain)]
    names = (f"hashlib in {CORES} processes", "check --deep", "again", "plain")
    print("  " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in zip(names, by, strict=True)))
    print(f"  of hashlib's throughput {by[0] / by[1]:.0%}   (at least 80 %)")
    print(f"  second deep check / plain check {by[2] / by[3]:.2f}   (at most 1.3)")
    shutil.rmtree(folder / "cache", ignore_errors=True)
    most = peak([*COMMAND, "--target", target_of(env), "--deep"], env)
    print(f"  peak of all processes together, PSS: {most >> 20} MiB   (at most 300)")


def hashed(paths: list[str]) -> float:
    began = time.perf_counter()
    with Pool(CORES) as pool:
        for _ in pool.imap_unordered(digest, paths, chunksize=32):
            pass
    return time.perf_counter() - began


def digest(path: str) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def clocked(env: dict[str, str], *options: str) -> float:
    began = time.perf_counter()
    done = subprocess.run([*COMMAND, "--target", target_of(env), *options], env=env, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"check {options} ended with {done.returncode}: {done.stdout.decode()[-800:]}{done.stderr.decode()}")
    return time.perf_counter() - began


def target_of(env: dict[str, str]) -> str:
    return str(Path(env["XDG_CACHE_HOME"]).parent / "target")


def peak(command: list[str], env: dict[str, str]) -> int:
    """Return the most that a run and all that it started took at one time, in bytes."""
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    most = [0]

    def watch() -> None:
        while process.poll() is None:
            most[0] = max(most[0], sum(map(pss, family(process.pid))))
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    watcher.join()
    return most[0]


def family(pid: int) -> list[int]:
    """Return a process and all that come from it."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return [pid]
    return [pid, *(each for child in text.split() for each in family(int(child)))]


def pss(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)


if __name__ == "__main__":
    main()
