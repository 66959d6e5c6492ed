"""What `history` is told: runs that came to the same are one span, what is open comes first, times are in UTC."""

from datetime import UTC, datetime, timedelta

import pytest
from fakes import FakeHost
from states import STEP, SUBJECT, Story, clean, sick
from values import NOW, finding, outcome, report

from envdoctor import recalling
from envdoctor.errors import UsageError
from envdoctor.model import Severity
from envdoctor.recalling import Wanted, moment_of
from envdoctor.state.values import Subject


@pytest.fixture
def host(tmp_path):
    return FakeHost(env={"XDG_STATE_HOME": str(tmp_path)}, cwd=str(tmp_path))


@pytest.fixture
def story(tmp_path):
    return Story(tmp_path / "envdoctor" / "node7.sqlite")


def told(host, **wanted):
    return recalling.recall(Wanted(**({"everything": True} | wanted)), host)


def z(number):
    return f"{NOW + number * STEP:%Y-%m-%dT%H:%M:%SZ}"


def test_runs_that_came_to_the_same_are_one_span(story, host):
    for judged in [clean()] * 3 + [sick(finding())] * 2 + [clean()]:
        story.run(judged)
    for reason in ("no answer", "no answer", "its disk is gone"):
        story.run(None, reason=reason)
    (found,) = told(host)["environments"]
    assert [(s["verdict"], s["reason"], s["runs"], s["from"], s["to"]) for s in found["spans"]] == [
        ("healthy", "", 3, z(1), z(3)),
        ("sick", "", 2, z(4), z(5)),
        ("healthy", "", 1, z(6), z(6)),
        (None, "no answer", 2, z(7), z(8)),
        (None, "its disk is gone", 1, z(9), z(9)),
    ]
    assert (found["runs"], found["last_healthy"]) == (9, z(6))


def test_what_is_open_comes_first_the_worst_of_it_on_top_and_then_what_went_last(story, host):
    names = {"a": Severity.NOTE, "b": Severity.ERROR, "c": Severity.NOTE, "d": Severity.ERROR}
    every = {name: finding(name, severity) for name, severity in names.items()}
    story.run(sick(*every.values()))
    story.run(sick(*(every[name] for name in "acd")))
    story.run(sick(*(every[name] for name in "cd")))
    (found,) = told(host)["environments"]
    assert [f["subject"] for f in found["findings"]] == ["d", "c", "a", "b"]
    assert [f["gone"] for f in found["findings"]] == [None, None, z(3), z(2)]


def test_a_period_leaves_out_runs_and_what_ended_before(story, host):
    story.run(sick(finding("old")))
    for _ in range(5):
        story.run(clean())
    (found,) = told(host, since=NOW + 4 * STEP)["environments"]
    assert (found["runs"], found["findings"]) == (3, [])


def test_one_environment_is_told_of_and_the_others_are_counted(story, host, tmp_path):
    story.run(clean())
    Story(story.path, Subject("node7", "1001", SUBJECT.target)).run(clean())
    Story(story.path, Subject("node7", "1000", "/other")).run(clean())
    document = told(host, everything=False, target=SUBJECT.target)
    assert [(e["target"], e["user"]) for e in document["environments"]] == [("/env", "1000"), ("/env", "1001")]
    assert (document["target"], document["others"]) == ("/env", 1)


def test_without_a_target_anywhere_it_is_all_of_them(story, host):
    story.run(clean())
    assert len(told(host, everything=False)["environments"]) == 1


def test_control_characters_never_reach_the_document(story, host):
    story.run(report(outcome("a/b", finding("\x1b[2J", message="\x1b]0;x"))))
    (found,) = told(host)["environments"][0]["findings"]
    assert (found["subject"], found["message"]) == ("\\x1b[2J", "\\x1b]0;x")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("7d", NOW - timedelta(days=7)),
        ("90m", NOW - timedelta(minutes=90)),
        ("2w", NOW - timedelta(weeks=2)),
        ("2026-06-03T10:00:00Z", datetime(2026, 6, 3, 10, tzinfo=UTC)),
        ("2026-06-03T10:00+02:00", datetime(2026, 6, 3, 8, tzinfo=UTC)),
        ("2026-06-01", datetime(2026, 6, 1).astimezone(UTC)),
    ],
)
def test_a_period_begins_by_age_or_time(text, moment):
    assert moment_of(text, NOW) == moment


@pytest.mark.parametrize("text", ["", "7", "d", "x", "-1d", "999999w", "2026-13-01", "9999999d", "0001-01-01"])
def test_what_is_no_time_is_refused_in_a_line(text):
    with pytest.raises(UsageError, match=r"--since: .* is no time"):
        moment_of(text, NOW)
