"""Tell others what a round came to: node_exporter by a file, a command by its input. A failure here spoils no round."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from envdoctor.errors import EnvDoctorError
from envdoctor.health import documents, metrics, news, notifying, textfile
from envdoctor.health.configuring import Configuration
from envdoctor.health.memory import Memory
from envdoctor.health.visits import Round
from envdoctor.printable import clean
from envdoctor.reports import prometheus
from envdoctor.system.host import Host


@dataclass(frozen=True, slots=True)
class Wishes:
    """Who is to be told, by the command line or the configuration."""

    textfile: str | None = None
    notify: tuple[str, ...] = ()


def wishes(path: str | None, command: str | None, usual: Configuration, host: Host) -> Wishes:
    """Return who is to be told: by the command line, else by the configuration. Raises UsageError."""
    named = os.path.join(host.cwd, os.path.expanduser(path)) if path is not None else usual.textfile
    return Wishes(
        textfile.checked(named) if named is not None else None,
        notifying.words(command) if command is not None else usual.notify,
    )


def tell(found: Round, wishes: Wishes, memory: Memory) -> Round:
    """Write and call what is wished; return the round with what came of it."""
    before = memory.before(found.visits)
    changed = any(news.changed(visit, before.get(visit.target, news.Before())) for visit in found.visits)
    told = [item for visit in found.visits for item in news.news(visit, before.get(visit.target, news.Before()))]
    unwritten = _written(found, wishes.textfile, memory) if wishes.textfile else ()
    untold = _told(found, told, wishes) if wishes.notify and told else notifying.missing(wishes.notify)
    said = tuple(clean([*unwritten, *untold]))
    return replace(found, changed=changed, untold=said, incomplete=bool(unwritten))


def _written(found: Round, path: str, memory: Memory) -> tuple[str, ...]:
    try:
        textfile.write(path, prometheus.render(metrics.families(found, memory.past(found.visits))))
    except EnvDoctorError as error:
        return (str(error),)
    return ()


def _told(found: Round, told: Sequence[news.News], wishes: Wishes) -> tuple[str, ...]:
    document = documents.document(found)
    keys = ("target", "owner", "verdict", "status", "reason")
    targets = [{key: visit[key] for key in keys} for visit in document["targets"]]
    given: dict[str, Any] = clean(news.document(found.host, document["taken_at"], told, targets))
    problem = notifying.notify(wishes.notify, given)
    return (problem,) if problem else ()
