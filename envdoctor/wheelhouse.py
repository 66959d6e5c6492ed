"""`envdoctor wheelhouse build`: everything that a lock needs for one target, in a directory."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from functools import partial

from envdoctor import locks
from envdoctor.archives import Archive, store, wheelhouse
from envdoctor.archives.fetching import fetch
from envdoctor.archives.narrowing import narrow
from envdoctor.archives.sources import Sources
from envdoctor.archives.store import Store
from envdoctor.archives.targets import directories, environment_of
from envdoctor.archives.wheelhouse import Filled
from envdoctor.audit import accepting, workflow
from envdoctor.errors import EnvDoctorError, RefusedLockError, UsageError
from envdoctor.locate import Wish, configuration, locate
from envdoctor.locks.environments import LockEnvironment, stated
from envdoctor.model import Lock, Target
from envdoctor.policy import Policy
from envdoctor.progress import Progress, Work
from envdoctor.system.forked import call
from envdoctor.system.host import Host

OTHERWISE = "say --python 3.12 --platform TAG"
DEADLINE = 60.0
"""Seconds for what is read: the target, the lock."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says; None for what it leaves open."""

    lock: str
    output: str
    target: str | None = None
    python: str | None = None
    platform: str | None = None
    groups: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    offline: bool = False
    config: str | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """A wheelhouse that is complete."""

    folder: str
    """As the caller named it."""
    filled: Filled
    target: str
    """What it is for."""
    sources: tuple[str, ...] = ()
    """Source archives from which wheels were built here."""


@dataclass(frozen=True, slots=True)
class _Aim:
    """Whom it is for."""

    environment: LockEnvironment
    policy: Policy
    audit: workflow.Asked
    python: str = ""
    """Its interpreter, where it is of this machine."""
    prefix: str = ""


def build(asked: Asked, work: Work) -> Built:
    """Audit the lock, fetch what it needs, and lay it out.

    Raises UsageError, RefusedLockError (the lock is not to be used for this target) and EnvDoctorError.
    """
    host = work.host
    path = _absolute(asked.lock, host)
    folders = directories(asked.find_links, host)
    work.tell(Progress("plan"))
    aim = _aim(asked, path, host)
    work.tell(Progress("audit", asked.lock))
    _audit(asked, path, aim, host)
    lock: Lock = call("the lock", partial(locks.read, path), timeout=DEADLINE)
    tags = aim.environment.ordered_tags()
    if not tags:
        raise UsageError(f"which wheels fit {aim.environment.name} is not known; say --python 3.12 --platform TAG")
    extras, groups = aim.audit.extras, aim.audit.groups
    narrowed = narrow(lock, aim.environment.markers, tags, aim.policy, extras=extras, groups=groups)
    own = Store(store.place(host.own))
    pip_conf = os.path.join(aim.prefix, "pip.conf") if aim.prefix else None
    archives = fetch(narrowed, Sources(lock, folders, asked.offline, pip_conf), aim.python, own, work)
    sources = tuple(_source(archive, own) for archive in archives if archive.built_from)
    filled = wheelhouse.fill(_absolute(asked.output, host), (*archives, *sources))
    return Built(asked.output, filled, aim.environment.name, tuple(source.filename for source in sources))


def _absolute(path: str, host: Host) -> str:
    return os.path.abspath(os.path.join(host.cwd, os.path.expanduser(path)))


def _audit(asked: Asked, path: str, aim: _Aim, host: Host) -> None:
    problems = accepting.audited(path, aim.audit, host)
    if problems:
        count = f"{len(problems)} {'error' if len(problems) == 1 else 'errors'}"
        raise RefusedLockError(f"{asked.lock}: is refused: {count}; see envdoctor lock audit", tuple(problems))


def _source(archive: Archive, own: Store) -> Archive:
    """Return the source archive of a wheel that was built: its digest is the one in the lock."""
    found = own.find((f"sha256:{archive.built_from}",))
    if found is None:
        raise EnvDoctorError(f"the source archive of {archive.filename} is gone from the store; run it again")
    return found


def _aim(asked: Asked, path: str, host: Host) -> _Aim:
    """Find out whom it is for: what the caller says, else the target as located, else this machine's Python."""
    if asked.python or asked.platform:
        if asked.target is not None:
            raise UsageError("--target says what Python and platform are; give either it, or --python and --platform")
        return _stated(asked, host)
    wish = Wish(asked.target, path, asked.config, asked.groups, asked.extras)
    try:
        target, policy = call("the search for the target", partial(locate, wish, host), timeout=DEADLINE)
    except UsageError:
        if asked.target is not None:
            raise
        return _own(asked, host)
    audit = workflow.Asked(target.prefix, groups=target.groups, extras=target.extras, config=asked.config)
    return _Aim(_of_target(target, host), policy, audit, target.python, target.prefix)


def _stated(asked: Asked, host: Host) -> _Aim:
    """Take what is said; what is not is as on this machine."""
    here = environment_of(sys.executable, host, otherwise=OTHERWISE)
    python = asked.python or here.python
    platform = asked.platform or here.platform
    policy = call("the configuration", partial(configuration, asked.config, host), timeout=DEADLINE)
    audit = workflow.Asked(
        None,
        python,
        platform,
        groups=_all(policy.groups, asked.groups),
        extras=_all(policy.extras, asked.extras),
        config=asked.config,
    )
    return _Aim(stated(python, platform), policy, audit)


def _own(asked: Asked, host: Host) -> _Aim:
    """Take this machine's Python, and its platform."""
    here = environment_of(sys.executable, host, otherwise=OTHERWISE)
    aim = _stated(replace(asked, python=here.markers.get("python_full_version"), platform=here.platform), host)
    return replace(aim, environment=replace(here, name=aim.environment.name), python=sys.executable)


def _all(configured: tuple[str, ...], asked: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*configured, *asked)))


def _of_target(target: Target, host: Host) -> LockEnvironment:
    found = environment_of(target.python, host, otherwise=OTHERWISE)
    return replace(found, name=f"{found.name} of {target.prefix}")
