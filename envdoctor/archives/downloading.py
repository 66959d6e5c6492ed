"""One run of `pip download`: nothing but locked files, for the target's tags, hash-checked by pip and once more here.

pip runs under the doctor's own interpreter and is told the target's tags: then it is one process, which ends with the
doctor, and no code of the target's runs. It has all files of a run before it hands over the first.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from envdoctor.archives.narrowing import Narrowed, Pin
from envdoctor.archives.pipfaults import without_progress
from envdoctor.archives.sources import PIP, Told, cwd
from envdoctor.printable import printable
from envdoctor.progress import Work
from envdoctor.system.host import Completed
from envdoctor.system.tool import perform

PATIENCE = 86400.0
"""Seconds for one run; pip itself gives up on a connection that is silent (its option --timeout)."""
_RELEASE = re.compile(r"\d+(?:\.\d+)*")
_LOGIN = re.compile(r"(?<=://)\*\*\*\*@")
"""What the model leaves of a user and password; netrc and keyring may have them."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """How it is tried."""

    by_url: frozenset[str] = frozenset()
    """Names of packages that are asked for at the address in the lock, not at an index."""
    wide: bool = False
    """True to look on the indexes that the lock names as well."""
    fresh: bool = False
    """True to pass over pip's own cache."""


def wishes(pins: Iterable[Pin], told: Told, attempt: Attempt) -> str:
    """Return the requirements file of a run."""
    lines = [*told.lines, *(told.others if attempt.wide else ())]
    for pin in pins:
        url = _LOGIN.sub("", pin.url)
        wish = f"{pin.name} @ {url}" if pin.name in attempt.by_url else f"{pin.name}{pin.operator}{pin.version}"
        lines.append(" ".join([wish, *(f"--hash={digest}" for digest in pin.hashes)]))
    return "".join(f"{line}\n" for line in lines)


def target(narrowed: Narrowed) -> list[str]:
    """Return the options by which pip takes wheels for the target, wherever it runs itself."""
    abis = dict.fromkeys(tag.split("-")[1] for tag in narrowed.tags[:1])
    platforms = dict.fromkeys(platform for tag in narrowed.tags if (platform := tag.split("-", 2)[2]) != "any")
    version = _RELEASE.match(narrowed.python)
    return [
        *("--implementation", "cp"),
        *(("--python-version", version[0]) if version else ()),
        *(word for abi in abis for word in ("--abi", abi)),
        *(word for platform in platforms for word in ("--platform", platform)),
    ]


@dataclass(slots=True)
class Download:
    """Runs pip into a directory of the store's."""

    folder: str
    told: Told
    work: Work
    heard: Callable[[str, int, int], None] = lambda *_: None
    """Given a file name, and bytes that have come and that are to come, 0 where that is not known."""
    runs: int = 0

    def wheels(self, pins: Sequence[Pin], narrowed: Narrowed, attempt: Attempt) -> tuple[Completed, str]:
        """Fetch wheels; return how it ended and the directory that holds what came."""
        return self._run([], pins, attempt, ["--only-binary", ":all:", *target(narrowed)])

    def source(self, pin: Pin, python: str, attempt: Attempt) -> tuple[Completed, str]:
        """Fetch one source archive; pip runs its code for the metadata, under the target's interpreter."""
        return self._run(["--python", python], [pin], attempt, ["--only-binary", ":all:", "--no-binary", pin.name])

    def _run(
        self, runner: Sequence[str], pins: Sequence[Pin], attempt: Attempt, options: Sequence[str]
    ) -> tuple[Completed, str]:
        self.runs += 1
        out, wished = (os.path.join(self.folder, f"{what}{self.runs}") for what in ("files", "wishes"))
        with open(wished, "x", encoding="utf-8", opener=_private) as stream:
            stream.write(wishes(pins, self.told, attempt))
        checks = [
            "--no-deps",
            "--require-hashes",
            "--progress-bar",
            "raw",
            *(["--no-cache-dir"] if attempt.fresh else []),
        ]
        argv = [*PIP, *runner, "download", *checks, *options, "-d", out, "-r", wished]
        self.work.log(f"$ {shlex.join(argv)}\n".encode())
        ear = Ear(self.work.log, self.heard)
        env, held = self.told.env, self.work.held
        done = perform(argv, env=env, cwd=cwd(self.work.host), timeout=PATIENCE, held=held, heard=ear)
        os.unlink(wished)
        text = without_progress(done.stdout.decode(errors="replace"))
        return Completed(done.status, text.encode(), done.problem), out


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


_FILE = re.compile(rb"\s+(?:Downloading|Using cached) (?:\S*/)?([^\s/]+)")
_PROGRESS = re.compile(rb"Progress (\d+) of (\d+)\s*")


@dataclass(slots=True)
class Ear:
    """Hears what pip prints: how far it is, and what goes to the log."""

    log: Callable[[bytes], None]
    heard: Callable[[str, int, int], None]
    file: str = ""
    rest: bytes = field(default=b"")

    def __call__(self, block: bytes) -> None:
        """Take the next block."""
        *whole, self.rest = (self.rest + block).split(b"\n")
        for line in whole:
            if match := _PROGRESS.fullmatch(line):
                self.heard(self.file, int(match[1]), int(match[2]))
                continue
            self.log(line + b"\n")
            if match := _FILE.match(line):
                self.file = printable(match[1].decode(errors="replace"))
                self.heard(self.file, 0, 0)
