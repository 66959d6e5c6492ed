"""What the user's configuration says: `envdoctor.toml`, or `[tool.envdoctor]` in `pyproject.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from fnmatch import fnmatchcase
from typing import Any

from envdoctor.errors import PolicyError
from envdoctor.model import Severity

LIMITS: Mapping[str, int] = {
    "shm": 1 << 30,
    "disk": 2 << 30,
    "inodes": 10_000,
    "nofile": 1024,
    "nproc": 4096,
    "cache_share": 50,
    "lock": 1800,
    "cooldown": 7,
}
"""What node/* wants at least: bytes of shm and of free disk, free inodes, soft limits. What cache/* goes by: percent of
the mark that a cache must hold, seconds after which a lock without a builder is stale. Judgement, not fact: a worker
hands over batches of tens to hundreds of MB; 1024 is what systems give where nobody thought of it; runs of one job
differ by some keys, and a lost device takes its whole share; nobody sees a builder on another node. cooldown: days that
a release should have been out before a lock takes it; malicious ones are mostly found within the first."""


@dataclass(frozen=True, slots=True)
class Mute:
    """A finding that the user knows of and does not want to hear about, for a stated reason."""

    probe: str
    """Probe id, a prefix of ids, or a pattern such as `packages/*`."""
    why: str
    subject: str = "*"
    """Subject or pattern of subjects."""
    until: date | None = None
    """Last day on which it holds; None for no end."""

    def holds(self, moment: datetime) -> bool:
        """Tell whether the mute is still in force."""
        return self.until is None or moment.date() <= self.until

    def covers(self, probe: str, subject: str) -> bool:
        """Tell whether it is about this finding."""
        return matches(self.probe, probe) and fnmatchcase(subject, self.subject)


def matches(written: str, probe: str) -> bool:
    """Tell whether what a configuration calls a probe (id, prefix of ids, pattern) means this one."""
    return fnmatchcase(probe, written) or probe.startswith(written.rstrip("/") + "/")


@dataclass(frozen=True, slots=True)
class Policy:
    """The configuration, checked. Paths are as written; they are relative to the folder of `path`."""

    path: str | None = None
    """The file it came from; None for the defaults."""
    target: str | None = None
    lock: str | None = None
    groups: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    """Names (or patterns) of packages that may be installed though no lock lists them, with what they need."""
    mutes: tuple[Mute, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    """Probe id or prefix -> severity of all its findings."""
    hosts: tuple[str, ...] = ()
    """Hosts (or patterns) from which a lock may take packages; none: those of pip's and uv's configuration."""
    sdists: tuple[str, ...] = ()
    """Names (or patterns) of packages that a lock may build from source."""
    limits: Mapping[str, int] = field(default_factory=lambda: LIMITS)
    """What the node must grant, by the keys of `LIMITS`."""
    plugins: bool = True
    """False to leave out the probes that other distributions bring."""
    threads: bool = False
    """True if threads of one process of the job drive its GPUs."""

    def severity_of(self, probe: str, default: Severity) -> Severity:
        """Return the severity that the longest matching entry sets, otherwise `default`."""
        found = [key for key in self.severity if matches(key, probe)]
        return self.severity[max(found, key=len)] if found else default

    def mutes_finding(self, probe: str, subject: str, moment: datetime) -> bool:
        """Tell whether a mute in force covers this finding."""
        return any(mute.holds(moment) and mute.covers(probe, subject) for mute in self.mutes)

    def allows(self, name: str) -> bool:
        """Tell whether the allow-list has this normalised name."""
        return any(fnmatchcase(name, pattern) for pattern in self.allow)

    def builds(self, name: str) -> bool:
        """Tell whether a package of this normalised name may be built from source."""
        return any(fnmatchcase(name, pattern) for pattern in self.sdists)


def parse(text: str, path: str) -> Policy | None:
    """Read a configuration file; None if a pyproject.toml has no `[tool.envdoctor]`.

    Raises PolicyError naming file and line for bad TOML, an unknown key or a value of the wrong kind.
    """
    document = tables(text, path)
    if path.endswith("pyproject.toml"):
        tool = document.get("tool")
        if not isinstance(tool, dict) or "envdoctor" not in tool:
            return None
        document = tool["envdoctor"]
    return _Reader(text, path).policy(document)


def tables(text: str, path: str) -> dict[str, Any]:
    """Read TOML. Raises PolicyError naming file and line."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        line = re.search(r"line (\d+)", str(error))
        last = text.count("\n") + 1 if "end of document" in str(error) else 1
        raise PolicyError(f"{path}:{line[1] if line else last}: not TOML: {error}") from error


class Reader:
    """Checks keys of TOML; an error names the line where the key is written."""

    repeated = ""
    """The key of which there are many tables."""
    example = ""
    """What one of them may hold."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        self.earlier: list[Mapping[str, Any]] = []
        """The tables of that key before the one that is being read."""

    def fail(self, key: str, problem: str) -> PolicyError:
        """Return the error, with the line of the key."""
        places = self.places(key)
        nth = len(self.earlier) if key == self.repeated else sum(key in table for table in self.earlier)
        return PolicyError(f"{self.path}:{places[min(nth, len(places) - 1)] if places else 1}: {problem}")

    def places(self, key: str) -> list[int]:
        """Return the lines on which a key is written, in a pyproject.toml only from our own table on."""
        written = re.compile(rf"(?<![\w-]){re.escape(key)}[\"']?[ \t]*[=\].]")
        lines = [line.partition("#")[0] for line in self.text.split("\n")]
        ours = [n for n, line in enumerate(lines) if re.match(r"[ \t]*\[+[ \t]*tool[ \t]*\.[ \t]*envdoctor\b", line)]
        start = ours[0] if ours else 0
        return [n for n, line in enumerate(lines[start:], start + 1) for _ in written.findall(line)]

    def known(self, table: Mapping[str, Any], keys: set[str], where: str) -> None:
        """Raise PolicyError for a key that is not known."""
        if not isinstance(table, dict):
            raise self.fail(where or "envdoctor", f"{where or 'tool.envdoctor'} must be a table")
        for key in sorted(table.keys() - keys):
            raise self.fail(
                key, f"unknown key {where + '.' if where else ''}{key}; known are {', '.join(sorted(keys))}"
            )

    def text_or_none(self, table: Mapping[str, Any], key: str) -> str | None:
        """Return a string that is not empty, None if there is none."""
        value = table.get(key)
        if value is not None and (not isinstance(value, str) or not value):
            raise self.fail(key, f"{key} must be a non-empty string")
        return value

    def truth(self, table: Mapping[str, Any], key: str, *, default: bool) -> bool:
        """Return true or false."""
        value = table.get(key, default)
        if not isinstance(value, bool):
            raise self.fail(key, f"{key} must be true or false")
        return value

    def names(self, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """Return a list of names."""
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self.fail(key, f"{key} must be a list of names")
        return tuple(value)

    def tables(self, table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        """Return a list of tables."""
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.fail(key, f"{key} must be a list of tables: {key} = [{{ {self.example} }}]")
        return value


class _Reader(Reader):
    """Reads a configuration of checks."""

    repeated = "mute"
    example = "probe = ..., why = ..."

    def policy(self, table: Mapping[str, Any]) -> Policy:
        from packaging.utils import canonicalize_name

        keys = {"target", "lock", "groups", "extras", "allow", "hosts", "sdists", "mute", "severity", "limits"}
        keys |= {"plugins", "threads"}
        self.known(table, keys, "")
        return Policy(
            path=self.path,
            target=self.text_or_none(table, "target"),
            lock=self.text_or_none(table, "lock"),
            groups=self.names(table, "groups"),
            extras=self.names(table, "extras"),
            allow=tuple(canonicalize_name(name) for name in self.names(table, "allow")),
            hosts=tuple(host.lower() for host in self.names(table, "hosts")),
            sdists=tuple(canonicalize_name(name) for name in self.names(table, "sdists")),
            mutes=self.mutes(self.tables(table, "mute")),
            severity=self.severities(table.get("severity", {})),
            limits={**LIMITS, **self.limits(table.get("limits", {}))},
            plugins=self.truth(table, "plugins", default=True),
            threads=self.truth(table, "threads", default=False),
        )

    def mutes(self, items: list[Mapping[str, Any]]) -> tuple[Mute, ...]:
        found = []
        for position, item in enumerate(items):
            self.earlier = items[:position]
            found.append(self.mute(item))
        self.earlier = []
        return tuple(found)

    def mute(self, item: Mapping[str, Any]) -> Mute:
        self.known(item, {"probe", "subject", "until", "why"}, "mute")
        probe, why = self.text_or_none(item, "probe"), self.text_or_none(item, "why")
        if probe is None or why is None:
            raise self.fail("mute", "a mute needs probe and why")
        until = item.get("until")
        if isinstance(until, str):
            try:
                until = date.fromisoformat(until)
            except ValueError as error:
                raise self.fail("until", f"until must be a date such as 2026-12-31: {error}") from error
        if isinstance(until, datetime):
            until = until.date()
        if until is not None and not isinstance(until, date):
            raise self.fail("until", "until must be a date such as 2026-12-31")
        return Mute(probe, why, self.text_or_none(item, "subject") or "*", until)

    def severities(self, table: Mapping[str, Any]) -> Mapping[str, Severity]:
        if not isinstance(table, dict):
            raise self.fail("severity", 'severity must be a table: severity = { "packages/foreign" = "warning" }')
        for probe, word in table.items():
            if word not in [severity.label for severity in Severity]:
                raise self.fail(probe, f"severity of {probe} must be note, warning or error, not {word!r}")
        return {probe: Severity[word.upper()] for probe, word in table.items()}

    def limits(self, table: Mapping[str, Any]) -> Mapping[str, int]:
        """Read whole numbers, or sizes such as "16GiB" for bytes."""
        self.known(table, set(LIMITS), "limits")
        found = {}
        for key, value in table.items():
            size = re.fullmatch(r"(\d+)\s*([KMGT])iB", value) if isinstance(value, str) else None
            if size is not None:
                value = int(size[1]) << 10 * (1 + "KMGT".index(size[2]))
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise self.fail(key, f'{key} must be a whole number, or a size such as "16GiB"')
            found[key] = value
        return found
