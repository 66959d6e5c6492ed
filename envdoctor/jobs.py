"""What a check remembers of the job that asked for it: cron, which has not its environment, goes by it later."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from envdoctor.model import Target, Unavailable
from envdoctor.state.values import Subject
from envdoctor.system.host import Host

if TYPE_CHECKING:
    from envdoctor.marking import Writing
    from envdoctor.snapshot import Snapshot


def subject_of(target: Target, user: int, host: Host) -> Subject:
    """Return under what the state knows an environment of a user."""
    return Subject(host.name, str(user), target.superseded or target.prefix)


def environment(taken: Snapshot, target: Target, host: Host) -> Writing | None:
    """Return what writes the job's variables, None if they are not known. Those of one rank or one job are left out.

    Where nothing can be written it says nothing: many a container's home cannot, and no verdict of this run needs it.
    """
    if isinstance(taken.variables, Unavailable):
        return None
    from envdoctor.facts.variables import PER_JOB, PER_RANK
    from envdoctor.state import environments
    from envdoctor.state.place import StateError, path_of

    passing = {*PER_JOB, *PER_RANK}
    lasting = {name: value for name, value in taken.variables.values.items() if name not in passing}
    subject = subject_of(target, os.geteuid(), host)
    path, moment = path_of(host.own, host.own["HOME"], host.name), host.now()

    def write() -> str | None:
        with contextlib.suppress(StateError):
            return environments.record(path, subject, lasting, moment)
        return None

    return write
