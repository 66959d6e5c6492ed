"""Time of `cache save` and `cache restore` against tar and zstd, over the same files in one run, interleaved.

    python tests/bench/cache.py [FILES [ROUNDS [FOLDER]]]

The cache is made up: 20 KB a file on average, as compressible as sources and libraries are. FOLDER is where it is made
(default: a temporary directory); every round removes what it wrote. Last, `cache status` of a sparse cache of five
times as many files.
"""

import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from cachetrees import add_graph, add_kernel  # noqa: E402
from patients import Patient, Wheel  # noqa: E402

VERSION = "__version__ = '2.11.0+cpu'\ngit_version = 'abc'\n"
LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


def filled(folder, count):
    """Write a cache of so many files."""
    noise = random.Random(1)  # noqa: S311
    words = [noise.randbytes(noise.randrange(3, 12)) for _ in range(3000)]
    for number in range(count):
        parent = folder / ("".join(noise.choices(LETTERS, k=2)))
        parent.mkdir(parents=True, exist_ok=True)
        size = int(noise.paretovariate(1.2) * 4000)
        (parent / f"c{number}.cpp").write_bytes(b" ".join(noise.choices(words, k=min(size, 400_000) // 8)))
    for path in folder.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))


def sparse(folder, count):
    """Make a cache of so many files and 100 KB a file that take no room: graphs, kernels and libraries."""
    for number in range(count // 25):
        add_graph(folder, number, f"cuda:{number % 8}", torch="2.11.0+cpu")
    for number in range(count // 12):
        kernel = add_kernel(folder / "triton" / "0", number)
        for name in ("k.ttir", "k.ttgir", "k.llir", "k.ptx", "k.source"):
            hollow(kernel / name, 20_000)
    made = sum(len(names) for _, _, names in os.walk(folder))
    for number in range(count - made):
        parent = folder / f"{LETTERS[number % 32]}{LETTERS[number // 32 % 32]}"
        parent.mkdir(exist_ok=True)
        hollow(parent / f"c{number}.so", 350_000)


def hollow(path, size):
    with path.open("wb") as file:
        file.truncate(size)


def timed(argv, env):
    """Return the seconds that a command takes."""
    began = time.perf_counter()
    done = subprocess.run(argv, check=False, env=env, stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(argv)} ended with {done.returncode}")
    return time.perf_counter() - began


def main(count=20_000, rounds=5, folder=None):
    """Print medians and ratios."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        place = Path(scratch)
        patient = Patient(place / "project")
        patient.install(Wheel("torch", "2.11.0", {"torch/__init__.py": "", "torch/version.py": VERSION}))
        cache = place / "cache"
        filled(cache, count)
        size = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())
        print(f"{count} files, {size / 1e6:.0f} MB, {os.cpu_count()} cores")
        time.sleep(1.5)
        env = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache), "XDG_DATA_HOME": str(place / "data")}
        doctor = [sys.executable, "-m", "envdoctor", "cache"]
        at = ["--target", str(patient.prefix)]
        theirs, ours = place / "theirs.tar.zst", place / "ours.tar.zst"
        commands = {
            "tar c | zstd -3 -T0": ["sh", "-c", f"tar c -C {cache} . | zstd -3 -T0 -q -f -o {theirs}"],
            "cache save": [*doctor, "save", "-o", str(ours), *at],
            "cache save again": [*doctor, "save", "-o", str(ours), *at],
            "zstd -d | tar x": ["sh", "-c", f"mkdir {place}/new && zstd -dc {theirs} | tar x -C {place}/new"],
            "cache restore": [*doctor, "restore", str(ours), "--to", str(place / "new"), *at],
            "cache verify": [*doctor, "verify", str(ours)],
        }
        seconds = {name: [] for name in commands}
        for _ in range(rounds):
            ours.unlink(missing_ok=True)
            for name, argv in commands.items():
                os.sync()
                seconds[name].append(timed(argv, env))
                shutil.rmtree(place / "new", ignore_errors=True)
        medians = {name: statistics.median(found) for name, found in seconds.items()}
        for name, median in medians.items():
            print(f"{name:22} {median:7.2f} s   {size / 1e6 / median:7.0f} MB/s")
        print(f"save: {medians['tar c | zstd -3 -T0'] / medians['cache save']:.0%} of the speed of tar and zstd")
        print(f"restore: {medians['zstd -d | tar x'] / medians['cache restore']:.0%}")
        status([*doctor, "status", *at, "--no-state"], env, place / "sparse", 5 * count, rounds)


def status(argv, env, cache, count, rounds):
    """Print what `cache status` takes, and what a walk with scandir alone would."""
    sparse(cache, count)
    files = [os.stat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(cache) for name in names]
    print(f"{len(files)} files, {sum(files) / 1e9:.1f} GB sparse")
    walk = [
        sys.executable,
        "-c",
        f"import os; [os.stat(f'{{d}}/{{n}}') for d, _, f in os.walk({str(cache)!r}) for n in f]",
    ]
    both = {"os.walk and stat": walk, "cache status": argv}
    seconds = {name: [] for name in both}
    for number in range(rounds + 1):
        for name, command in both.items():
            took = timed(command, {**env, "TORCHINDUCTOR_CACHE_DIR": str(cache)})
            seconds[name] += [took] * bool(number)  # the first round warms the page cache
    for name, found in seconds.items():
        print(f"{name:22} {statistics.median(found):7.2f} s")


if __name__ == "__main__":
    words = sys.argv[1:]
    main(*map(int, words[:2]), *words[2:])
