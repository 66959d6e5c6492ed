"""A state of one environment, told run by run."""

import random
import sqlite3
from contextlib import closing
from datetime import timedelta

from values import NOW, PREFIX, TARGET, distribution, distributions, outcome, report

from envdoctor import recorded
from envdoctor.facts.node import Node, Space
from envdoctor.facts.variables import Variables
from envdoctor.policy import Policy
from envdoctor.snapshot import Snapshot
from envdoctor.state import runs
from envdoctor.state.values import Subject

SUBJECT = Subject("node7", "1000", PREFIX)
STEP = timedelta(minutes=10)


def seen(number=0, packages=30, **more):
    """Return what run `number` sees: packages, and what differs every time."""
    chance = random.Random(0)  # noqa: S311 - the same packages every time
    items = [
        distribution(f"package-{n}", f"{chance.randrange(9)}.{chance.randrange(99)}", requires=("numpy>=1.2",))
        for n in range(packages)
    ]
    node = Node(
        spaces=(Space(PREFIX, "environment", 1 << 40, (1 << 39) - number, 0, 0),),
        limits={"nproc": number},
        memory_used=1 << 30 | number,
    )
    values = {"distributions": distributions(*items), "node": node} | more
    return recorded.record(Snapshot(**values), TARGET, Policy(), "node7", NOW + number * STEP)


def clean(probe="packages/test", **fields):
    return report(outcome(probe), **fields)


def sick(*found, probe="packages/test", **fields):
    return report(outcome(probe, *found), **fields)


class Story:
    """Runs on one environment, ten minutes apart."""

    def __init__(self, path, subject=SUBJECT):
        self.path, self.subject, self.number = str(path), subject, 0

    def run(self, judged, snapshot=None, **more):
        """Record the next run; return what came of it."""
        self.number += 1
        return runs.record(self.path, self.subject, snapshot, judged, NOW + self.number * STEP, **more)

    def changes(self, judged, **more):
        """Record the next run; return (kind, subject) of what has changed."""
        return [(change.kind, change.subject) for change in self.run(judged, **more).changes]

    def episodes(self):
        return {(e.probe, e.about): e for e in runs.episodes(self.path, self.subject)}


def told(path, query, *values):
    """Ask the file itself."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query, values).fetchall()


def changed(path, *statements):
    """Change the file behind our back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(*((statement,) if isinstance(statement, str) else statement))


def job(**values):
    return Variables(values)
