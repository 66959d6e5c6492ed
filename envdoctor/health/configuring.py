"""The configuration of `envdoctor health`: which environments to look after, and what is known of their jobs.

`/etc/envdoctor.toml` for root, `$XDG_CONFIG_HOME/envdoctor/health.toml` for anybody else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from envdoctor.errors import PolicyError
from envdoctor.policy import Policy, Reader, parse, tables
from envdoctor.system.host import Host
from envdoctor.system.reading import regular
from envdoctor.system.trust import strangers

SYSTEM = "/etc/envdoctor.toml"
LIMIT = 1 << 20
"""Bytes of a configuration."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One `[[target]]`: environments, and what holds for them."""

    path: str
    """Absolute; a pattern of the shell's may stand for many."""
    lock: str | None = None
    """Absolute, or relative to the folder that holds the environment."""
    owner: str | None = None
    """User name; None for the owner of the prefix."""
    policy: Policy | None = None
    """What they are judged by; None for what lies in them or above them."""
    environment: Mapping[str, str] | None = None
    """Variables of the jobs; None if nothing is said of them."""
    groups: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Configuration:
    """What one run goes by."""

    path: str | None = None
    """The file; None without any."""
    targets: tuple[Wanted, ...] = ()
    state: str | None = None
    """File that runs are remembered in; None for the usual one."""
    textfile: str | None = None
    """File for node_exporter."""
    deadline: float | None = None
    """Seconds."""
    notify: tuple[str, ...] = field(default=())
    """Command that is told of changes, with its arguments."""


def read(named: str | None, host: Host) -> Configuration:
    """Read --config, else the usual file if it is there. Raises PolicyError, naming file and line."""
    path = os.path.join(host.cwd, os.path.expanduser(named)) if named is not None else _usual(host)
    if named is None and not os.path.lexists(path):
        return Configuration()
    text = _text(path)
    return _Reader(text, path).configuration(tables(text, path))


def _usual(host: Host) -> str:
    if os.geteuid() == 0:
        return SYSTEM
    home = host.env.get("XDG_CONFIG_HOME", "")
    home = home if os.path.isabs(home) else os.path.join(host.home, ".config")
    return os.path.join(home, "envdoctor", "health.toml")


def _text(path: str) -> str:
    """Read a file that says what is done. Root goes by none that others could have written."""
    try:
        who = strangers(os.path.abspath(path), 0) if os.geteuid() == 0 else None
        if who:
            raise PolicyError(f"{path}: refused, for root does what it says: {who}")
        return regular(path, LIMIT).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PolicyError(f"{path}: not UTF-8 at byte {error.start}") from error
    except ValueError as error:
        raise PolicyError(f"{path}: {error}") from error
    except OSError as error:
        raise PolicyError(f"{path}: {error.strerror or error}") from error


class _Reader(Reader):
    """Reads it."""

    repeated = "target"
    example = 'path = "/home/*/train/.venv"'

    def configuration(self, table: Mapping[str, Any]) -> Configuration:
        self.known(table, {"target", "state", "textfile", "deadline", "notify"}, "")
        return Configuration(
            path=self.path,
            targets=self.targets(self.tables(table, "target")),
            state=self.absolute(table, "state"),
            textfile=self.absolute(table, "textfile"),
            deadline=self.seconds(table, "deadline"),
            notify=self.names(table, "notify"),
        )

    def targets(self, items: list[Mapping[str, Any]]) -> tuple[Wanted, ...]:
        found = []
        for position, item in enumerate(items):
            self.earlier = items[:position]
            found.append(self.target(item))
        self.earlier = []
        return tuple(found)

    def target(self, item: Mapping[str, Any]) -> Wanted:
        self.known(item, {"path", "lock", "owner", "policy", "environment", "groups", "extras"}, "target")
        path = self.absolute(item, "path")
        if path is None:
            raise self.fail("target", f"a target needs a path: {self.example}")
        return Wanted(
            path=os.path.normpath(path),
            lock=self.text_or_none(item, "lock"),
            owner=self.text_or_none(item, "owner"),
            policy=self.policy(item),
            environment=self.environment(item),
            groups=self.names(item, "groups"),
            extras=self.names(item, "extras"),
        )

    def absolute(self, table: Mapping[str, Any], key: str) -> str | None:
        value = self.text_or_none(table, key)
        value = os.path.expanduser(value) if value is not None else None
        if value is not None and (not os.path.isabs(value) or "\0" in value):
            raise self.fail(key, f"{key} must be an absolute path, for cron has no folder of its own")
        return value

    def seconds(self, table: Mapping[str, Any], key: str) -> float | None:
        value = table.get(key)
        good = isinstance(value, int | float) and not isinstance(value, bool) and 0.1 <= value <= 86400
        if value is not None and not good:
            raise self.fail(key, f"{key} must be seconds, from 0.1 to a day")
        return None if value is None else float(value)

    def policy(self, item: Mapping[str, Any]) -> Policy | None:
        path = self.absolute(item, "policy")
        if path is None:
            return None
        policy = parse(_text(path), path)
        if policy is None:
            raise self.fail("policy", f"policy: {path} has no [tool.envdoctor]")
        return policy

    def environment(self, item: Mapping[str, Any]) -> Mapping[str, str] | None:
        value = item.get("environment")
        if value is None:
            return None
        good = isinstance(value, dict) and all(isinstance(text, str) and "\0" not in text for text in value.values())
        if not good or any(not name or set(name) & {"=", "\0"} for name in value):
            raise self.fail("environment", 'environment must be a table of variables: { CUDA_HOME = "/opt/cuda" }')
        return dict(value)
