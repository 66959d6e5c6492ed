"""What is worth telling: told by a state that really has followed the runs."""

from datetime import timedelta

import pytest
from fakes import FakeHost
from rounds import FOREIGN, lost, round_, visit
from values import NOW, finding

from envdoctor.health import news
from envdoctor.health.memory import Memory
from envdoctor.model import Severity

NONE = news.Before()
STEP = timedelta(minutes=10)


class Node:
    """Rounds over one environment, ten minutes apart."""

    def __init__(self, folder):
        self.memory = Memory(str(folder / "state.sqlite"), FakeHost(), keep=True)
        self.number = 0

    def __call__(self, seen, after=1):
        """Remember a visit; return (whether anything has changed, kinds and subjects of what is told)."""
        self.number += after
        seen = self.memory.remember(type(seen)(**{**fields(seen), "at": NOW + self.number * STEP}))
        before = self.memory.before([seen]).get(seen.target, NONE)
        assert not self.memory.said
        told = [(item.change.kind, item.change.subject) for item in news.news(seen, before)]
        return news.changed(seen, before), told


def fields(seen):
    return {name: getattr(seen, name) for name in seen.__slots__}


@pytest.fixture
def node(tmp_path):
    return Node(tmp_path)


def test_the_first_run_is_told_of_only_if_it_is_sick(node, tmp_path):
    assert node(visit()) == (True, [])
    (tmp_path / "other").mkdir()
    assert Node(tmp_path / "other")(visit(FOREIGN)) == (True, [("appeared", "sglang")])
    (tmp_path / "third").mkdir()
    assert Node(tmp_path / "third")(lost()) == (True, [])


def test_each_change_is_told_once(node):
    mild = finding("sglang", Severity.WARNING)
    told = [node(visit(*found)) for found in ((), (mild,), (mild,), (FOREIGN,), (FOREIGN,), (mild,), (), ())]
    quiet = (False, [])
    assert told == [
        (True, []),
        (True, [("appeared", "sglang")]),
        quiet,
        (True, [("worsened", "sglang")]),
        quiet,
        (True, []),  # it has eased, and is still there
        (True, [("healed", "sglang")]),
        quiet,
    ]


def test_what_can_no_longer_be_judged_is_told_and_what_can_again(node):
    told = [node(seen) for seen in (visit(), lost(), lost("no answer within 9 s"), visit())]
    assert told[1:] == [(True, [("appeared", "/env")]), (False, []), (True, [("healed", "/env")])]


def test_what_had_no_turn_is_no_news(node):
    node(visit())
    assert node(lost(visited=False, uid=-1)) == (False, [])
    assert node(lost("at most hourly", last="healthy", uid=-1)) == (False, [])


def test_what_comes_and_goes_is_told_of_as_such_and_then_no_longer(node):
    node(visit())
    told = [node(seen)[1] for _ in range(4) for seen in (visit(FOREIGN), visit())]
    appeared, healed = [("appeared", "sglang")], [("healed", "sglang")]
    assert told == [appeared, healed, appeared, healed, appeared, [], [], []]
    rested = node(visit(FOREIGN), after=6 * 24 + 1)
    assert rested == (True, appeared)


def test_the_last_that_is_told_says_so():
    seen = visit(FOREIGN)
    assert news.document("node7", "2026-01-01T00:00:00Z", [], []) == {
        "schema": 1,
        "host": "node7",
        "taken_at": "2026-01-01T00:00:00Z",
        "changes": [],
        "targets": [],
    }
    change = round_(seen) and news.Change("worsened", "packages/foreign", "six", Severity.ERROR, Severity.WARNING, "!")
    (told,) = news.document("node7", "", [news.News(seen, change, flapping=True)], [])["changes"]
    assert told == {
        "target": "/env",
        "owner": "alice",
        "kind": "worsened",
        "probe": "packages/foreign",
        "subject": "six",
        "severity": "error",
        "before": "warning",
        "message": "!",
        "flapping": True,
    }
