"""A small training environment and the serving stack that contaminates it, staged with real installers and no network.

The wheels are stand-ins: they bear the names, versions and exact pins of a real case, and a few lines of code each.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.model import Report
from envdoctor.system.host import LocalHost
from envdoctor.wheels import Wheel, requirements_lock

INSTALL_WITHIN = 120.0
"""Seconds for one installer; it takes about two."""
AGE = 21 * 86400
"""Seconds by which the training set is made older than the contamination."""
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""Variables that an installer may see: none that point it at an index, a cache or a configuration."""

TORCH_VERSION = """\
from typing import Optional

__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'xpu']
__version__ = '2.11.0+cu128'
debug = False
cuda: Optional[str] = '12.8'
git_version = '0000000000000000000000000000000000000000'
hip: Optional[str] = None
xpu: Optional[str] = None
"""

TRAINING: Mapping[str, tuple[str, ...]] = {
    "torch==2.11.0+cu128": ("filelock", "typing-extensions", "sympy", "networkx", "jinja2", "fsspec", "triton==3.6.0"),
    "triton==3.6.0": (),
    "transformers==5.6.0": ("huggingface-hub>=1.0", "numpy", "pyyaml", "safetensors", "tokenizers", "tqdm"),
    "accelerate==1.12.0": ("huggingface-hub", "numpy", "psutil", "safetensors", "torch>=2.0"),
    "datasets==4.4.1": ("fsspec", "huggingface-hub", "numpy", "pyyaml", "tqdm"),
    "tokenizers==0.22.1": ("huggingface-hub>=1.0",),
    "huggingface-hub==1.2.0": ("filelock", "fsspec", "pyyaml", "tqdm"),
    "safetensors==0.7.0": (),
    "numpy==2.3.5": (),
    "sympy==1.14.0": ("mpmath",),
    "mpmath==1.3.0": (),
    "networkx==3.6": (),
    "jinja2==3.1.6": ("markupsafe",),
    "markupsafe==3.0.3": (),
    "filelock==3.20.0": (),
    "fsspec==2025.10.0": (),
    "typing-extensions==4.15.0": (),
    "pyyaml==6.0.3": (),
    "psutil==7.1.3": (),
    "tqdm==4.67.1": (),
}
"""`name==version` -> what it requires: what the lock holds."""

SERVING: Mapping[str, tuple[str, ...]] = {
    "sglang==0.5.9": (
        *("transformers==5.8.1", "flashinfer-python==0.6.13", "tilelang==0.1.12", "torch"),
        *("fastapi", "uvicorn", "openai", "orjson", "python-multipart", "pyzmq", "prometheus-client"),
    ),
    "flashinfer-python==0.6.13": ("apache-tvm-ffi", "numpy", "torch", "tqdm"),
    "tilelang==0.1.12": ("apache-tvm-ffi", "cloudpickle", "numpy", "torch", "tqdm"),
    "apache-tvm-ffi==0.1.11": ("typing-extensions",),
    "transformers==5.8.1": TRAINING["transformers==5.6.0"],
    "cloudpickle==3.1.2": (),
    "fastapi==0.124.0": ("pydantic", "starlette", "typing-extensions"),
    "starlette==0.50.0": ("anyio",),
    "pydantic==2.12.5": ("annotated-types", "typing-extensions"),
    "annotated-types==0.7.0": (),
    "anyio==4.12.0": ("idna",),
    "idna==3.11": (),
    "uvicorn==0.38.0": ("click", "h11"),
    "click==8.3.1": (),
    "h11==0.16.0": (),
    "openai==2.8.0": ("anyio", "httpx", "pydantic", "tqdm"),
    "httpx==0.28.1": ("anyio", "h11", "idna"),
    "orjson==3.11.4": (),
    "python-multipart==0.0.20": (),
    "pyzmq==27.1.0": (),
    "prometheus-client==0.23.1": (),
}
"""What `pip install sglang` may choose from, beside what is there."""

MACHINE = ("cuda", "node", "cache", "compile", "packages/torch-cpu-build")
"""Left out of the demo: the stand-in for torch means nothing to this machine's GPUs, toolkits and compile caches."""
READING = """\
How to read it. `pip check` is content with this environment; the lock is not:
- One install brought everything in the first block: what is foreign, what came with it, and which locked package it \
moved. One block, one cause, one list of steps; `--format json` has every finding on its own.
- The edited file has nothing to do with that install and stands alone.
- The exit status is {status}: 0 nothing at or above --fail-on, 1 findings, 2 usage, 3 the doctor could not do its work.
- `envdoctor explain packages/foreign` says why it matters. In your own project, `envdoctor check` does all this."""


@dataclass(frozen=True, slots=True)
class Staged:
    """Where everything is. All paths are absolute."""

    folder: str
    """The project."""
    prefix: str
    """The contaminated venv."""
    lock: str
    """The hashed lock that the venv was made from."""
    altered: str
    """The file that was edited after its install."""


def play(keep: str | None, say: Callable[[str], None], show: Callable[[Report], None]) -> None:
    """Stage the case, check it, and say how to read what the check says.

    With `keep` the project is built in that new directory and stays; otherwise nothing is left behind.
    Raises UsageError if the directory holds something already.
    """
    if keep is not None:
        if os.path.lexists(keep) and not (os.path.isdir(keep) and not os.listdir(keep)):
            raise UsageError(f"--keep {keep}: is there already; name a new or empty directory")
        os.makedirs(keep, exist_ok=True)
        _play(keep, say, show)
        say(f"kept in {keep}; try: envdoctor check --target {os.path.join(keep, '.venv')}")
        return
    with tempfile.TemporaryDirectory(prefix="envdoctor-demo-") as folder:
        _play(folder, say, show)


def _play(folder: str, say: Callable[[str], None], show: Callable[[Report], None]) -> None:
    from envdoctor import workflows

    staged = stage(folder, lambda step: say(f"- {step}"))
    apart = " ".join(f"--ignore {probe}" for probe in MACHINE)
    say(f"- envdoctor check --target {staged.prefix} --lock {staged.lock} {apart}")
    host = LocalHost()
    quiet = LocalHost(env={name: host.env[name] for name in _KEPT if name in host.env})
    report = workflows.check(
        workflows.Wish(staged.prefix, staged.lock),
        workflows.Selection(ignore=MACHINE, plugins=False),
        quiet,
        keep=False,
    )
    show(report)
    for paragraph in READING.splitlines():
        say(paragraph.format(status=report.status()))


def stage(folder: str, say: Callable[[str], None]) -> Staged:
    """Build the project in an existing folder, telling each step; takes a few seconds.

    Raises EnvDoctorError if no installer is at hand, a step fails or the folder cannot be written.
    """
    try:
        return _stage(os.path.abspath(folder), say)
    except OSError as error:
        raise EnvDoctorError(f"{error.filename or folder}: cannot be written: {error.strerror or error}") from error


def _stage(folder: str, say: Callable[[str], None]) -> Staged:
    wheelhouse, prefix = os.path.join(folder, "wheelhouse"), os.path.join(folder, ".venv")
    installer = _installer(os.path.join(prefix, "bin", "python"), wheelhouse)
    training = _wheels(TRAINING)
    lock = _locked(training, os.path.join(folder, "lockfiles"))
    for wheel in (*training, *_wheels(SERVING)):
        wheel.build(wheelhouse)
    say(f"making a training venv from {len(training)} locked packages")
    _run([sys.executable, "-m", "venv", "--without-pip", prefix])
    _run([*installer, "--require-hashes", "-r", lock])
    _age(prefix)
    say("three weeks later: pip install sglang")
    _run([*installer, "sglang"])
    say("and somebody edits accelerate in place")
    return Staged(folder, prefix, lock, _edited(prefix, "accelerate"))


def _installer(python: str, wheelhouse: str) -> list[str]:
    """Return the start of an install command that reaches only the wheelhouse."""
    source = ["--no-index", "--find-links", wheelhouse]
    if find_spec("pip") is not None:
        quick = ["--no-compile", "--no-cache-dir", "--disable-pip-version-check", "--quiet"]
        return [sys.executable, "-m", "pip", "--python", python, "install", *quick, *source]
    uv = shutil.which("uv")
    if uv is not None:
        # Copies, since a hard link would let the edit reach the cache.
        quick = ["--offline", "--no-config", "--no-cache", "--link-mode", "copy", "--quiet"]
        return [uv, "pip", "install", "--python", python, *quick, *source]
    raise EnvDoctorError(f"the demo needs pip or uv: {sys.executable} -m ensurepip")


def _wheels(chosen: Mapping[str, tuple[str, ...]]) -> list[Wheel]:
    return [_wheel(pin, requires) for pin, requires in chosen.items()]


def _wheel(pin: str, requires: tuple[str, ...]) -> Wheel:
    name, version = pin.split("==")
    package = name.replace("-", "_")
    files = {f"{package}/__init__.py": f"__version__ = {version!r}\n"}
    if name == "torch":
        files["torch/version.py"] = TORCH_VERSION
    return Wheel(name, version, files, requires)


def _run(argv: Sequence[str]) -> None:
    host = LocalHost()
    env = {name: host.env[name] for name in _KEPT if name in host.env}
    done = host.run(argv, timeout=INSTALL_WITHIN, env=env | {"PIP_CONFIG_FILE": os.devnull})
    if done.fault:
        raise EnvDoctorError(f"the demo could not be staged: `{' '.join(argv)}` {done.fault}")


def _age(prefix: str) -> None:
    """Move all times back, as they are to each other: two installs within a few seconds would look like one batch."""
    for folder, folders, files in os.walk(prefix):
        for path in (os.path.join(folder, name) for name in (*folders, *files)):
            then = os.lstat(path).st_mtime - AGE
            os.utime(path, (then, then), follow_symlinks=False)


def _locked(wheels: Sequence[Wheel], folder: str) -> str:
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "train.txt")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(requirements_lock(wheels))
    return path


def _edited(prefix: str, package: str) -> str:
    site = sysconfig.get_path("purelib", "venv", {"base": prefix})
    path = os.path.join(site, package, "__init__.py")
    with open(path, "a", encoding="utf-8") as stream:
        stream.write("print('a quick fix')\n")
    return path
