"""Where inductor keeps its compile cache for a job, and where envdoctor keeps the saves of it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from envdoctor import envs
from envdoctor.errors import UsageError
from envdoctor.facts import cache_places
from envdoctor.system.host import Host


@dataclass(frozen=True, slots=True)
class Place:
    """A directory, and why it is that one."""

    path: str
    """Absolute."""
    why: str
    """The variable or option that names it, or what its default is made of."""


def inductor(host: Host, named: str | None = None, option: str = "--cache") -> Place:
    """Return the cache that a job started here would use; `named` is what the caller says instead, by that option.

    Raises UsageError where that is empty, which would mean the current directory.
    """
    if named is not None:
        if not named:
            raise UsageError(f"{option}: names no directory: it is empty")
        return Place(_absolute(host, os.path.expanduser(named)), option)
    found = cache_places.inductor(host)
    return Place(found.path, found.variable if found.chosen else found.why)


def _absolute(host: Host, path: str) -> str:
    return os.path.abspath(os.path.join(host.cwd, path))


def store(host: Host, prefix: str) -> str:
    """Return the directory of the saves made for an environment, by the path that is its identity."""
    data = host.env.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data):  # the XDG base directory specification: a relative one is to be ignored
        data = os.path.join(host.home, ".local", "share")
    return os.path.join(data, "envdoctor", "caches", envs.key_of(prefix))
