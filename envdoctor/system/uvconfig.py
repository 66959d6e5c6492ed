"""Where uv is told to look for packages: by its variables, its own files, and a project's.

Source: uv 0.13.9 (documentation: Configuration files, Environment variables, Package indexes). Addresses may hold
passwords: they are never to be printed or stored.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from envdoctor.system.host import Host
from envdoctor.system.reading import regular

LIMIT = 1 << 20
"""Bytes of a configuration file."""
_NAMED = re.compile(r"([\w.-]+)=(.*)")
"""`name=address` in a variable."""


@dataclass(frozen=True, slots=True)
class UvSaid:
    """What one file or variable says."""

    source: str
    """What to call it: a variable, a path, `[tool.uv] of` a path."""
    default: tuple[str, ...] = ()
    """The index that stands for the default one."""
    others: tuple[str, ...] = ()
    """Indexes beside it."""
    find_links: tuple[str, ...] = ()
    names: Mapping[str, str] | None = None
    """Address -> name of an index, where it has one."""


def everything(folder: str, host: Host) -> Iterator[UvSaid]:
    """Read all that uv reads in an absolute directory, what overrides first."""
    yield from _variables(host.env)
    yield from project(folder, host.env)
    yield from _files(host)


def machine(host: Host) -> Iterator[UvSaid]:
    """Read uv's variables, its user's and its system's file."""
    yield from _variables(host.env)
    yield from _files(host)


def _files(host: Host) -> Iterator[UvSaid]:
    if host.env.get("UV_NO_CONFIG"):
        return
    if host.env.get("UV_CONFIG_FILE"):
        yield _table(os.path.join(host.cwd, host.env["UV_CONFIG_FILE"]))
        return
    for variable, default in (("XDG_CONFIG_HOME", os.path.join(host.home, ".config")), ("XDG_CONFIG_DIRS", "/etc/xdg")):
        yield from (_table(os.path.join(folder, "uv/uv.toml")) for folder in folders(host.env, variable, default))
    yield _table(host.at("/etc/uv/uv.toml"))


def project(folder: str, env: Mapping[str, str]) -> Iterator[UvSaid]:
    """Read the nearest uv.toml, or `[tool.uv]` of the nearest pyproject.toml, in an absolute directory or above it."""
    if env.get("UV_NO_CONFIG") or env.get("UV_CONFIG_FILE"):
        return
    while True:
        for name, keys in (("uv.toml", ()), ("pyproject.toml", ("tool", "uv"))):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                yield _table(path, *keys)
                return
        if folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)


def folders(env: Mapping[str, str], variable: str, default: str) -> list[str]:
    """Return the directories that a variable names, or those that it stands for where it is not set."""
    return [folder for folder in (env.get(variable) or default).split(":") if folder]


def with_login(address: str, name: str, env: Mapping[str, str]) -> str:
    """Return an index's address with user and password of the variables `UV_INDEX_<NAME>_...`, if they are set."""
    key = re.sub(r"[^A-Z0-9]", "_", name.upper())
    user, password = (env.get(f"UV_INDEX_{key}_{what}", "") for what in ("USERNAME", "PASSWORD"))
    scheme, marks, rest = address.partition("://")
    if not name or not (user or password) or not marks or "@" in rest.partition("/")[0]:
        return address
    return f"{scheme}://{quote(user, safe='')}:{quote(password, safe='')}@{rest}"


def _variables(env: Mapping[str, str]) -> Iterator[UvSaid]:
    for variable, default in (
        ("UV_DEFAULT_INDEX", True),
        ("UV_INDEX_URL", True),
        ("UV_INDEX", False),
        ("UV_EXTRA_INDEX_URL", False),
    ):
        pairs = [
            (match[2], match[1]) if (match := _NAMED.fullmatch(word)) else (word, "") for word in _words(env, variable)
        ]
        urls = tuple(url for url, _ in pairs)
        yield UvSaid(variable, urls if default else (), () if default else urls, names=dict(pairs))
    yield UvSaid("UV_FIND_LINKS", find_links=tuple(filter(None, env.get("UV_FIND_LINKS", "").split(","))))


def _words(env: Mapping[str, str], variable: str) -> Sequence[str]:
    return env.get(variable, "").split()


def _table(path: str, *keys: str) -> UvSaid:
    """Read uv's settings: `index` tables, and the older `index-url` and `extra-index-url`."""
    source = f"[tool.uv] of {path}" if keys else path
    try:
        table: Any = tomllib.loads(regular(path, LIMIT).decode("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return UvSaid(path)
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        return UvSaid(source)
    listed = table.get("index")
    indexes = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    names = {_text(item, "url"): _text(item, "name") for item in indexes}
    default = [_text(item, "url") for item in indexes if item.get("default") is True] + [_text(table, "index-url")]
    others = [_text(item, "url") for item in indexes if item.get("default") is not True]
    others += _texts(table, "extra-index-url")
    links = tuple(_texts(table, "find-links"))
    return UvSaid(source, tuple(filter(None, default)), tuple(filter(None, others)), links, names)


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key)
    return value if isinstance(value, str) else ""


def _texts(table: Mapping[str, Any], key: str) -> list[str]:
    value = table.get(key)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
