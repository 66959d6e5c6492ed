"""`envdoctor history`: what the state remembers of environments, as JSON values that are safe to print."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from envdoctor import __version__
from envdoctor.errors import UsageError
from envdoctor.locate import Wish, seek
from envdoctor.printable import clean
from envdoctor.state.place import path_of
from envdoctor.system.forked import call
from envdoctor.system.host import Host
from envdoctor.system.people import user_name

if TYPE_CHECKING:
    from envdoctor.state.values import Episode, Run, Subject

SCHEMA = 1
WITHIN = 30.0
"""Seconds: the state may lie on a file server that does not answer."""
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for."""

    target: str | None = None
    everything: bool = False
    """True for all environments that are remembered."""
    since: datetime | None = None


def moment_of(text: str, now: datetime) -> datetime:
    """Read `90m`, `12h`, `7d`, `2w`, a date or a time (ISO 8601; local without a zone). Raises UsageError."""
    match = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    try:
        if match:
            return now - timedelta(seconds=int(match[1]) * _UNITS[match[2]])
        return datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"--since: {text!r} is no time; say 7d, 12h, 2026-06-03 or 2026-06-03T14:22") from None


def recall(wanted: Wanted, host: Host) -> dict[str, Any]:
    """Return the history of what is asked for. Raises UsageError and EnvDoctorError."""
    document: dict[str, Any] = call("the state", partial(_recalled, wanted, host), timeout=WITHIN)
    return document


def _recalled(wanted: Wanted, host: Host) -> dict[str, Any]:
    from envdoctor.state import runs

    path = path_of(host.own, host.own["HOME"], host.name)
    prefix = None if wanted.everything else _prefix(wanted, host)
    known = runs.last_visited(path)
    chosen = [subject for subject in known if prefix in (None, subject.target)]
    told = [_environment(subject, path, wanted.since) for subject in chosen]
    document: dict[str, Any] = clean(
        {
            "schema": SCHEMA,
            "envdoctor": __version__,
            "asked_at": _moment(host.now()),
            "host": host.name,
            "state": path,
            "since": _moment(wanted.since),
            "target": prefix,
            "others": len(known) - len(chosen),
            "environments": sorted(told, key=lambda each: (each["target"], each["user"])),
        }
    )
    return document


def subject(wish: Wish, host: Host) -> tuple[str, Subject]:
    """Return the state's file, and under what it knows the environment that is meant. Raises UsageError.

    Root's state knows the environments of others; of several users' the caller's own goes first.
    """
    from envdoctor.state import runs
    from envdoctor.state.values import Subject

    path = path_of(host.own, host.own["HOME"], host.name)
    prefix = _located(wish, host)
    own = Subject(host.name, str(os.geteuid()), prefix)
    known = [each for each in runs.last_visited(path) if (each.host, each.target) == (host.name, prefix)]
    return path, own if own in known or not known else min(known, key=lambda each: each.user)


def _located(wish: Wish, host: Host) -> str:
    """Return the prefix; of an environment that is gone, its path as it is named."""
    try:
        target = seek(wish, host)[0]
    except UsageError:
        if wish.target is None:
            raise
        return os.path.abspath(os.path.join(host.cwd, os.path.expanduser(wish.target)))
    return target.superseded or target.prefix


def _prefix(wanted: Wanted, host: Host) -> str | None:
    """Return the environment that is meant, None for all of them. One that is gone may be asked for by its path."""
    try:
        return _located(Wish(target=wanted.target), host)
    except UsageError:
        return None


def _environment(subject: Subject, path: str, since: datetime | None) -> dict[str, Any]:
    from envdoctor.state import runs

    found, healthy = runs.since(path, subject, since), runs.last_healthy(path, subject)
    return {
        "target": subject.target,
        "user": subject.user,
        "owner": user_name(int(subject.user)) if subject.user.isdecimal() else subject.user,
        "host": subject.host,
        "runs": len(found),
        "last_healthy": _moment(healthy.at) if healthy else None,
        "spans": list(_spans(found)),
        "findings": [_finding(episode) for episode in _open_first(runs.episodes(path, subject, since))],
    }


def _spans(found: Sequence[Run]) -> Iterator[Mapping[str, Any]]:
    """Fold runs that came to the same into one; what they counted and lacked is that of the last."""
    for (verdict, reason), group in groupby(found, key=lambda run: (run.verdict, run.reason)):
        same = list(group)
        last = same[-1]
        yield {
            "verdict": verdict,
            "reason": reason,
            "from": _moment(same[0].at),
            "to": _moment(last.at),
            "runs": len(same),
            "first_run": same[0].id,
            "last_run": last.id,
            "errors": last.errors,
            "warnings": last.warnings,
            "notes": last.notes,
            "lacking": list(last.lacking),
        }


def _open_first(episodes: Iterable[Episode]) -> list[Episode]:
    """Sort what is open by severity, then what is gone, the last first."""
    return sorted(
        episodes,
        key=lambda each: (each.gone is not None, -each.gone.timestamp() if each.gone else -int(each.severity)),
    )


def _finding(episode: Episode) -> Mapping[str, Any]:
    return {
        "probe": episode.probe,
        "severity": episode.severity.label,
        "subject": episode.about,
        "message": episode.message,
        "appeared": _moment(episode.appeared),
        "gone": _moment(episode.gone),
        "unknown": _moment(episode.unknown),
        "muted": episode.muted,
    }


def _moment(moment: datetime | None) -> str | None:
    """Return a time as RFC 3339 in UTC, to the second."""
    return None if moment is None else moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"
