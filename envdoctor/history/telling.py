"""`envdoctor timeline` and `envdoctor blame`: gather or read what was observed, and put it into a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envdoctor import __version__, workflows
from envdoctor.codec import to_json
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.facts.metadata import normalised
from envdoctor.history.events import Installed
from envdoctor.history.installs import Evidence
from envdoctor.history.provenance import known, near, provenance
from envdoctor.history.timeline import history
from envdoctor.judge import Values
from envdoctor.locate import Wish
from envdoctor.model import Unavailable
from envdoctor.printable import clean, moment_of
from envdoctor.recorded import Recorded
from envdoctor.system.host import Host

SCHEMA = 1
FACTS = ("interpreter", "search_path", "distributions", "files", "owners", "startup", "lock", "seal")
"""What a history is told from."""
TIMES = frozenset({"at", "until", "installed_at"})
"""Keys that hold times on disk."""


@dataclass(frozen=True, slots=True)
class Source:
    """What to tell of: an environment of this machine, or a snapshot, which holds all that was observed."""

    wish: Wish
    snapshot: str | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A document and whether it is whole."""

    document: Mapping[str, Any]
    """JSON values, safe to print."""
    whole: bool
    """False if something could not be read that it should have been told from."""


def timeline(source: Source, host: Host) -> Told:
    """Tell what happened, oldest first. Raises UsageError and EnvDoctorError as a check does."""
    return timeline_of(_found(source, host), source)


def timeline_of(found: Recorded, source: Source) -> Told:
    """Tell it from what was observed. Raises EnvDoctorError if that is too little."""
    values, evidence = _evidence(found)
    told = history(values, evidence)
    document = to_json(told)
    for event, written in zip(told.events, document["events"], strict=True):
        if isinstance(event, Installed):
            written |= {"kind": "installed", "repurposed": event.repurposed}
    return _told(found, document, source)


def blame(package: str, source: Source, host: Host) -> Told:
    """Tell why a package is there. Raises UsageError if it is neither installed nor locked, and as a check does."""
    found = _found(source, host)
    values, evidence = _evidence(found)
    name = normalised(package.strip())
    if name not in known(evidence):
        raise UsageError(_unknown(package, name, found, evidence))
    told = to_json(provenance(name, evidence, history(values, evidence), found.facts.lock))
    if told["batch"]:
        told["batch"]["kind"] = "installed"
    return _told(found, told, source)


def _unknown(package: str, name: str, found: Recorded, evidence: Evidence) -> str:
    alike = near(name, evidence)
    where = f"{package}: not installed in {found.head.target.prefix}"
    locked = "" if isinstance(evidence.expected, Unavailable) else ", and not in its lock"
    return f"{where}{locked}; " + (f"there are: {', '.join(alike)}" if alike else "nothing there is called like it")


def _found(source: Source, host: Host) -> Recorded:
    if source.snapshot is None:
        return workflows.observe(source.wish, host, FACTS)
    return workflows.recording(source.snapshot, host)


def _evidence(found: Recorded) -> tuple[Values, Evidence]:
    head = found.head
    values = Values(found.facts.facts(), policy=head.policy, target=head.target, moment=head.taken_at)
    missing = values["distributions"] if isinstance(values["distributions"], Unavailable) else values["requirements"]
    if isinstance(missing, Unavailable):
        raise EnvDoctorError(missing.reason)
    names = ("distributions", "requirements", "expected", "blame", "seal", "owners")
    return values, Evidence(*(values[name] for name in names))


def _told(found: Recorded, document: Mapping[str, Any], source: Source) -> Told:
    head = found.head
    failed = {fact: reason for fact, reason in found.facts.failed().items() if fact in FACTS}
    whole: Mapping[str, Any] = clean(
        {
            "schema": SCHEMA,
            "envdoctor": __version__,
            "taken_at": head.taken_at.replace(microsecond=0).isoformat().replace("+00:00", "Z"),
            "host": head.host,
            "target": {
                "prefix": head.target.prefix,
                "python": found.facts.known("interpreter", "version"),
                "lock": head.target.lock,
                "packages": found.facts.known("distributions", "count"),
            },
            "snapshot": source.snapshot,
            **document,
            "failed": failed,
        }
    )
    return Told(_dated(whole), not failed)


def _dated(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Turn times on disk into RFC 3339, UTC."""
    if isinstance(value, dict):
        return {key: _moment(item) if key in TIMES else _dated(item) for key, item in value.items()}
    return [_dated(item) for item in value] if isinstance(value, list) else value


def _moment(seconds: float | None) -> str | None:
    try:
        return moment_of(seconds)
    except (ValueError, OverflowError, OSError):  # no year of the calendar
        return None
