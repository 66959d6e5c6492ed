"""NVIDIA's command-line tools (nvcc, ptxas): where they are, and which version they are."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass, field

from envdoctor.model import Target
from envdoctor.system.host import Host

RUN_WITHIN = 5.0
"""Seconds for all tools of one fact together; `nvcc --version` takes a few milliseconds."""
TOOL_LIMIT = 256 << 20
"""Bytes of a program that are searched for its version; nvcc 13.0 has 29 MiB, ptxas-blackwell of triton 3.9 has 50."""
_VERSION = re.compile(r"release (\d+\.\d+)(?:, V(\d+(?:\.\d+)+))?")
_MARK = b"Cuda compilation tools, release "
_RELEASE = re.compile(r"\d+\.\d+")
_KEPT = ("PATH", "LD_LIBRARY_PATH", "LANG")


def parse_version(text: str) -> str | None:
    """Return the version in what nvcc and ptxas print for --version: `12.8.93` of `release 12.8, V12.8.93`."""
    match = _VERSION.search(text)
    return (match[2] or match[1]) if match else None


def release(version: str | None) -> str | None:
    """Return the CUDA release of a tool's or toolkit's version, its first two numbers: `12.8` of `12.8.93`."""
    match = _RELEASE.match(version or "")
    return match[0] if match else None


def number(version: str) -> tuple[int, ...]:
    """Return a release or a tool's version as numbers, to be compared: (12, 8) of `12.8`."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def which(name: str, host: Host) -> str | None:
    """Look a command up on the caller's PATH, below the root if there is one; return the host's name for it."""
    for folder in host.env.get("PATH", "").split(os.pathsep):
        path = os.path.normpath(os.path.join(host.cwd, folder, name))
        if runnable(path, host):
            return path
    return None


def runnable(path: str, host: Host) -> bool:
    """Tell whether a host path is a program."""
    there = host.at(host.resolve(path))
    return os.path.isfile(there) and os.access(there, os.X_OK)


def host_name(path: str, host: Host) -> str | None:
    """Return the host's name for a path as the caller sees it (a target's); None if it lies outside the root."""
    if not host.root:
        return path
    root = host.root.rstrip("/")
    return path[len(root) :] or "/" if path == root or path.startswith(f"{root}/") else None


@dataclass(slots=True)
class Versions:
    """Asks tools for their versions, with one limit for all of them."""

    host: Host
    run: bool
    """False: nothing is started, versions are only read from the programs' files."""
    left: float = field(default=RUN_WITHIN)
    """Seconds."""

    @classmethod
    def of(cls, host: Host, target: Target) -> Versions:
        """Allow tools to be started on this machine, but never by root for somebody else's environment."""
        return cls(host, not (host.root or host.still) and not (os.geteuid() == 0 and _owner(target.prefix) != 0))

    def ask(self, path: str) -> tuple[str | None, str | None]:
        """Return (version, None) or (None, why it is unknown). `path` is the host's name of the tool."""
        problem = None
        if self.run:
            version, problem = self._ran(path)
            if version is not None:
                return version, None
        version = written(self.host.at(self.host.resolve(path)))
        return (version, None) if version else (None, problem or "was not started, and its file names no version")

    def _ran(self, path: str) -> tuple[str | None, str | None]:
        if self.left <= 0:
            return None, "was not started: another tool took all the time"
        began = time.monotonic()
        keep = {name: self.host.env[name] for name in _KEPT if name in self.host.env}
        done = self.host.run([path, "--version"], timeout=self.left, env=keep)
        self.left -= time.monotonic() - began
        version = parse_version(done.stdout.decode(errors="replace"))
        return version, None if version else done.problem or f"printed no version (status {done.status})"


def _owner(path: str) -> int | None:
    try:
        return os.stat(path).st_uid
    except OSError:
        return None


def written(path: str) -> str | None:
    """Find the version in a tool's own file: the line that it prints stands in it as text (read in 12.3 to 13.4)."""
    import mmap

    try:
        if not os.path.isfile(path) or not len(_MARK) <= os.path.getsize(path) <= TOOL_LIMIT:
            return None
        with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            at = content.find(_MARK) if content[:4] == b"\x7fELF" else -1
            return parse_version(content[at : at + 64].decode(errors="replace")) if at >= 0 else None
    except (OSError, ValueError):
        return None
