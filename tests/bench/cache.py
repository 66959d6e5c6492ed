"""Time of `cache save` and `cache restore` against tar and zstd, over the same files in one run, interleaved.

    python tests/bench/cache.py [FILES [ROUNDS [FOLDER]]]

The cache is made up: 20 KB a file on average, as compressible as sources and libraries are. FOLDER is where it is made
(default: a temporary directory); every round removes what it wrote.
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


def timed(argv, env):
    """Return the seconds that a command takes."""
    began = time.perf_counter()
    subprocess.run(argv, check=True, env=env, stdout=subprocess.DEVNULL)
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


if __name__ == "__main__":
    words = sys.argv[1:]
    main(*map(int, words[:2]), *words[2:])
