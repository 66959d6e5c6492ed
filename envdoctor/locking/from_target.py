"""`envdoctor lock from-target`: what is installed, pinned and hashed; what cannot be is named, nothing is guessed."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from envdoctor import snapshot
from envdoctor.errors import EnvDoctorError, RefusedLockError, UsageError
from envdoctor.facts.distributions import Distributions
from envdoctor.facts.interpreter import Interpreter
from envdoctor.locate import Wish, locate
from envdoctor.locking import outfile, platforms, tidying
from envdoctor.locking.choosing import Goal, find_uv
from envdoctor.locking.compiling import Locked
from envdoctor.locking.installed import Installed, Left, other_versions, remarks, sort_out
from envdoctor.locking.resolvers import Uv, Work, resolve
from envdoctor.locks import header
from envdoctor.locks.header import Header
from envdoctor.model import Unavailable
from envdoctor.system.forked import call
from envdoctor.system.host import Host

WITHIN = 60.0
"""Seconds for finding and reading the environment."""
ABSENT = "the index does not have this release for the environment's Python and platform"
UNHASHED = "its files cannot be had to hash them"
_PIN = re.compile(r"([A-Za-z0-9][\w.-]*)==(\S+)")
Pins = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Taken:
    """A lock of an environment, and what is not in it."""

    locked: Locked
    left: tuple[Left, ...]


def lock_installed(wish: Wish, output: str, host: Host, tell: Callable[[str], None]) -> Taken:
    """Pin all that is installed, with the hashes of all files of each release that the index offers.

    Looked up by uv without dependencies, for the target's own Python and platform; nothing of the target is run but
    its interpreter, with -I -S -B. Raises UsageError, RefusedLockError if nothing can be locked, and EnvDoctorError.
    """
    path = os.path.realpath(os.path.join(host.cwd, os.path.expanduser(output)))
    if outfile.format_of(path, None) != "requirements":
        raise UsageError(f"-o: {output}: is a pylock's name, and this command writes requirements")
    old = outfile.old_lock(path, output)
    if old.pins and (old.header is None or old.header.sources):
        raise UsageError(f"-o: {output}: is there, and was not made by this command; name another file")
    prefix, installed, goal = _read(wish, host)
    uv = find_uv(goal, os.path.dirname(path), host)
    tell(f"{uv} looks up {len(installed.pins)} packages of {prefix}, Python {goal.version} on {goal.platform}")
    with tempfile.TemporaryDirectory(prefix="envdoctor-lock-") as scratch:
        text, missing = _looked_up(installed.pins, partial(_ask, uv, scratch, None), ABSENT)
        text, unhashed = _hashed(text, partial(_ask, uv, scratch, installed.needed))
        missing += unhashed
    left = tuple(sorted((*installed.left, *missing), key=lambda one: one.name))
    if not text:
        raise RefusedLockError(
            f"{prefix}: nothing of it can be locked", tuple(f"{one.name}: {one.reason}" for one in left)
        )
    about = _header(output, goal, uv)
    outfile.put(path, header.comments(about) + text + remarks(left), "requirements", output)
    return Taken(Locked(output, about, len(_PIN.findall(text))), left)


def _header(output: str, goal: Goal, uv: Uv) -> Header:
    command = f"{shlex.join(['envdoctor', 'lock', 'from-target', '-o', os.path.basename(output)])} --target DIR"
    minor = ".".join(goal.version.split(".")[:2])
    return Header(command, str(uv), minor, str(goal.platform))


def _read(wish: Wish, host: Host) -> tuple[str, Installed, Goal]:
    """Read what is installed, and for which Python and platform."""
    target, _ = call("the search for the target", partial(locate, wish, host), timeout=WITHIN)
    taken = snapshot.take(target, host, {"distributions", "interpreter"}, deadline=WITHIN, meanwhile=snapshot.load())
    found, python = taken.distributions, taken.interpreter
    if isinstance(found, Unavailable):
        raise EnvDoctorError(f"{target.prefix}: {found.reason}")
    if isinstance(python, Unavailable) or python.version is None:
        reason = python.reason if isinstance(python, Unavailable) else "its Python's version cannot be told"
        raise EnvDoctorError(f"{target.prefix}: {reason}")
    if not isinstance(found, Distributions) or not found.items:
        raise UsageError(f"{target.prefix}: nothing is installed there")
    return target.prefix, sort_out(found.items), _goal(target.prefix, python)


def _goal(prefix: str, python: Interpreter) -> Goal:
    platform = platforms.of_machine(python.libc, python.markers.get("platform_machine", ""))
    if platform is None:
        raise EnvDoctorError(f"{prefix}: is for no Linux with glibc, as far as its Python says")
    return Goal(python.version or "", None, platform)


def _hashed(text: str, ask: Callable[[Pins], str | None]) -> tuple[str, list[Left]]:
    """Return the text with the hashes of pins for which the index, or a directory, has told none."""
    found = tidying.blocks(text)
    bare = [(match[1], match[2]) for block in found.values() if "--hash" not in block and (match := _PIN.match(block))]
    more, missing = _looked_up(bare, ask, UNHASHED)
    for name, _ in bare:
        del found[name]
    return "".join(block for _, block in sorted((found | tidying.blocks(more)).items())), missing


def _looked_up(pins: Pins, ask: Callable[[Pins], str | None], otherwise: str) -> tuple[str, list[Left]]:
    """Return the text of a lock, and the pins that cannot be had, for the reason `otherwise`.

    `ask` answers for all or none of what it is given: what fails is halved until each that fails stands alone.
    """
    if not pins:
        return "", []
    text = ask(pins)
    if text is not None:
        locked = {match[1]: match[2] for match in _PIN.finditer(text)}
        wrong = other_versions(pins, locked)
        if not wrong:
            return text, []
        names = {one.name for one in wrong}
        again, more = _looked_up([pin for pin in pins if pin[0] not in names], ask, otherwise)
        return again, [*wrong, *more]
    if len(pins) == 1:
        return "", [Left(*pins[0], otherwise)]
    middle = len(pins) // 2
    first, second = (_looked_up(part, ask, otherwise) for part in (pins[:middle], pins[middle:]))
    return first[0] + second[0], [*first[1], *second[1]]


def _ask(uv: Uv, scratch: str, needed: Iterable[str] | None, pins: Pins) -> str | None:
    """Ask for pins with their hashes; None if not all are to be had. Raises ResolverError if nothing can be said.

    Without dependencies uv opens no file, and knows the hashes that an index tells. Given the names of all that may be
    needed it opens each file, and is made to overlook what is not asked for.
    """
    made = os.path.join(scratch, "pins.txt")
    names = {name for name, _ in pins}
    aside = "".join(f'{name} ; sys_platform == "never"\n' for name in sorted(needed or ()) if name not in names)
    for name, text in (("pins.in", tidying.seed(pins)), ("overrides.in", tidying.seed(pins) + aside), ("pins.txt", "")):
        with open(os.path.join(scratch, name), "w", encoding="utf-8") as stream:
            stream.write(text)
    overrides = "" if needed is None else os.path.join(scratch, "overrides.in")
    try:
        resolve(uv, Work(scratch, ("pins.in",), made, deps=needed is not None, overrides=overrides))
    except RefusedLockError:
        return None
    with open(made, encoding="utf-8") as stream:
        return tidying.tidy(stream.read(), lambda _: "")
