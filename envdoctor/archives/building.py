"""Build a wheel from a source archive whose digest is in the lock; the configuration has to allow it by name.

pip builds it in isolation: what the build needs comes from where pip is configured to look, and offline from the
directories that were named. That is not locked, so a build may come out otherwise tomorrow: the wheel is kept, and
taken again for the same source archive and the same kind of target.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from envdoctor.archives import Archive
from envdoctor.archives.choosing import Chooser
from envdoctor.archives.downloading import PATIENCE
from envdoctor.archives.narrowing import Pin
from envdoctor.archives.sources import PIP, Told, cwd
from envdoctor.archives.store import Store
from envdoctor.errors import EnvDoctorError, StepError
from envdoctor.locks.text import normalised
from envdoctor.printable import last_lines, printable
from envdoctor.progress import Progress, Work
from envdoctor.system.host import write_all, write_atomically
from envdoctor.system.reading import regular
from envdoctor.system.tool import perform

LIMIT = 4096
"""Bytes of a record."""
_KEY = re.compile(r"[^A-Za-z0-9_.-]")


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds for one target."""

    python: str
    """Its interpreter; "" where it is not of this machine, and nothing can be built."""
    tags: Sequence[str]
    told: Told
    offline: bool
    find_links: Sequence[str]
    store: Store
    work: Work

    def built(self, pin: Pin, source: Archive) -> Archive | None:
        """Return the wheel that was built here before; None if there is none any more that is what it was."""
        try:
            said = json.loads(regular(self._record(source), LIMIT, follow=False))
            digest = str(said["wheel"])
        except (OSError, ValueError, LookupError, TypeError):
            return None
        chooser = Chooser(self.tags)
        found = self.store.find((f"sha256:{digest}",), chooser.rank)
        return replace(found, built_from=source.sha256) if found and found.name == pin.name else None

    def build(self, pin: Pin, source: Archive) -> Archive:
        """Return the wheel, built if need be. Raises StepError."""
        found = self.built(pin, source)
        if found is not None:
            return found
        if not self.python:
            raise StepError("build", f"{pin.label} comes as source, and only the target's own Python can build it")
        self.work.tell(Progress("build", printable(source.filename)))
        with self.store.incoming() as folder:
            wheel = self._run(pin, source, folder)
            archive = replace(self.store.put(wheel), built_from=source.sha256)
        self._remember(source, archive)
        return archive

    def _run(self, pin: Pin, source: Archive, folder: str) -> str:
        """Run pip; return the path of the one wheel that came out."""
        wished, out = os.path.join(folder, "wishes"), os.path.join(folder, "files")
        with open(wished, "x", encoding="utf-8") as stream:
            stream.write(f"{pin.name} @ file://{quote(source.path)} --hash=sha256:{source.sha256}\n")
        places = [word for link in self.find_links for word in ("--find-links", link)]
        checks = ["--no-deps", "--no-cache-dir", "--no-binary", pin.name, "--progress-bar", "off"]
        where = ["--no-index"] if self.offline else []
        argv = [*PIP, "--python", self.python, "wheel", *checks, *where, *places, "-w", out, "-r", wished]
        self.work.log(f"$ {shlex.join(argv)}\n".encode())
        env = {**self.told.env, "PIP_REQUIRE_HASHES": "0"}  # a frozen environment's setting would reach the build, too
        held, log = self.work.held, self.work.log
        done = perform(argv, env=env, cwd=cwd(self.work.host), timeout=PATIENCE, held=held, heard=log)
        if done.problem is not None or done.status:
            said = last_lines(done.stdout.decode(errors="replace"))
            advice = f"build a wheel of {pin.label} where that is known to work, and lock that"
            raise StepError("build", f"{pin.label} cannot be built from {source.filename}", said, advice)
        return self._fit(pin, source, out)

    def _fit(self, pin: Pin, source: Archive, folder: str) -> str:
        wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
        good = [name for name in wheels if Chooser(self.tags).fits(name) and _project(name) == pin.name]
        if len(good) != 1:
            came = ", ".join(map(printable, wheels)) or "nothing"
            raise StepError("build", f"{source.filename} gave {came}, which is no wheel of {pin.name} for this target")
        return os.path.join(folder, good[0])

    def _record(self, source: Archive) -> str:
        key = _KEY.sub("_", f"{source.sha256}-{self.tags[0] if self.tags else ''}")
        return os.path.join(self.store.folder, "built", f"{key}.json")

    def _remember(self, source: Archive, archive: Archive) -> None:
        data = json.dumps({"wheel": archive.sha256, "file": archive.filename}).encode()
        try:
            write_atomically(self._record(source), lambda file: write_all(file, data), mode=0o600)
        except EnvDoctorError as error:
            raise StepError("build", str(error)) from error


def _project(wheel: str) -> str:
    return normalised(wheel.partition("-")[0])
