"""Time and memory of `envdoctor check` against the tools people use instead, in one run, as ratios.

nox -s bench                      # makes a venv of more than 100 distributions with a real torch, once
nox -s bench -- --target DIR      # uses an environment that is there; it must have pip
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lock_readers

TRAINING = (
    *(
        "pip",
        "torch==2.13.0",
        "transformers",
        "accelerate",
        "datasets",
        "peft",
        "evaluate",
        "tokenizers",
        "sentencepiece",
    ),
    *("tensorboard", "hydra-core", "tiktoken", "einops", "pandas", "scikit-learn", "matplotlib", "wandb", "jupyter"),
)
FILES = 70_000
BIN = Path(sys.executable).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", type=Path, help="environment to measure on")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    target = (options.target or prepared()).resolve()
    with tempfile.TemporaryDirectory() as folder:
        compare(target, Path(folder), options.rounds)
        reused(target, Path(folder), options.rounds)
        memory(Path(folder))
    imports()
    lock_readers.main()


def prepared() -> Path:
    """Make the environment to measure on beside the one that runs this."""
    target = BIN.parent / "bench-target"
    if not (target / "made").exists():
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", target], check=True)
        subprocess.run(
            [target / "bin" / "python", "-m", "pip", "install", "--quiet", "--upgrade", *TRAINING], check=True
        )
        (target / "made").touch()
    return target


def compare(target: Path, folder: Path, rounds: int) -> None:
    """Interleave all commands, so that whatever else the machine does hits them alike, and take medians."""
    python = str(target / "bin" / "python")
    frozen = subprocess.run([python, "-m", "pip", "freeze"], check=True, capture_output=True, text=True).stdout
    lock = folder / "frozen.txt"
    lock.write_text(frozen)
    check = [str(BIN / "envdoctor"), "check", "--target", str(target)]
    sealed_home = {"XDG_STATE_HOME": str(folder / "state")}
    commands = {
        "envdoctor check, no seal": (check, {}),
        "envdoctor check, sealed": (check, sealed_home),
        "pip check": ([python, "-m", "pip", "check"], {}),
        "torch.utils.collect_env": ([python, "-m", "torch.utils.collect_env"], {}),
        "pip-sync --dry-run": ([str(BIN / "pip-sync"), "--dry-run", "--python-executable", python, str(lock)], {}),
    }
    seal(target, sealed_home)
    times: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, (argv, env) in commands.items():
            with_seal(target, folder, present="sealed" in name)
            took = clocked(argv, env)
            if number:  # the first round warms the page cache
                times[name].append(took)
    with_seal(target, folder, present=False)
    report(target, {name: statistics.median(found) for name, found in times.items()})


def reused(target: Path, folder: Path, rounds: int) -> None:
    """Time a verdict that is printed again, the whole process."""
    argv = [str(BIN / "envdoctor"), "check", "--target", str(target), "--reuse", "10m"]
    env = {"XDG_RUNTIME_DIR": str(folder)}
    first, *hits = [clocked(argv, env) for _ in range(rounds + 1)]
    print(f"  check --reuse: {first:.3f} s, then {statistics.median(hits):.3f} s   (at most 0.15)")


def seal(target: Path, env: dict[str, str]) -> None:
    shutil.rmtree(target / ".envdoctor", ignore_errors=True)
    argv = [str(BIN / "envdoctor"), "seal", "--force", "--target", str(target)]
    subprocess.run(argv, check=True, env={**os.environ, **env}, stdout=subprocess.DEVNULL)


def with_seal(target: Path, folder: Path, *, present: bool) -> None:
    """Move the seal in or out of the environment."""
    inside, outside = target / ".envdoctor", folder / "seal"
    source, goal = (outside, inside) if present else (inside, outside)
    if source.exists():
        shutil.move(source, goal)


def clocked(argv: list[str], env: dict[str, str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(argv, env={**os.environ, **env}, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(argv)} ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    return time.perf_counter() - began


def report(target: Path, medians: dict[str, float]) -> None:
    count = sum(1 for _ in target.glob("lib/python*/site-packages/*.dist-info"))
    print(f"{count} distributions in {target}, {os.cpu_count()} cores, medians")
    for name, seconds in medians.items():
        print(f"  {name:28}{seconds:8.3f} s")
    goals = {
        ("envdoctor check, sealed", "pip check"): "at most 1.0, aim 0.5",
        ("envdoctor check, no seal", "pip check"): "at most 1.5",
        ("envdoctor check, no seal", "torch.utils.collect_env"): "at most 0.5",
        ("envdoctor check, no seal", "pip-sync --dry-run"): "at most 0.8, aim 0.4",
    }
    for (one, other), goal in goals.items():
        print(f"  {one + ' / ' + other:60}{medians[one] / medians[other]:6.2f}   ({goal})")


def memory(folder: Path) -> None:
    """Peak memory of a check of 70,000 small files, of the largest single process."""
    from envdoctor.wheels import Wheel

    site = folder / "large" / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    (folder / "large" / "bin").mkdir(parents=True)
    (folder / "large" / "bin" / "python").symlink_to(sys.executable)
    (folder / "large" / "pyvenv.cfg").write_text(
        f"home = {Path(sys.executable).parent}\nversion = {sys.version.split()[0]}\n"
    )
    for number in range(70):
        files = {f"package{number}/sub{n % 40}/module{n}.py": b"x = 1\n" for n in range(FILES // 70)}
        for path, data in Wheel(f"package{number}", "1.0", files).entries().items():
            (site / path).parent.mkdir(parents=True, exist_ok=True)
            (site / path).write_bytes(data)
    process = subprocess.Popen(
        [str(BIN / "envdoctor"), "check", "--target", str(folder / "large")], stdout=subprocess.DEVNULL
    )
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(proportional(pid) for pid in tree(process.pid)))
    print(f"  peak memory, {FILES:,} files, all processes together: {peak / 1024:.0f} MiB (at most 200)")


def tree(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(below for child in children for below in tree(int(child)))]


def proportional(pid: int) -> int:
    """Return a process's memory in KiB, pages shared with others counted in part (PSS)."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def imports() -> None:
    """Show what start-up is made of."""
    statement = "import envdoctor.cli, envdoctor.workflows, envdoctor.registry as r; r.probes()"
    argv = [sys.executable, "-X", "importtime", "-c", statement]
    lines = subprocess.run(argv, capture_output=True, text=True, check=True).stderr.splitlines()[1:]
    own: dict[str, int] = {}
    for line in lines:
        micros, _, name = line.removeprefix("import time:").split("|")
        top = name.strip().partition(".")[0]
        group = top if top in ("typer", "packaging", "envdoctor", "rich", "pydantic") else "the standard library"
        own[group] = own.get(group, 0) + int(micros)
    total = sum(own.values())
    print(f"  imports of a check: {total / 1000:.0f} ms")
    for group, micros in sorted(own.items(), key=lambda pair: -pair[1]):
        print(f"    {group:24}{micros / 1000:6.1f} ms  {micros / total:4.0%}")


if __name__ == "__main__":
    main()
