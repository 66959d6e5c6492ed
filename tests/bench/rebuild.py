"""Time of `envdoctor rebuild` against the very same installer on the very same store, of its plan and of the switch.

nox -s bench                                 # on 2,000 files
python tests/bench/rebuild.py --files 20000
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from envdoctor.generations import layout, switching
from envdoctor.wheels import Wheel, requirements_lock

DOCTOR = [sys.executable, "-m", "envdoctor"]
PACKAGES = 50
SWITCHED = 70_000
"""Files of the directory whose switch is timed."""
STATEMENTS = 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where it is done; default: the temporary directory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        place = Path(folder)
        made(place, options.files)
        for installer in ("uv", "pip"):
            installed(place, installer, options.rounds)
        planned(place, options.rounds)
        switched(place / "many")


def made(place: Path, files: int) -> None:
    """Write wheels of sources as long as those of real packages, with one library each, and their lock."""
    chance = random.Random(1)  # noqa: S311 - the same files each time
    wheels = []
    for number in range(PACKAGES):
        content: dict[str, str | bytes] = {f"p{number}/library.so": chance.randbytes(1_000_000)}
        for module in range(files // PACKAGES):
            content[f"p{number}/m{module}.py"] = "".join(source(chance) for _ in range(STATEMENTS))
        wheels.append(Wheel(f"p{number}", "1.0", content))
        wheels[-1].build(place / "wheels")
    (place / "project").mkdir()
    (place / "project" / "pyproject.toml").write_text('[project]\nname = "bench"\nversion = "1"\n')
    (place / "project" / "train.txt").write_text(requirements_lock(wheels))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "project" / ".venv"], check=True)


def source(chance: random.Random) -> str:
    name = f"f{chance.randrange(10**9)}"
    body = f"    return [first * item + second for item in range({chance.randrange(99)})]"
    return f"def {name}(first, second={chance.random()}):\n{body}\n\n\n"


def env(place: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "HOME")}
    own = {"XDG_CACHE_HOME": str(place / "cache"), "XDG_STATE_HOME": str(place / "state")}
    return kept | own | {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "UV_NO_CONFIG": "1"}


def clocked(argv: list[str], place: Path, **more: str) -> float:
    began = time.perf_counter()
    done = subprocess.run(argv, env=env(place) | more, cwd=place / "project", capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{argv}\n{done.stdout.decode()}\n{done.stderr.decode()}")
    return time.perf_counter() - began


def baseline(place: Path, installer: str) -> float:
    """Time the installer alone, into a fresh venv that is made before: no cache, copied, byte-compiled."""
    target = place / "plain"
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", target], check=True)
    python, lock = str(target / "bin" / "python"), str(place / "project" / "train.txt")
    wanted = ["--no-index", "--find-links", str(place / "wheels"), "--require-hashes", "--no-deps"]
    wanted += ["--only-binary", ":all:", "-r", lock]
    if installer == "uv":
        uv = shutil.which("uv", path=os.path.dirname(sys.executable)) or "uv"
        head = [uv, "pip", "install", "--python", python, "--no-cache", "--link-mode", "copy", "--compile-bytecode"]
        return clocked([*head, *wanted], place)
    return clocked([sys.executable, "-m", "pip", "--python", python, "install", "--no-cache-dir", *wanted], place)


def installed(place: Path, installer: str, rounds: int) -> None:
    words = ["rebuild", "--target", str(place / "project" / ".venv"), "--lock", str(place / "project" / "train.txt")]
    words += [
        "--find-links",
        str(place / "wheels"),
        "--smoke",
        "none",
        "--yes",
        "--installer",
        installer,
        "--keep",
        "0",
    ]
    plain, whole, parts = [], [], []
    for number in range(rounds + 1):
        found = baseline(place, installer)
        began = time.perf_counter()
        done = subprocess.run(
            [*DOCTOR, *words, "--format", "json", "--quiet"],
            env=env(place),
            cwd=place / "project",
            capture_output=True,
            check=False,
        )
        if done.returncode:
            sys.exit(done.stderr.decode())
        took = time.perf_counter() - began
        if number:  # the first fills the store and the page cache
            plain.append(found)
            whole.append(took)
            parts.append(json.loads(done.stdout)["step_seconds"])
    ours, theirs = statistics.median(whole), statistics.median(plain)
    steps = {step: statistics.median(part[step] for part in parts) for step in parts[0]}
    print(f"{installer}: alone {theirs:.2f} s, rebuild {ours:.2f} s: {ours / theirs:.2f}   (at most 1.25)")
    print(f"  {', '.join(f'{step} {seconds:.2f}' for step, seconds in steps.items())}")


def planned(place: Path, rounds: int) -> None:
    target = ["--target", str(place / "project" / ".venv"), "--lock", str(place / "project" / "train.txt")]
    plan, check = [], []
    for _ in range(rounds * 3):
        plan.append(clocked([*DOCTOR, "rebuild", *target, "--dry-run"], place))
        check.append(clocked([*DOCTOR, "check", *target, "--fail-on", "error"], place))
    ratio = statistics.median(plan) / statistics.median(check)
    print(f"plan {statistics.median(plan):.2f} s, check {statistics.median(check):.2f} s: {ratio:.2f}   (at most 1.5)")


def switched(place: Path) -> None:
    """Time the switch itself from a directory of many files, and back."""
    where = layout.of(str(place / ".venv"))
    for number in range(SWITCHED):
        if number % 500 == 0:
            (place / ".venv" / f"d{number}").mkdir(parents=True)
        (place / ".venv" / f"d{number // 500 * 500}" / f"f{number}").touch()
    name = where.new("0" * 64, datetime.now(UTC))
    shutil.copytree(where.link, where.place(name))
    began = time.perf_counter()
    switching.switch(where, where.text(name), datetime.now(UTC))
    print(f"switch of {SWITCHED:,} files: {time.perf_counter() - began:.3f} s   (under 1)")


if __name__ == "__main__":
    main()
