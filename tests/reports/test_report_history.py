"""What the state remembers, for people."""

import pytest

from envdoctor.reports import history
from envdoctor.reports.layout import Style


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    monkeypatch.setattr("envdoctor.reports.installs._local", lambda moment: history.datetime.fromisoformat(moment))


def span(verdict, begin, end, runs=1, **fields):
    empty = {"reason": "", "errors": 0, "warnings": 0, "notes": 0, "lacking": []}
    return {"verdict": verdict, "from": f"2026-06-{begin}Z", "to": f"2026-06-{end}Z", "runs": runs, **empty, **fields}


def found(name, appeared, gone=None, **fields):
    empty = {"probe": "packages/foreign", "severity": "error", "subject": name, "unknown": None, "muted": False}
    times = {"appeared": f"2026-06-{appeared}Z", "gone": gone and f"2026-06-{gone}Z"}
    return {**empty, "message": f"{name} is not in the lock", **times, **fields}


def document(*spans, findings=(), **fields):
    environment = {"target": "/env", "user": "1000", "owner": "anna", "host": "node7", "last_healthy": None}
    whole = environment | {"runs": 1, "spans": list(spans), "findings": list(findings)}
    given = {"asked_at": "2026-06-09T12:00:00Z", "host": "node7", "state": "/s/n.sqlite", "target": None, "others": 0}
    return given | {"environments": [whole]} | fields


def lines(*spans, style=None, **fields):
    return history.render(document(*spans, **fields), style).splitlines()


def test_spans_are_told_in_order_with_counts_and_durations():
    said = lines(
        span("healthy", "03T09:00:00", "06T14:10:00", 1412),
        span("sick", "06T14:20:00", "06T16:20:00", 13, errors=2, warnings=1),
        span(None, "06T16:30:00", "06T16:30:00", reason="no answer within 10 s"),
    )
    assert said == [
        "/env of anna on node7: not judged, seen last on 6 June 2026 at 16:30:00 UTC",
        "never seen healthy",
        "  healthy    1,412 checks, 3 June 2026 at 09:00 to 6 June 2026 at 14:10 (3 d 5 h)",
        "  sick          13 checks, 6 June 2026 at 14:20 to 16:20 (2 h): 2 errors, 1 warning",
        "  not judged     1 check, 6 June 2026 at 16:30: no answer within 10 s",
    ]


def test_what_is_open_is_told_with_its_age_and_since_when_nobody_knows():
    said = lines(
        span("sick", "09T11:00:00", "09T11:00:00", errors=1),
        findings=[
            found("numpy", "08T10:00:00", unknown="2026-06-09T10:00:00Z"),
            found("six", "07T10:00:00", "07T10:30:00", severity="note"),
            found("mute", "07T10:00:00", "07T10:30:00", muted=True),
        ],
    )
    assert said[4:] == [
        "open",
        "ERROR    numpy is not in the lock  [packages/foreign]",
        "         since 8 June 2026 at 10:00 (1 d 2 h); unknown since 9 June 2026 at 10:00: not looked at again",
        "",
        "gone",
        "NOTE     six is not in the lock  [packages/foreign]",
        "         7 June 2026 at 10:00 to 10:30 (30 min)",
        "ERROR    mute is not in the lock  [packages/foreign]",
        "         7 June 2026 at 10:00 to 10:30 (30 min); muted since then",
    ]


def test_a_verdict_that_only_lacks_something_says_what():
    lacking = ["cuda/x skipped", "node/y crashed", "driver not read"]
    said = lines(span("warnings", "03T09:00:00", "03T09:00:00", lacking=lacking))
    assert said[-1].strip() == "not all could be judged: node/y crashed, driver not read"


def test_of_many_the_youngest_are_told_and_the_rest_is_counted():
    spans = [span("healthy", f"03T09:{minute:02}:00", f"03T09:{minute:02}:30") for minute in range(50)]
    gone = [found(f"p{number}", "03T09:00:00", "03T10:00:00") for number in range(60)]
    said = lines(*spans, findings=gone)
    assert said[1] == "  ... 20 earlier (all of them: --format json)"
    assert said[-1] == "... and 20 more (all of them: --format json)"


def test_nothing_says_how_to_get_something():
    said = "\n".join(lines(environments=[], target="/env", others=2))
    assert said.startswith("no run of /env is remembered on node7, in /s/n.sqlite")
    assert "envdoctor health" in said
    assert "2 others are remembered: envdoctor history --all" in said


@pytest.mark.parametrize("width", [80, 120])
def test_lines_keep_to_the_width(width):
    long = found("x" * 30, "03T09:00:00", message="a long message " * 30, unknown="2026-06-09T10:00:00Z")
    spans = [span(None, "03T09:00:00", "06T09:00:00", reason="a long reason " * 20)]
    assert max(map(len, lines(*spans, findings=[long], style=Style(width)))) <= width


def test_colours_come_only_when_they_are_wanted():
    spans = [span("sick", "03T09:00:00", "03T09:00:00", errors=1)]
    assert "\x1b[31;1msick      \x1b[0m" in "\n".join(lines(*spans, style=Style(colour=True)))
    assert "\x1b" not in "\n".join(lines(*spans))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (3661, "1 h 1 min"), (86400 * 3 + 60, "3 d"), (90061, "1 d 1 h")],
)
def test_a_duration_has_its_two_largest_units(seconds, said):
    assert history.lasting(seconds) == said


def test_a_span_within_a_minute_is_told_by_that_minute():
    assert history._period("2026-06-03T09:00:01Z", "2026-06-03T09:00:03Z").endswith("09:00 (2 s)")
