"""The installers, and how each puts a store's archives into a venv: no index, no network, no build, no shared cache.

Flags as uv 0.13.9 and pip 26.3 have them. Both check every archive's sha256 against the requirements file, and neither
checks what it then writes: that is proving.py's. Byte code is left out here and made after the proof (compiling.py).
uv with --no-cache unpacks into a directory below TMPDIR and copies from there.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from envdoctor.archives import Archive
from envdoctor.errors import StepError, UsageError
from envdoctor.installing import calling, contents
from envdoctor.printable import printable
from envdoctor.progress import Progress, Work
from envdoctor.system.host import Host
from envdoctor.system.zips import UNREADABLE

WITHIN = 7200.0
"""Seconds; 7 GB take a minute or two on a local disk."""
REQUIREMENTS = "requirements.txt"
"""Name of the generated file in the folder of links."""
_LOOK = 0.5
"""Seconds between two looks at how far it is."""
Name = Literal["uv", "pip"]


@dataclass(frozen=True, slots=True)
class Installer:
    """A tool that installs."""

    name: Name
    path: str
    """uv itself, or what runs pip in another Python's place."""
    version: str

    def __str__(self) -> str:
        """Return name and version."""
        return f"{self.name} {self.version}"

    def command(self, python: str) -> list[str]:
        """Return the beginning of its command line: an install into the venv of `python`, with nothing from afar."""
        if self.name == "uv":
            none = ["--no-config", "--no-python-downloads", "--offline", "--no-index", "--no-cache", "--color", "never"]
            return [self.path, "pip", "install", "--python", python, *none, "--link-mode", "copy"]
        none = ["--isolated", "--no-input", "--no-index", "--no-cache-dir", "--disable-pip-version-check", "--no-color"]
        wanted = ["--no-compile", "--no-warn-script-location", "--progress-bar", "off"]
        return [python, "-I", "-B", self.path, "install", *none, *wanted]


def choose(wish: Name | None, host: Host) -> Installer:
    """Return the installer that was wished for, else uv if there is one, else pip. Raises UsageError if it is absent.

    uv is looked for beside the Python that runs envdoctor, then on PATH.
    """
    if wish != "pip":
        beside = os.path.join(os.path.dirname(sys.executable), "uv")
        path = beside if os.access(beside, os.X_OK) else shutil.which("uv", path=host.env.get("PATH", os.defpath))
        version = _version([path, "--version"], host) if path else ""
        if path and version:
            return Installer("uv", path, version)
        if wish == "uv":
            raise UsageError("--installer uv: there is no uv that runs, neither beside envdoctor nor on PATH")
    runner = _pips_runner()
    version = _version([sys.executable, "-I", runner, "--version"], host) if runner else ""
    if not version:
        raise UsageError("neither uv nor pip runs beside envdoctor: install one of them into envdoctor's environment")
    return Installer("pip", runner, version)


def _pips_runner() -> str:
    """Return the script by which pip runs itself in the Python that its --python names; "" if there is no pip.

    Called as pip calls it (pip/_internal/cli/main_parser.py), but as a child of ours: what `pip --python` starts
    neither dies with the doctor nor inherits the target's lock.
    """
    found = importlib.util.find_spec("pip")
    path = os.path.join(os.path.dirname(found.origin), "__pip-runner__.py") if found and found.origin else ""
    return path if os.path.isfile(path) else ""


def _version(argv: list[str], host: Host) -> str:
    done = host.run(argv, timeout=30.0, env=calling.bare(host.env))
    match = re.search(rb"\d+(?:\.\w+)+", done.stdout) if done.status == 0 else None
    return match[0].decode() if match else ""


def install(installer: Installer, python: str, archives: Sequence[Archive], links: str, work: Work) -> None:
    """Install the archives, which lie in the folder `links` under their own names, and nothing else. Raises StepError.

    The requirements file is written into that folder. uv unpacks everything in `work.temporary` first, which is not
    removed if uv is killed.
    """
    _refuse_hostile(archives)
    listed = os.path.join(links, REQUIREMENTS)
    try:
        with open(listed, "w", encoding="utf-8") as stream:
            stream.write(requirements(archives))
    except OSError as error:
        raise StepError("install", f"{listed}: cannot be written: {error.strerror}") from error
    # named from within: uv takes a comma in a path for the end of it, and # and % for parts of a URL
    wanted = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--find-links", ".", "-r", REQUIREMENTS]
    argv = [*installer.command(python), *wanted]
    with watched(os.path.dirname(os.path.dirname(python)), len(archives), work):
        done = calling.run(argv, work, env=calling.bare(work.host.env), cwd=links, within=WITHIN)
    if done.fault:
        raise calling.failure("install", str(installer), done)


def _refuse_hostile(archives: Sequence[Archive]) -> None:
    for archive in archives:
        try:
            outside = contents.leads_out(archive)
        except UNREADABLE as error:
            raise StepError("install", f"{archive.path}: cannot be read as a wheel: {error}") from error
        if outside:
            raise StepError("install", f"{archive.path}: {printable(repr(outside))} leads out of the environment")


def requirements(archives: Sequence[Archive]) -> str:
    """Return a requirements file that allows these very archives."""
    return "".join(f"{item.name}=={item.version} --hash=sha256:{item.sha256}\n" for item in archives)


@contextmanager
def watched(prefix: str, total: int, work: Work) -> Iterator[None]:
    """Tell, while a tool is at work, how many packages have their metadata in place: uv says nothing until its end."""
    over = threading.Event()
    watch = threading.Thread(target=_watch, args=(prefix, total, over, work.tell), daemon=True)
    work.tell(Progress("install", "", 0, total, "packages"))
    watch.start()
    try:
        yield
    finally:
        over.set()
        watch.join()
    work.tell(Progress("install", "", total, total, "packages"))


def _watch(prefix: str, total: int, over: threading.Event, tell: Callable[[Progress], None]) -> None:
    seen = _installed(prefix)
    while not over.wait(_LOOK):
        done = _installed(prefix) - seen
        tell(Progress("install", "", max(0, min(done, total)), total, "packages"))


def _installed(prefix: str) -> int:
    """Count the distributions that are there."""
    count = 0
    try:
        for name in os.listdir(os.path.join(prefix, "lib")):
            site = os.path.join(prefix, "lib", name, "site-packages")
            count += sum(entry.endswith(".dist-info") for entry in os.listdir(site))
    except OSError:
        return count
    return count
