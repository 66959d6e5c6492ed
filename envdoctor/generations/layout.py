"""Where the generations of an environment lie.

    <parent>/venv                               link to the active one, relative
    <parent>/.envs/venv/<lock digest>-<time>    a generation, made at this path and never moved
    <parent>/.envs/venv/adopted-<time>          the directory that was `venv` before the first switch
    <parent>/.envs/venv/journal.jsonl, lock, logs/, states/

The path of the link is the identity of the environment.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from envdoctor import envs
from envdoctor.errors import UsageError

ADOPTED = "adopted-"
DIGITS = 12
"""Hexadecimal digits of the lock's digest in a name."""
_NAME = re.compile(r"(?:[0-9a-f]{12}|adopted)-\d{8}T\d{6}Z(?:-\d+)?\Z")
Kind = Literal["missing", "directory", "generation", "elsewhere"]


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of one environment."""

    link: str
    """Absolute; the folder that it lies in has no links in its path."""

    @property
    def parent(self) -> str:
        """The folder that holds the link."""
        return os.path.dirname(self.link)

    @property
    def name(self) -> str:
        """What the link is called."""
        return os.path.basename(self.link)

    @property
    def home(self) -> str:
        """The folder that holds the generations."""
        return envs.home_of(self.link)

    @property
    def journal(self) -> str:
        """The file that says what was made and switched."""
        return os.path.join(self.home, "journal.jsonl")

    @property
    def lock(self) -> str:
        """The file that is held while something is changed."""
        return os.path.join(self.home, "lock")

    @property
    def logs(self) -> str:
        """The folder of what was printed."""
        return os.path.join(self.home, "logs")

    @property
    def states(self) -> str:
        """The folder of how environments were."""
        return os.path.join(self.home, "states")

    def place(self, name: str) -> str:
        """Return where a generation lies."""
        return os.path.join(self.home, name)

    def log(self, name: str) -> str:
        """Return the file that holds what was printed while a generation was made."""
        return os.path.join(self.logs, f"{name}.log")

    def state(self, name: str) -> str:
        """Return the file that says how an environment was when it ceased to be the active one."""
        return os.path.join(self.states, f"{name}.state")

    def outgoing(self, now: datetime) -> str:
        """Return the name that what is active now has once something else is; of a link elsewhere, a made-up one."""
        name = self.active()
        if name is None and os.path.islink(self.link):
            return elsewhere(os.readlink(self.link))
        return name or self.adopted(now)

    def kind(self) -> Kind:
        """Say what lies at the link's path. Raises UsageError if it is no directory."""
        if not os.path.lexists(self.link):
            return "missing"
        if os.path.islink(self.link):
            return "generation" if self.active() else "elsewhere"
        if not os.path.isdir(self.link):
            raise UsageError(f"{self.link}: is no directory")
        return "directory"

    def active(self) -> str | None:
        """Return the name of the generation that the link leads to; None if it leads to none of these."""
        try:
            text = os.readlink(self.link)
        except OSError:
            return None
        folder, name = os.path.split(os.path.normpath(os.path.join(self.parent, text)))
        return name if folder == self.home and _NAME.match(name) else None

    def led_to(self) -> frozenset[str]:
        """Return the generations that links beside this one lead to, itself included, whatever lies in between."""
        found = set()
        with contextlib.suppress(OSError), os.scandir(self.parent) as entries:
            for path in [entry.path for entry in entries if entry.is_symlink()]:
                folder, name = os.path.split(os.path.realpath(path))
                if folder == os.path.realpath(self.home):
                    found.add(name)
        return frozenset(found)

    def current(self) -> str:
        """Return the real path of the environment that is in use; "" if there is none."""
        return os.path.realpath(self.link) if os.path.isdir(self.link) else ""

    def text(self, name: str) -> str:
        """Return what the link says when it leads to a generation."""
        return os.path.join(envs.FOLDER, self.name, name)

    def names(self) -> Iterator[str]:
        """Yield the names of all that lies there under the name of a generation, oldest first."""
        try:
            found = os.listdir(self.home)
        except OSError:
            return
        whole = (name for name in found if _NAME.match(name) and not os.path.islink(self.place(name)))
        yield from sorted(whole, key=lambda name: name.partition("-")[2])

    def new(self, digest: str, now: datetime) -> str:
        """Return a name that is not taken."""
        return self._free(f"{digest[:DIGITS]}-{_stamp(now)}")

    def adopted(self, now: datetime) -> str:
        """Return the name under which a directory in the link's place is kept."""
        return self._free(f"{ADOPTED}{_stamp(now)}")

    def _free(self, name: str) -> str:
        names = (name if number == 1 else f"{name}-{number}" for number in range(1, 1000))
        return next(name for name in names if not os.path.lexists(self.place(name)))


def _stamp(now: datetime) -> str:
    return now.strftime("%Y%m%dT%H%M%SZ")


def elsewhere(text: str) -> str:
    """Return the name under which it is kept how an environment was that is no generation; `text` is the link's."""
    return f"elsewhere-{hashlib.sha256(os.fsencode(text)).hexdigest()[:DIGITS]}"


def of(prefix: str) -> Layout:
    """Return the layout of an environment, however it is named: by its link, a generation of it, a path with links."""
    prefix = os.path.abspath(prefix)
    spelled = _of_generation(prefix) or prefix
    parent, name = os.path.split(spelled)
    plain = os.path.join(os.path.realpath(parent), name)
    return Layout(_of_generation(plain) or plain)


def _of_generation(path: str) -> str:
    """Return the link that a generation belongs to, active or not; "" for anything else."""
    return envs.link_of(path) if _NAME.match(os.path.basename(path)) else ""
