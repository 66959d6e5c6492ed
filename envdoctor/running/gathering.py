"""Everything that is read before a command starts, each in a forked child: nothing of it can hang this process."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from envdoctor import activation, envs, snapshot
from envdoctor.errors import EnvDoctorError
from envdoctor.facts.cache_places import places
from envdoctor.facts.compile_caches import CompileCaches, directories
from envdoctor.facts.node import Node, mounts
from envdoctor.locate import Wish, locate
from envdoctor.model import Target, Unavailable
from envdoctor.policy import Policy
from envdoctor.running.unguarded import PYTHON
from envdoctor.system import becoming
from envdoctor.system.forked import Task, gather
from envdoctor.system.host import LocalHost


@dataclass(frozen=True, slots=True)
class Found:
    """The target, and the policy it is judged by."""

    target: Target
    policy: Policy
    venv: bool


def find(wish: Wish, host: LocalHost) -> Found:
    """Find the target. Raises UsageError as `check` does."""
    target, policy = locate(wish, host)
    return Found(target, policy, activation.is_venv(target.prefix))


def read(
    target: Target,
    host: LocalHost,
    facts: Collection[str],
    command: Sequence[str],
    *,
    deadline: float,
    meanwhile: Iterable[object] = (),
) -> Mapping[str, Any]:
    """Return facts by name, and beside them `caches`, `other_caches`, `node` (mounts alone) and `elsewhere`."""
    work = snapshot.tasks(target, host, facts, deadline=deadline)
    work += [Task("directories", partial(_directories, target, host))]
    work += [Task("elsewhere", partial(_elsewhere, command[0], target, host))]
    found = gather(work, deadline=deadline, meanwhile=meanwhile)
    lying = found.pop("directories")
    now, others, node = (lying,) * 3 if isinstance(lying, Unavailable) else lying
    return {**found, "caches": now, "other_caches": others, "node": node}


def own_folder(target: Target, host: LocalHost) -> str:
    """Return where this user's caches for a target lie, if not where they would by themselves."""
    cache = host.env.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):  # the XDG base directory specification: a relative one is to be ignored
        cache = os.path.join(host.home, ".cache")
    return os.path.join(cache, "envdoctor", "compile", envs.key_of(target.prefix))


def make_folders(folders: Iterable[str]) -> None:
    """Make directories of this user's own, mode 0700. Raises EnvDoctorError if that cannot be."""
    for folder in folders:
        try:
            _make(folder)
        except OSError as error:
            said = error.strerror or error
            raise EnvDoctorError(f"{folder}: cannot be made: {said}; --keep cache-dir leaves caches alone") from error


def _make(folder: str) -> None:
    """Make it, and what is missing above it, for this user alone: os.makedirs leaves that to the umask."""
    if not os.path.isdir(folder):
        _make(os.path.dirname(folder))
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)


def _directories(target: Target, host: LocalHost) -> tuple[CompileCaches, CompileCaches, Node]:
    node = Node(mounts=mounts())
    own = own_folder(target, host)
    moved = {place.variable: os.path.join(own, place.kind) for place in places(host)}
    there = places(replace(host, env={**host.env, **moved}))
    return directories(host, node, places(host)), directories(host, node, there), node


def _elsewhere(name: str, target: Target, host: LocalHost) -> str | None:
    """Return the path of the command's program if that belongs to another environment, or is another Python."""
    path = becoming.found(name, host.env, host.cwd)
    if path is None or _own(path, target):
        return None
    python = PYTHON.match(os.path.basename(path)) is not None
    behind = path if python else os.path.realpath(path)
    if _own(behind, target):
        return None
    return path if python or any(map(_in_environment, (path, behind))) else None


def _own(path: str, target: Target) -> bool:
    return os.path.realpath(os.path.dirname(path)) == os.path.realpath(os.path.join(target.prefix, "bin"))


def _in_environment(path: str) -> bool:
    folder = os.path.dirname(path)
    marks = (os.path.join(os.path.dirname(folder), mark) for mark in ("pyvenv.cfg", "conda-meta"))
    return os.path.basename(folder) == "bin" and any(map(os.path.exists, marks))
