"""The hosts of the indexes that pip and uv are configured for: by the lock's own project, else on this machine.

Of an address the host is kept and nothing else. Sources: pip 26.3 (configuration.py, `pip config debug`); uv 0.13.9
(documentation: Configuration files, Environment variables, Package indexes).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from envdoctor.errors import LockError
from envdoctor.locks import addresses
from envdoctor.locks.files import read_bytes
from envdoctor.model import Lock
from envdoctor.system import uvconfig
from envdoctor.system.host import Host
from envdoctor.system.uvconfig import UvSaid
from envdoctor.views.lock_hosts import LockHosts

_OWN = ("poetry", "pdm", "pipfile")
"""Formats whose tools read no configuration of pip or uv for their indexes."""
_SECTIONS = ("global", "install")
"""Of pip's files, in the order in which they override each other."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What one file or variable says."""

    source: str
    hosts: tuple[str, ...] = ()
    replaces: bool = False
    """True if it names the index that stands for the default one. Without that the default one is in use, and its host
    is known to the installer alone: no list is complete."""


def hosts(lock: Lock, host: Host) -> LockHosts:
    """Return the list for a lock; an empty one if nothing names an index to be used instead of the default one."""
    own = list(_uv(uvconfig.project(os.path.dirname(os.path.abspath(lock.path)), host.env)))
    by_pip = [] if lock.format == "uv" else [list(_pip(host))]
    machine = [*by_pip, list(_uv(uvconfig.machine(host)))] if lock.format not in _OWN else []
    if any(said.replaces for said in own):
        return _list(own, local=False)
    return _list([said for found in machine if any(each.replaces for each in found) for said in found], local=True)


def _list(found: Iterable[_Said], *, local: bool) -> LockHosts:
    naming = [said for said in found if said.hosts]
    names = tuple(dict.fromkeys(name for said in naming for name in said.hosts))
    return LockHosts(names, ", ".join(dict.fromkeys(said.source for said in naming)), indexes_only=True, local=local)


def _said(source: str, default: Iterable[str], others: Iterable[str]) -> _Said:
    """Take the hosts of the index that stands for the default one, and of those beside it."""
    default = tuple(filter(None, map(addresses.host, default)))
    return _Said(source, tuple(filter(None, (*default, *map(addresses.host, others)))), bool(default))


def _pip(host: Host) -> Iterator[_Said]:
    """Read pip's files and variables; what comes later overrides, so only the last word on an option counts."""
    values: dict[str, tuple[str, str]] = {}
    for path in _pip_files(host):
        values |= {key: (value, path) for key, value in _pip_file(path).items()}
    for key, variable in (("index-url", "PIP_INDEX_URL"), ("extra-index-url", "PIP_EXTRA_INDEX_URL")):
        if host.env.get(variable):
            values[key] = (host.env[variable], variable)
    for key, (value, source) in values.items():
        words = value.split()
        yield _said(source, words if key == "index-url" else (), words if key == "extra-index-url" else ())


def _pip_files(host: Host) -> Iterator[str]:
    """Yield the files that pip would read, the least first."""
    given = host.env.get("PIP_CONFIG_FILE", "")
    if given == os.devnull:
        return
    yield from (
        os.path.join(folder, "pip/pip.conf") for folder in uvconfig.folders(host.env, "XDG_CONFIG_DIRS", "/etc/xdg")
    )
    yield host.at("/etc/pip.conf")
    yield os.path.join(host.home, ".pip/pip.conf")
    yield from (
        os.path.join(folder, "pip/pip.conf") for folder in uvconfig.folders(host.env, "XDG_CONFIG_HOME", _own(host))
    )
    if host.env.get("VIRTUAL_ENV"):
        yield os.path.join(host.env["VIRTUAL_ENV"], "pip.conf")
    if given:
        yield os.path.join(host.cwd, os.path.expanduser(given))


def _pip_file(path: str) -> dict[str, str]:
    from configparser import Error, RawConfigParser

    parser = RawConfigParser()
    try:
        parser.read_string(read_bytes(path).decode("utf-8", "replace"))
    except (LockError, Error):
        return {}
    sections = [parser[name] for name in _SECTIONS if parser.has_section(name)]
    return {key.replace("_", "-").removeprefix("--"): value for section in sections for key, value in section.items()}


def _uv(found: Iterable[UvSaid]) -> Iterator[_Said]:
    return (_said(said.source, said.default, said.others) for said in found)


def _own(host: Host) -> str:
    return os.path.join(host.home, ".config")
