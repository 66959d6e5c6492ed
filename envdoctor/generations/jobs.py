"""Which processes run from an environment, and which of them would mix versions if its link were switched under them.

A Python that was started by activation or by the real path of a generation keeps that version; one that was started
through the link has the link for its `sys.prefix` and loads its next module from wherever that leads by then. At the
first migration, when the directory itself gives way to a link, every one of them mixes. Shells are no Pythons: one that
has the environment activated, or stands in it, is named nowhere, and goes on with the version that it has in PATH. Nor
is VIRTUAL_ENV taken for evidence: it says what a shell has activated, not what was started from it.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from envdoctor.facts.node import network_mount
from envdoctor.generations.spelling import Marks, Spelling, readings
from envdoctor.system import processes
from envdoctor.system.processes import Standing

PROCESSES = 16_384
"""That are looked at."""
NAMED = 5
"""Jobs that a sentence names."""
WITHIN = 5.0
"""Seconds that the search may take."""
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "fish", "tcsh", "csh", "ksh"})
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*[td]*\Z")
"""Names under which environments have their interpreter."""


@dataclass(frozen=True, slots=True)
class Job:
    """A Python that runs from an environment."""

    pid: int
    user: str
    command: str
    """The kernel's short name of it; arguments may hold secrets."""
    how: str
    """How it is known to run from there, one phrase."""


@dataclass(frozen=True, slots=True)
class Jobs:
    """All that run from an environment, as far as this user can see from here."""

    keeping: tuple[Job, ...] = ()
    """Those that a switch of the link leaves on the version that they have."""
    mixing: tuple[Job, ...] = ()
    """Those that would load their next modules from another version; also those of which it cannot be told."""
    unchecked: tuple[str, ...] = ()
    """What could not be looked at, a phrase each."""

    @property
    def blocking(self) -> str:
        """Name the first of those that would mix; "" if there are none."""
        named = [f"process {job.pid} of {job.user} ({job.command}: {job.how})" for job in self.mixing[:NAMED]]
        more = f", and {len(self.mixing) - NAMED} more" if len(self.mixing) > NAMED else ""
        return f"{'; '.join(named)}{more}"


HOW: Mapping[Spelling, str] = {
    "link": "started through the link",
    "directory": "started from the directory that becomes a link",
    "version": "started by the real path, as after activation",
}
BY_PATH: Mapping[Spelling, str] = {
    "link": "its PYTHONPATH leads through the link",
    "directory": "its PYTHONPATH leads into the directory that becomes a link",
    "version": "its PYTHONPATH leads into the real path",
}
BY_SCRIPT: Mapping[Spelling, str] = {
    "link": "runs a file of it through the link",
    "directory": "runs a file of the directory that becomes a link",
    "version": "runs a file of it by the real path",
}
ASKING = ("/envdoctor/payloads/interpreter.py", "-I", "-S", "-B")
"""How a check asks an interpreter what it is: it imports nothing of the environment, now or later."""
UNTOLD = "has files of it open, and it cannot be told how it was started"


@dataclass(slots=True)
class _Search:
    """What is known so far."""

    marks: Marks
    below: str
    """Real path of the environment, with a slash."""
    proc: str
    namespace: str | None
    """Mount namespace of this process."""
    table: Mapping[int, Standing]
    spelled: dict[int, Spelling] = field(default_factory=dict)
    """How each process' own program was spelled."""
    keeping: list[Job] = field(default_factory=list)
    mixing: list[Job] = field(default_factory=list)
    untold: list[int] = field(default_factory=list)
    """Those that run from it, though their command line does not say how."""
    closed: Counter[str] = field(default_factory=Counter)
    """Users of the processes that cannot be looked into."""
    contained: int = 0
    """Pythons in containers of this machine in which the environment may have another path."""


def jobs(link: str, current: str, *, proc: str = "/proc", seconds: float = WITHIN) -> Jobs:
    """Look at every process. `current` is the real path of the active environment: `link`, if that is a directory."""
    ends = time.monotonic() + seconds
    table = {pid: found for pid in sorted(processes.pids(proc)) if (found := processes.standing(f"{proc}/{pid}"))}
    below = os.path.realpath(current).rstrip("/") + "/"
    search = _Search(Marks(link, current), below, proc, processes.link(f"{proc}/self/ns/mnt"), table)
    own = _own(table, proc)
    others = [pid for pid, found in table.items() if pid not in own and found.state not in "ZX" and not found.kernel]
    looked = 0
    for pid in others[:PROCESSES]:
        if time.monotonic() > ends:
            break
        looked += 1
        _look(search, pid)
    for pid in search.untold:
        _inherit(search, pid)
    return Jobs(
        tuple(sorted(search.keeping, key=lambda job: job.pid)),
        tuple(sorted(search.mixing, key=lambda job: job.pid)),
        (*_unseen(search, link), *_late(looked, len(others))),
    )


def _own(table: Mapping[int, Standing], proc: str) -> set[int]:
    """Return this process, and those that it was forked from or into: they have one command line."""
    said = processes.arguments(f"{proc}/{os.getpid()}")
    own, pending = {os.getpid()}, [os.getpid()]
    while said and pending:
        pid = pending.pop()
        parent = table[pid].parent if pid in table else 0
        near = {other for other, found in table.items() if found.parent == pid or other == parent}
        new = {other for other in near - own if processes.arguments(f"{proc}/{other}") == said}
        own |= new
        pending += new
    return own


def _look(search: _Search, pid: int) -> None:
    """Judge one process by what may be read of it."""
    folder = f"{search.proc}/{pid}"
    words = processes.arguments(folder)
    if words[1:4] == ASKING[1:] and words[4:5] and words[4].endswith(ASKING[0]):
        return  # a doctor's question, answered in a moment
    exe = processes.link(f"{folder}/exe")
    env = processes.variables(folder)
    cwd = processes.link(f"{folder}/cwd")
    spelled = search.marks.strongest(readings(words[0], env, cwd)) if words else "unknown"
    search.spelled[pid] = spelled
    if not os.path.isdir(folder):
        return  # it has ended meanwhile
    if exe is None:
        _look_from_outside(search, pid, words, spelled)
        return
    name = os.path.basename(exe)
    held = None if "python" in name or "pypy" in name else [path for path, _ in processes.held(folder)]
    if held is not None and not any(os.path.basename(path).startswith("libpython") for path in held):
        return
    if _elsewhere(search, folder):
        search.contained += 1
    elif not _told(search, pid, spelled, words, env, cwd):
        held = [path for path, how in processes.held(folder) if how != "works there"]
        if any(path.startswith(search.below) for path in held):
            search.untold.append(pid)


def _elsewhere(search: _Search, folder: str) -> bool:
    """Tell whether a process has mounts of its own and does not see the environment where it lies."""
    namespace = processes.link(f"{folder}/ns/mnt")
    if None in (namespace, search.namespace) or namespace == search.namespace:
        return False
    return not search.marks.same(f"{folder}/root{search.below}")


def _told(
    search: _Search, pid: int, spelled: Spelling, words: tuple[str, ...], env: Mapping[str, str] | None, cwd: str | None
) -> bool:
    """Judge a Python by what it was told; False if none of that leads to the environment."""
    entries = (env or {}).get("PYTHONPATH", "").split(":")
    found = [(spelled, HOW), (search.marks.strongest(_below(cwd, filter(None, entries))), BY_PATH)]
    if spelled in ("elsewhere", "unknown") and len(words) > 1 and not words[1].startswith("-"):
        found.append((search.marks.strongest(_below(cwd, words[1:2])), BY_SCRIPT))
    for wanted, judged in ((("link", "directory"), search.mixing), (("version",), search.keeping)):
        for said, phrases in found:
            if said in wanted:
                judged.append(_job(search, pid, phrases[said]))
                return True
    return False


def _below(cwd: str | None, paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        if cwd or path.startswith("/"):
            yield os.path.join(cwd or "/", path)


def _look_from_outside(search: _Search, pid: int, words: tuple[str, ...], spelled: Spelling) -> None:
    """Judge another user's process by its command line alone."""
    program = os.path.basename(words[0]) if words else ""
    if _PYTHON.match(program) and _told(search, pid, spelled, words, None, None):
        return
    a_program = words and words[0].startswith("/") and spelled == "elsewhere" and not _PYTHON.match(program)
    if not a_program and program.lstrip("-") not in SHELLS:
        search.closed[processes.owner(f"{search.proc}/{pid}")] += 1


def _inherit(search: _Search, pid: int) -> None:
    """Judge a process that has renamed itself by what started it: workers are started with their parent's program."""
    at, seen = pid, {pid}
    while search.spelled.get(at) == "unknown" and (at := search.table[at].parent) in search.table and at not in seen:
        seen.add(at)
    spelled = search.spelled.get(at, "unknown")
    if spelled == "version":
        search.keeping.append(_job(search, pid, f"process {at}, which started it, was {HOW[spelled]}"))
    else:
        told = f"process {at}, which started it, was {HOW[spelled]}" if spelled in HOW else UNTOLD
        search.mixing.append(_job(search, pid, told))


def _job(search: _Search, pid: int, how: str) -> Job:
    folder = f"{search.proc}/{pid}"
    return Job(pid, processes.owner(folder), processes.command(folder) or search.table[pid].command, how)


def _unseen(search: _Search, link: str) -> Iterator[str]:
    """Say what could not be looked at."""
    hidden = processes.hidden(search.proc)
    if hidden is not None:
        yield f"there may be processes that cannot be seen from here: {hidden}"
    if mount := network_mount(search.below, search.proc):
        yield f"{link} lies on a network file system ({mount.kind}): what other hosts run from it cannot be seen"
    if search.contained:
        yield f"{_count(search.contained, 'Python')} in containers of this host may have it under another path"
    if search.closed:
        users = sorted(user for user in search.closed if user)
        of = f" of user{'s' if len(users) > 1 else ''} {', '.join(users)}" if users else ""
        yield f"{_count(search.closed.total(), 'process', 'processes')}{of} cannot be looked into"


def _late(looked: int, total: int) -> Iterator[str]:
    if looked < total:
        yield f"{total - looked} of {total} processes were not looked at: there are too many, or it took too long"


def _count(number: int, one: str, several: str = "") -> str:
    return f"{number} {one if number == 1 else several or one + 's'}"
