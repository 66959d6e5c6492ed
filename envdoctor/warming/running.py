"""Run what warms a cache, once for one device, in the target and with all devices visible."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass

from envdoctor.cache import counters
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.model import Target
from envdoctor.system import foreground
from envdoctor.system.host import Host
from envdoctor.system.reading import head
from envdoctor.warming.judging import DEVICE
from envdoctor.warming.values import Asked, Run

PAYLOAD = os.path.join(os.path.dirname(os.path.dirname(__file__)), "payloads", "warm", "entry.py")
_ENTRY = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_RAISED = 4096
"""Bytes of what an entry raised."""


def refuse(asked: Asked, host: Host) -> None:
    """Raise UsageError unless one thing is to be run, and can be."""
    given = [asked.entry is not None, asked.script is not None, bool(asked.command)]
    if sum(given) != 1:
        raise UsageError("name what to run, in one way: --entry pkg.mod:function, --script FILE, or -- CMD...")
    if asked.entry is not None and not _ENTRY.fullmatch(asked.entry):
        raise UsageError(f"--entry: {asked.entry!r} is not of the form pkg.mod:function")
    if asked.script is not None and not os.path.isfile(os.path.join(host.cwd, asked.script)):
        raise UsageError(f"--script: {asked.script}: there is no such file")


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be run, and where."""

    asked: Asked
    target: Target
    host: Host
    root: str
    """The cache."""

    def run(self, device: str) -> Run:
        """Run it to its end. Raises UsageError if the command cannot be started, EnvDoctorError if Python cannot."""
        with tempfile.TemporaryDirectory(prefix="envdoctor-warm-") as folder:
            raised = os.path.join(folder, "raised")
            before = counters.files(self.root)
            began = time.monotonic()
            status = self._started(self._argv(device, raised), self._env(device, folder))
            seconds = time.monotonic() - began
            new = sorted(counters.files(self.root) - before)
            return Run(status, seconds, tuple(counters.told(folder)), tuple(new), _line(raised))

    def alone(self, device: str) -> str:
        """Return the command line that runs it without the doctor; "" for an entry, which has none of its own."""
        if self.asked.entry is not None:
            return ""
        return f"{DEVICE}={device} {shlex.join(self._argv(device, ''))}"

    def _argv(self, device: str, raised: str) -> tuple[str, ...]:
        if self.asked.entry is not None:
            return self.target.python, PAYLOAD, self.asked.entry, device, raised
        if self.asked.script is not None:
            return self.target.python, self.asked.script
        return self.asked.command

    def _env(self, device: str, folder: str) -> Mapping[str, str]:
        cache = self.asked.cache and self.root
        return counters.environment(self.target, self.host, folder, cache) | {DEVICE: device}

    def _started(self, argv: tuple[str, ...], env: Mapping[str, str]) -> int | None:
        try:
            return foreground.run_alone(argv, env=env, cwd=self.host.cwd, limit=self.asked.limit)
        except UsageError as error:
            if self.asked.command:
                raise
            raise EnvDoctorError(str(error)) from error


def _line(path: str) -> str:
    """Return what an entry raised, its first line; "" if it raised nothing."""
    return next(iter(head(path, _RAISED).decode(errors="replace").splitlines()), "")
