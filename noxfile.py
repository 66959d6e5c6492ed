"""Checks and tests: `nox` runs what this machine can run, `nox --list` shows the rest."""

from __future__ import annotations

import json
import os
from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["lint", "tests", "tests_venv", "tests_torch"]

# Pinned, since a new release of either brings new complaints.
LINTERS = ("mypy==2.4.1", "ruff==0.17.6")
TESTERS = ("fastjsonschema>=2.20", "hypothesis>=6.100", "prometheus-client>=0.20", "pytest>=8.2", "pytest-xdist>=3.6")
INSTALLERS = ("pip>=26", "pip-tools>=7.5", "pre-commit>=4", "uv>=0.9")
TORCH = "2.13.0"
OLD_TORCHES = ("2.11.0", "2.12.0")
"""Versions in which threads that only compile meet each other's traces. Their wheels for Linux are CUDA builds."""
TRITONS = ("3.6.0", "3.8.0")
"""Versions that meet damage differently; without a GPU they compile all the same."""
ALONE = "not venv and not whole and not torch and not old_torch and not gpu"
"""Marks of what needs nothing but Python."""
QUICK = ("-n", "3", "--dist", "worksteal")
"""Some tests wait for a child's limit: one worker more than two cores have fills the time."""


@nox.session
def lint(session: nox.Session) -> None:
    """Style, format and types, and our own locks."""
    session.install(".", *LINTERS, "nox")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")
    session.run(
        "envdoctor", "lock", "audit", "--fail-on", "warning", *sorted(map(str, Path("lockfiles").glob("*.txt")))
    )


@nox.session
def tests(session: nox.Session) -> None:
    """Everything that needs no real installer, torch or GPU."""
    session.install(".", *TESTERS)
    session.run(
        "pytest",
        "-m",
        f"{ALONE} and not soak",
        *QUICK,
        *session.posargs,
    )


@nox.session
def tests_venv(session: nox.Session) -> None:
    """Whole checks by the real command line, and real venvs made by real installers, without a network."""
    session.install(".", *TESTERS, *INSTALLERS)
    session.run("pytest", "-m", "(venv or whole) and not soak", "-n", "2", *session.posargs)


@nox.session
def tests_torch(session: nox.Session) -> None:
    """A target with a real torch, in ENVDOCTOR_TORCH_TARGET; real tritons, in ENVDOCTOR_TRITON_TARGETS."""
    session.install(".", *TESTERS, *INSTALLERS)
    tritons = os.pathsep.join(str(_triton_target(session, version)) for version in TRITONS)
    env = {"ENVDOCTOR_TORCH_TARGET": str(_torch_target(session)), "ENVDOCTOR_TRITON_TARGETS": tritons}
    session.run("pytest", "-m", "torch", "-n", "2", "--dist", "loadfile", *session.posargs, env=env)


@nox.session
def tests_old_torch(session: nox.Session) -> None:
    """The race of threads where it is, its guard and the other remedies: several GB of torch, so not by default."""
    session.install(".", *TESTERS, *INSTALLERS)
    for version in OLD_TORCHES:
        target = Path(session.virtualenv.location, f"torch-{version}").resolve()
        if not _has(target, "torch", version):
            session.run(*_emptied(session, target), f"torch=={version}", success_codes=[0, 1])
            if not _has(target, "torch", version):
                _cannot(session, f"pip finds no torch {version} for this machine")
        session.run("pytest", "-m", "old_torch", *session.posargs, env={"ENVDOCTOR_TORCH_TARGET": str(target)})


@nox.session
def tests_gpu(session: nox.Session) -> None:
    """What needs an NVIDIA GPU; skips itself where there is none."""
    session.install(".", *TESTERS)
    session.run("pytest", "-m", "gpu", *session.posargs)


@nox.session
def soak(session: nox.Session) -> None:
    """Long kill and fuzz runs."""
    session.install(".", *TESTERS, *INSTALLERS)
    session.run("pytest", "-m", "soak", *session.posargs)
    session.run(
        "pytest",
        "-m",
        ALONE,
        env={"HYPOTHESIS_PROFILE": "thorough"},
    )


@nox.session
def bench(session: nox.Session) -> None:
    """Time and memory of `check`, cache saves, deep checks, rebuilds and health; growth of the state."""
    script = Path("tests", "bench", "bench.py")
    if not script.exists():
        _cannot(session, f"{script} is not there")
    session.install(".", *INSTALLERS)
    session.run("python", str(script), *session.posargs)
    session.run("python", str(script.with_name("cache.py")))
    session.run("python", str(script.with_name("deep.py")))
    session.run("python", str(script.with_name("rebuild.py")))
    session.run("python", str(script.with_name("state.py")))
    session.run("python", str(script.with_name("health.py")))


@nox.session
def docs(session: nox.Session) -> None:
    """Compare the generated parts of the README with the code; `nox -s docs -- --write` renews them."""
    session.install(".")
    session.run("python", "-m", "envdoctor.docs", *(session.posargs or ["--check"]))


def _torch_target(session: nox.Session) -> Path:
    """Make the venv that has torch, beside the one that the tests run in."""
    target = Path(session.virtualenv.location, "torch-target").resolve()
    if not _has(target, "torch", TORCH):
        pip = _emptied(session, target)
        _refuse_gigabytes(session, pip)
        session.run(*pip, f"torch=={TORCH}")
    return target


def _triton_target(session: nox.Session, version: str) -> Path:
    """Make a venv that has this triton alone."""
    target = Path(session.virtualenv.location, f"triton-{version}").resolve()
    if not _has(target, "triton", version):
        session.run(*_emptied(session, target), f"triton=={version}", success_codes=[0, 1])
        if not _has(target, "triton", version):
            _cannot(session, f"pip finds no triton {version} for this machine")
    return target


def _has(target: Path, name: str, version: str) -> bool:
    return any(target.glob(f"lib/python*/site-packages/{name}-{version}*.dist-info"))


def _emptied(session: nox.Session, target: Path) -> tuple[str, ...]:
    """Make a venv without anything; return the command that installs into it."""
    session.run("python", "-m", "venv", "--without-pip", "--clear", str(target), silent=True)
    return ("python", "-m", "pip", "--python", str(target / "bin" / "python"), "install", "--quiet")


def _refuse_gigabytes(session: nox.Session, pip: tuple[str, ...]) -> None:
    """Go no further if the index at hand gives a CUDA build, which drags in several GB of nvidia packages."""
    report = Path(session.create_tmp(), "torch.json").resolve()
    report.unlink(missing_ok=True)
    session.run(*pip, "--dry-run", "--report", str(report), f"torch=={TORCH}", success_codes=[0, 1])
    if not report.exists():
        _cannot(session, f"pip finds no torch {TORCH} for this machine")
    names = [item["metadata"]["name"] for item in json.loads(report.read_text(encoding="utf-8"))["install"]]
    nvidia = sorted(name for name in names if name.startswith(("nvidia-", "nvidia_", "cuda-")))
    if nvidia:
        _cannot(
            session, f"torch {TORCH} from this index is a CUDA build with {', '.join(nvidia)}; give pip a CPU build"
        )


def _cannot(session: nox.Session, reason: str) -> None:
    """Skip, with the reason; in CI nothing may go untested unnoticed, so there it is an error."""
    if os.environ.get("CI"):
        session.error(reason)
    session.skip(reason)
