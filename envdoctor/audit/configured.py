"""The hosts of the indexes that pip and uv are configured for: by the lock's own project, else on this machine.

Of an address the host is kept and nothing else. Sources: pip 26.3 (configuration.py, `pip config debug`); uv 0.13.9
(documentation: Configuration files, Environment variables, Package indexes).
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from envdoctor.errors import LockError
from envdoctor.locks import addresses
from envdoctor.locks.files import read_bytes
from envdoctor.locks.toml import only_tables, table_of, text_of, texts_of
from envdoctor.model import Lock
from envdoctor.system.host import Host
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
    own = list(_project(os.path.dirname(os.path.abspath(lock.path)), host.env))
    by_pip = [] if lock.format == "uv" else [list(_pip(host))]
    machine = [*by_pip, list(_uv(host))] if lock.format not in _OWN else []
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
    yield from (os.path.join(folder, "pip/pip.conf") for folder in _folders(host.env, "XDG_CONFIG_DIRS", "/etc/xdg"))
    yield host.at("/etc/pip.conf")
    yield os.path.join(host.home, ".pip/pip.conf")
    yield from (os.path.join(folder, "pip/pip.conf") for folder in _folders(host.env, "XDG_CONFIG_HOME", _own(host)))
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


def _uv(host: Host) -> Iterator[_Said]:
    """Read uv's variables, its user's and its system's file."""
    yield from _uv_variables(host.env)
    if host.env.get("UV_NO_CONFIG"):
        return
    if host.env.get("UV_CONFIG_FILE"):
        yield _uv_table(os.path.join(host.cwd, host.env["UV_CONFIG_FILE"]))
        return
    yield from (
        _uv_table(os.path.join(folder, "uv/uv.toml")) for folder in _folders(host.env, "XDG_CONFIG_HOME", _own(host))
    )
    yield from (
        _uv_table(os.path.join(folder, "uv/uv.toml")) for folder in _folders(host.env, "XDG_CONFIG_DIRS", "/etc/xdg")
    )
    yield _uv_table(host.at("/etc/uv/uv.toml"))


def _uv_variables(env: Mapping[str, str]) -> Iterator[_Said]:
    for variable, default in (
        ("UV_DEFAULT_INDEX", True),
        ("UV_INDEX_URL", True),
        ("UV_INDEX", False),
        ("UV_EXTRA_INDEX_URL", False),
    ):
        words = [re.sub(r"^[\w.-]+=", "", word) for word in env.get(variable, "").split()]
        yield _said(variable, words if default else (), () if default else words)


def _project(folder: str, env: Mapping[str, str]) -> Iterator[_Said]:
    """Read the nearest uv.toml, or `[tool.uv]` of the nearest pyproject.toml, at the lock's side or above it."""
    if env.get("UV_NO_CONFIG") or env.get("UV_CONFIG_FILE"):
        return
    while True:
        for name, keys in (("uv.toml", ()), ("pyproject.toml", ("tool", "uv"))):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                yield _uv_table(path, *keys)
                return
        if folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)


def _uv_table(path: str, *keys: str) -> _Said:
    """Read uv's settings: `index` tables, and the older `index-url` and `extra-index-url`."""
    try:
        table: Mapping[str, Any] = tomllib.loads(read_bytes(path).decode("utf-8", "replace"))
    except (LockError, ValueError, RecursionError):
        return _Said(path)
    for key in keys:
        table = table_of(table, key)
    indexes = [(text_of(item, "url") or "", item.get("default") is True) for item in only_tables(table.get("index"))]
    default = [url for url, replaces in indexes if replaces] + [text_of(table, "index-url") or ""]
    others = [url for url, replaces in indexes if not replaces] + list(texts_of(table, "extra-index-url"))
    return _said(f"[tool.uv] of {path}" if keys else path, default, others)


def _folders(env: Mapping[str, str], variable: str, default: str) -> list[str]:
    return [folder for folder in (env.get(variable) or default).split(":") if folder]


def _own(host: Host) -> str:
    return os.path.join(host.home, ".config")
