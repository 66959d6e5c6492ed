"""envdoctor as a user meets it: a process with arguments, an environment, two streams and an exit status."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import envdoctor

OURS = re.compile(rf'File "{re.escape(os.path.dirname(envdoctor.__file__))}/(?!payloads/)')
"""A frame of a traceback in code that runs in the doctor's own process."""
COMMAND = (sys.executable, "-m", "envdoctor")
WITHIN = 60
"""Seconds that a run may take; one that compiles nothing takes less than one."""


@dataclass(frozen=True)
class Answer:
    """What one run gave."""

    status: int
    stdout: str
    stderr: str

    @property
    def report(self):
        """The JSON report."""
        return json.loads(self.stdout)

    def findings(self, probe=None, severity=None):
        """Return the findings of the JSON report, of one probe or severity if asked."""
        found = self.report["findings"]
        return [f for f in found if probe in (None, f["probe"]) and severity in (None, f["severity"])]

    def said(self, *severities):
        """Return (probe, subject) of every finding of these severities."""
        return {(f["probe"], f["subject"]) for f in self.report["findings"] if f["severity"] in severities}


MACHINE = (
    "cache",
    "cuda",
    "node",
    "environment/missing-headers",
    "environment/no-compiler",
    "packages/torch-cpu-build",
)
"""Probes whose findings depend on the machine: its toolkits, compilers, GPUs and limits."""


class Doctor:
    """Runs envdoctor in a folder, with nothing of the developer's environment but PATH."""

    def __init__(self, folder, within=WITHIN):
        self.folder, self.within = Path(folder), within
        self.home = self.folder / "home"
        self.home.mkdir(exist_ok=True)

    def environment(self, **variables):
        """Return PATH, an empty home, a runtime directory of its own, and what is given; root's state is there too."""
        own = {"HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.home)}
        own["XDG_STATE_HOME"] = str(self.home / ".local" / "state")
        return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **own} | variables

    def __call__(self, *arguments, cwd=None, env=None, **options):
        """Run to the end. No run may ever show a traceback of ours; what a user's code raises is his to see."""
        done = subprocess.run(
            [*COMMAND, *map(os.fspath, arguments)],
            cwd=cwd or self.folder,
            env=self.environment(**(env or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=self.within,
            check=False,
            **options,
        )
        answer = Answer(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert not OURS.search(answer.stderr), answer.stderr
        return answer

    def check(self, target, *options, **more):
        """Run `check --format json` on a target, and leave the machine that the tests run on out of it."""
        apart = () if "--select" in options else [word for probe in MACHINE for word in ("--ignore", probe)]
        return self("check", "--format", "json", "--target", target, *apart, *options, **more)

    def start(self, *arguments, env=None, **options):
        """Start without waiting; the caller ends it."""
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | options
        command = [*COMMAND, *map(os.fspath, arguments)]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment(**(env or {})), **streams)
