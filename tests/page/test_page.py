"""The page of a scripted week: lines, drift, timeline and comparison tell the story."""

from dataclasses import replace
from datetime import timedelta

import pytest
from pages import harmless
from values import cache, caches, finding, outcome, report, warm
from weeks import BEGIN, END, TURNS, record_weeks, seen

from envdoctor.facts.cache_counts import Count
from envdoctor.model import Unavailable
from envdoctor.page import gathering, moments, remembering, series
from envdoctor.page.remembering import Past, remember
from envdoctor.reports import html
from envdoctor.state import series as state_series


@pytest.fixture(scope="module")
def past(tmp_path_factory):
    path = tmp_path_factory.mktemp("state") / "node7.sqlite"
    subject = record_weeks(path, "/env", "node7", hostile=True)
    return remember(str(path), subject, None), remember(str(path), subject, TURNS["swapped"])


def made(past, moment=END):
    taken, judged = seen(moment, hostile=True)
    return gathering._page(taken, judged, past, None, [], "")


def lines(page, title):
    return {line.name: line.points for plot in page.plots if plot.title.startswith(title) for line in plot.series}


def test_verdicts_change_when_something_happened(past):
    spans = series.spans(past[0].runs)
    assert [span.verdict for span in spans] == ["healthy", "sick", "healthy"]
    assert spans[0].end == spans[1].begin, "a verdict holds until the next run"
    assert sum(span.runs for span in spans) == len(past[0].runs)


def test_each_turn_is_told_once_and_of_nothing_else(past):
    told = [{event.area for event in turn.events if event.weight > 1} for turn in past[0].turns]
    assert told == [{"packages"}, {"caches"}, {"toolkit", "variables"}, {"packages", "toolkit", "variables"}]
    for turn, at in zip(past[0].turns, TURNS.values(), strict=True):
        assert 0 <= turn.at - at.timestamp() <= 6 * 3600
        assert turn.since is None


def test_keys_fall_to_nothing_and_come_back(past):
    page = made(past[0])
    keys = dict(lines(page, "Compile cache: keys")["cuda:1"])
    wiped, rebuilt = TURNS["wiped"].timestamp(), TURNS["rebuilt"].timestamp()
    assert {value for at, value in keys.items() if wiped <= at < rebuilt} == {0.0}
    assert keys[max(keys)] == 140.0
    sizes = dict(lines(page, "Compile cache: bytes")["cuda:0"])
    assert sizes[max(sizes)] == 70 * (40_000 + 41_998)


def test_drift_counts_the_packages_off_the_lock(past):
    points = lines(made(past[0]), "Drift")["packages off the lock"]
    assert [value for _, value in points] == [0.0, 6.0, 0.0, 0.0]


def test_the_whole_page_is_harmless_and_tells_it(past):
    found = harmless(html.render(made(past[0])))
    text = found.text()
    for said in (
        "sglang 0.5.9 added",
        "Compared with the run of",
        "no more: transformers is 5.8.1",
        "<script>alert(1)",
    ):
        assert said in text
    order = [each["datetime"] for each in found.of("time")]
    assert order == sorted(order, reverse=True)


def test_since_leaves_out_what_came_before(past):
    assert all(run.at >= TURNS["swapped"] for run in past[1].runs)
    page = made(past[1])
    assert [turn.since for turn in past[1].turns] == [None]
    assert page.runs < len(past[0].runs)


def test_without_a_past_there_is_the_present():
    page = made(Past(), BEGIN)
    assert (page.runs, page.changes, page.moments) == (0, None, [])
    assert "No healthy run is remembered" in html.render(page)


class TestHeld:
    def test_counts_graphs_of_each_device_and_all_bytes(self):
        held = series.held(caches(warm("cuda:0", "cuda:1", size=5000)))
        assert held == {"": (40, 5000), "cuda:0": (20, 0), "cuda:1": (20, 0)}

    @pytest.mark.parametrize(
        "found",
        [
            Unavailable("no torch"),
            caches(warm("cuda:0", complete=False)),
            caches(warm("cuda:0", problem="x")),
            caches(),
        ],
    )
    def test_what_was_not_walked_is_not_known(self, found):
        assert series.held(found) is None

    def test_devices_are_not_known_where_not_every_graph_was_read(self):
        assert series.held(caches(warm("cuda:0", sampled=False))).keys() == {""}

    def test_kernels_and_other_caches_do_not_count(self):
        counted = warm("cuda:0", counts=(Count("py", "cuda:0", "", 7, 70), Count("fxgraph", "cuda:0", "", 1, 10)))
        assert series.held(caches(counted, cache("cuda", "/nv", size=99)))["cuda:0"] == (1, 10)

    def test_bytes_that_were_not_counted_are_unknown_and_not_nothing(self):
        plots = list(series.cache_plots([(0.0, {"": (2, 9), "cuda:0": (2, 0)}), (1.0, {"": (0, 9)})]))
        assert plots[1].series[0].points == [(0.0, None), (1.0, 0.0)]


def test_runs_that_were_not_judged_are_gaps(past):
    first, second, *_ = past[0].runs
    plot = series.findings_plot([first, replace(second, verdict=None)], report(outcome("packages/x", finding())))
    assert [value for _, value in plot.series[0].points] == [0.0, None, 1.0]


def test_drift_that_was_there_from_the_first_run_counts_once(past):
    begin = past[0].runs[20].at
    since = [replace(each, appeared=begin) for each in past[0].episodes]
    points = series.drift_plot(since, past[0].runs[20:], report(outcome())).series[0].points
    assert [value for _, value in points] == [6.0, 0.0, 0.0]
    still = [replace(each, gone=None) for each in since]
    points = series.drift_plot(still, past[0].runs[20:], report(outcome())).series[0].points
    assert [value for _, value in points] == [6.0, 0.0]


def test_a_change_among_runs_that_were_not_looked_at_says_between_which(tmp_path):
    path = tmp_path / "node7.sqlite"
    subject = record_weeks(path, "/env", "node7", until=TURNS["wiped"])
    stays = state_series.stays(str(path), subject)
    turn = remembering._turn(str(path), stays, 0, len(stays) - 1)
    assert (turn.since, turn.at) == (stays[0].last, stays[-1].first)
    assert "sglang" in {event.subject for event in turn.events}


def test_drift_without_a_lock_says_why():
    reason = Unavailable("no lock")
    without = report(*(outcome(probe, skipped=reason) for probe in series.OFF_THE_LOCK))
    plot = series.drift_plot([], [], without)
    assert (plot.series, plot.missing) == ((), "no lock")


def test_many_details_are_one_line(past):
    events = past[0].turns[0].events
    told = list(moments.changes(1.0, events, 0.5))
    assert told[-1].text == f"{len(events) - 2} more details"
    assert {each.since for each in told} == {0.5}


def test_what_the_disk_tells_is_told():
    document = {
        "events": [
            {"kind": "created", "at": "2026-06-01T00:00:00Z", "subject": "pyvenv.cfg", "what": "environment made"},
            {"kind": "edited", "at": None, "subject": "six", "what": "a file changed"},
        ]
    }
    (told,) = moments.installs(document)
    assert (told.text, told.kind) == ("pyvenv.cfg: environment made", "installed")


def test_the_youngest_comes_first():
    told = moments.youngest_first([moments.Moment(at, "gone", "") for at in (1.0, 3.0, 2.0)], 1.5)
    assert [each.at for each in told] == [3.0, 2.0]


def test_the_growth_of_a_cache_is_no_turn(tmp_path):
    path = tmp_path / "node7.sqlite"
    subject = record_weeks(path, "/env", "node7", until=BEGIN + timedelta(hours=9), step=timedelta(hours=1))
    past = remember(str(path), subject, None)
    assert past.turns == ()
    assert len({each[""] for _, each in past.held}) == 9
