"""A project with a contaminated venv, a lock, and the wheels that both came from: what rebuild tests start from."""

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from envdoctor.wheels import Wheel, requirements_lock

FORMER = Wheel("transformers", "5.6.0", {"transformers/__init__.py": "VERSION = '5.6.0'\n"}, ("tokens==1.0",))
MOVED = Wheel("transformers", "5.8.1", {"transformers/__init__.py": "VERSION = '5.8.1'\n"}, ("tokens==1.0",))
TOKENS = Wheel(
    "tokens",
    "1.0",
    {
        "tokens/__init__.py": "",
        "tokens/cli.py": "def main():\n    print('tokens')\n",
        "tokens.pth": "import tokens\n",
        "tokens/late.py": "NAME = 'late'\n",
    },
    console_scripts={"tokens": "tokens.cli:main"},
)
DATA = Wheel("data-tools", "2.0", {"data_tools/__init__.py": "", "data_tools/table.bin": bytes(range(256)) * 64})
SERVING = Wheel("sglang", "0.5.9", {"sglang/__init__.py": ""}, ("transformers==5.8.1",))
LOCKED = (FORMER, TOKENS, DATA)
MACHINE_APART = ("--smoke", "none", "--yes")


@dataclass(frozen=True)
class Lab:
    """One project, its venv, and the doctor."""

    venv: object
    doctor: object

    @property
    def link(self):
        return self.venv.prefix

    @property
    def home(self):
        return self.venv.project / ".envs" / ".venv"

    def variables(self, **more):
        """Return variables that keep the index of the machine, and its store, out of it."""
        own = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "UV_NO_CONFIG": "1"}
        return own | {"XDG_CACHE_HOME": str(self.venv.project / "cache")} | more

    def arguments(self, *options):
        links = ("--find-links", self.venv.wheelhouse)
        return ("rebuild", "--target", self.link, "--lock", self.venv.lock, *links, *MACHINE_APART, *options)

    def rebuild(self, *options, env=None, **more):
        return self.doctor(*self.arguments(*options), cwd=self.venv.project, env=self.variables(**(env or {})), **more)

    def run(self, *words, **env):
        return self.doctor(*words, "--target", self.link, cwd=self.venv.project, env=self.variables(**env))

    def versions(self, prefix=None):
        """Return what is installed, by name."""
        infos = Path(prefix or self.link).glob("lib/python3*/site-packages/*.dist-info")
        found = (path.name.removesuffix(".dist-info").split("-") for path in infos)
        return {name.replace("_", "-"): version for name, version in found}

    def works(self, *words):
        """Run a command of the environment as a job would, by activation; return what it prints."""
        import subprocess

        script = f'. "{self.link}/bin/activate" && {" ".join(words)}'
        done = subprocess.run(
            ["sh", "-c", script], capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]}
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @property
    def active(self):
        return os.path.basename(os.readlink(self.link))

    def left_over(self):
        """Return what lies beside the generations that should not."""
        known = {"lock", "journal.jsonl", "logs", "states"}
        return sorted(path.name for path in self.home.iterdir() if path.name not in known and not is_generation(path))


def is_generation(path):
    return (path / ".envdoctor" / "generation.json").exists() or path.name.startswith("adopted-")


CLEAN = {"transformers": "5.6.0", "tokens": "1.0", "data-tools": "2.0"}
CONTAMINATED = {**CLEAN, "transformers": "5.8.1", "sglang": "0.5.9"}


def lab(folder, new_venv, doctor):
    """Make a project whose venv was made from its lock, and then used for serving."""
    wheelhouse = folder / "wheels"
    for wheel in (*LOCKED, MOVED, SERVING):
        wheel.build(wheelhouse)
    project = folder / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text('[project]\nname = "trainer"\nversion = "1"\n')
    venv = new_venv(project, wheelhouse, requirements_lock(LOCKED))
    venv.uv("--require-hashes", "--no-deps", "-r", venv.lock)  # ten times as quick as pip, and there are many tests
    venv.uv("--no-deps", "sglang==0.5.9", "transformers==5.8.1")
    return Lab(venv, doctor)


@contextlib.contextmanager
def job(*argv, **options):
    """A running process, ended afterwards."""
    import subprocess

    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def kill_after(process, seconds, *, group):
    """Kill a doctor, or the doctor with its tools, after so long; return whether it was still at work."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and process.poll() is None:
        time.sleep(0.002)
    alive = process.poll() is None
    if alive:
        (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
    process.communicate()
    return alive
