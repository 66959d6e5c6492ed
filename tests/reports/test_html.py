"""The page: whole, harmless whatever the target is called, and readable without colours."""

import random
import re

import pytest
from pages import harmless
from values import NOW, finding, outcome, report

from envdoctor.changes.events import Comparison, Event, Gap
from envdoctor.changes.telling import Seen, document
from envdoctor.model import Severity, Target, Unavailable
from envdoctor.reports import html, markup, plots
from envdoctor.reports.page import Moment, Page, Plot, Series, Span

AT = NOW.timestamp()
DAY = 86400.0
HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m\u202e</title></style>" + "x" * 300
SEEN = Seen("healthy", "history", 7, "2026-06-02T14:00:00Z", "node7", "/env", None, "0.1.0")


def page(judged=None, **fields):
    given = {
        "envdoctor": "0.1.0",
        "spans": [Span(AT - 2 * DAY, AT - DAY, "healthy", 100), Span(AT - DAY, AT, "sick", 50)],
        "runs": 150,
        "plots": [Plot("Findings", "findings", "", [Series("errors", [(AT - 2 * DAY, 0.0), (AT, 3.0)], "error")])],
        "moments": [Moment(AT - DAY, "verdict", "sick, in 50 runs", "sick")],
        "changes": None,
        "unchanged": "no healthy run",
        "notes": [],
    }
    return Page(judged or report(outcome("packages/foreign", finding("sglang"))), **(given | fields))


def shown(*arguments, **fields):
    return harmless(html.render(page(*arguments, **fields)))


def test_it_has_what_was_found_what_changed_and_when():
    events = (Event("packages", "added", "sglang", None, "1", "sglang 1 added"),)
    gaps = (Gap("driver", "after", "NVML is silent"),)
    found = shown(changes=document(Comparison(events, gaps), SEEN, SEEN))
    text = found.text()
    for said in ("SICK", "1 error", "six is not well", "sglang 1 added", "driver: NVML is silent", "sick, in 50 runs"):
        assert said in text
    assert "2 Jun 2026, 14:00 UTC" in text
    assert len(found.of("section")) == 5


def test_a_cause_heads_what_follows_from_it():
    head = finding("sglang", message="sglang came", cause="sglang", remedy=["pip uninstall sglang", "ask somebody"])
    moved = finding("transformers", message="transformers moved", cause="sglang")
    found = shown(report(outcome("packages/foreign", head), outcome("packages/drifted", moved)))
    assert len(found.of("article")) == 1
    assert "transformers moved" in found.text("li")
    assert "pip uninstall sglang" in found.text("code")
    assert "ask somebody" in found.text("li")


@pytest.mark.parametrize("place", ["target", "finding", "moment", "change", "series", "note", "skipped"])
def test_a_hostile_string_is_text_wherever_it_stands(place):
    judged, fields = None, {}
    if place == "target":
        judged = report(outcome(), target=Target(HOSTILE, HOSTILE, HOSTILE), host=HOSTILE, python=HOSTILE)
    elif place == "finding":
        judged = report(
            outcome("packages/foreign", finding(HOSTILE, message=HOSTILE, paths=[HOSTILE], remedy=[HOSTILE]))
        )
    elif place == "skipped":
        judged = report(outcome(skipped=Unavailable(HOSTILE)), outcome(crashed=HOSTILE), failed={HOSTILE: HOSTILE})
    elif place == "moment":
        fields = {"moments": [Moment(AT, "gone", HOSTILE, HOSTILE, AT - 1)]}
    elif place == "change":
        events = (Event("packages", "added", HOSTILE, None, "1", HOSTILE),)
        fields = {"changes": document(Comparison(events, (Gap(HOSTILE, "both", HOSTILE),)), SEEN, SEEN)}
    elif place == "series":
        fields = {"plots": [Plot(HOSTILE, HOSTILE, "", [Series(HOSTILE, [(AT, 1.0)])], HOSTILE)]}
    else:
        fields = {"notes": [HOSTILE], "unchanged": HOSTILE}
    text = html.render(page(judged, **fields))
    assert "<script" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    found = harmless(text)
    assert r"<script>alert(1)</script>" + "\"'&" + r"\x1b[31m\u202e</title></style>xxx" in found.text()


def test_a_page_of_its_own_making_leads_nowhere():
    for attributes in ({"href": "https://index.example"}, {"onclick": "x"}, {"style": "x"}, {"src": "x"}):
        with pytest.raises(ValueError, match="loads and runs nothing"):
            markup.element("a", "x", **attributes)
    assert markup.element("p", markup.element("br"), "<", class_='"') == '<p class="&quot;"><br>&lt;</p>'


def test_secrets_of_addresses_are_not_shown():
    judged = report(outcome("packages/foreign", finding(message="from https://me:hunter2@host/x")))
    assert "hunter2" not in html.render(page(judged))


class TestWithoutHistory:
    def test_no_run_at_all_is_said(self):
        found = shown(runs=0, spans=[], moments=[])
        assert "No earlier run is remembered" in found.text()
        assert "Nothing that is dated is known." in found.text()

    def test_one_run_is_said(self):
        assert "One earlier run is remembered" in shown(runs=1).text()

    def test_two_are_nothing_to_be_said(self):
        assert "earlier run is remembered" not in shown(runs=2).text()


class TestPlots:
    def test_each_is_told_in_words(self):
        found = shown()
        assert found.text("desc").startswith(
            "findings, from 1 Jun 2026, 14:30 to 3 Jun 2026, 14:30 UTC. errors: 0 at first"
        )
        (image,) = [each for each in found.of("svg") if each.get("role") == "img"]
        ids = {
            attributes["id"] for tag, attributes in found.elements if tag in ("title", "desc") and "id" in attributes
        }
        assert set(image["aria-labelledby"].split()) == ids

    def test_axes_have_units_and_the_time_its_zone(self):
        sizes = [Plot("Bytes", "size", "bytes", [Series("cuda:0", [(AT - DAY, 1.0), (AT, float(353 << 20))])])]
        text = shown(plots=sizes).text("text")
        assert "400 MiB" in text
        assert "time (UTC)" in text
        assert "3 Jun" in text

    def test_lines_differ_in_more_than_colour_and_bear_their_names(self):
        lines = [Series(f"cuda:{number}", [(AT - DAY, 1.0), (AT, float(number))]) for number in range(8)]
        found = shown(plots=[Plot("Keys", "keys", "", lines)])
        drawn = [each for each in found.of("path") if each["class"].startswith("line")]
        assert len({each.get("stroke-dasharray") for each in drawn}) == 8
        assert {f"cuda:{number}" for number in range(8)} <= set(found.text("span").split())

    def test_lines_that_are_one_are_drawn_once_under_all_names(self):
        lines = [Series(f"cuda:{number}", [(AT, 5.0)]) for number in range(8)]
        found = shown(plots=[Plot("Keys", "keys", "", lines)])
        assert "cuda:0 to cuda:7 (8 alike)" in found.text("span")
        assert len(found.of("path")) == 1

    def test_more_lines_than_can_be_told_apart_are_counted(self):
        lines = [Series(f"cuda:{number}", [(AT, float(number))]) for number in range(11)]
        assert "and 3 more lines, not drawn" in shown(plots=[Plot("Keys", "keys", "", lines)]).text()

    def test_what_is_not_known_is_a_gap(self):
        line = Series("errors", [(AT - DAY, 1.0), (AT - DAY / 2, None), (AT, 1.0)])
        (drawn,) = re.findall(r'<path d="([^"]*)"', html.render(page(plots=[Plot("x", "y", "", [line])])))
        assert drawn.count("M") == 2

    def test_nothing_known_is_said_with_its_reason(self):
        assert "no lock" in shown(plots=[Plot("x", "y", "", [Series("z", [(AT, None)])], "no lock")]).text()

    def test_a_band_tells_verdicts_by_height_and_in_words(self):
        found = shown()
        heights = {each["class"]: int(each["height"]) for each in found.of("rect")}
        assert heights["band sick"] > heights["band healthy"]
        assert "of 150 runs healthy in 100, sick in 50" in found.text()

    def test_thinning_keeps_every_least_and_greatest(self):
        chance = random.Random(3)  # noqa: S311 - the same every time
        points = [(float(n), chance.uniform(10, 20)) for n in range(10_000)]
        points[4321], points[8765], points[9000] = (4321.0, 99.0), (8765.0, -5.0), (9000.0, None)
        kept = plots.thinned(points, 0.0, 9999.0)
        assert {points[0], points[4321], points[8765], points[9000], points[-1]} <= set(kept)
        assert len(kept) <= 5 * plots.COLUMNS
        assert kept == sorted(kept, key=lambda point: point[0])

    def test_few_points_stay_as_they_are(self):
        points = [(float(n), 1.0) for n in range(100)]
        assert plots.thinned(points, 0.0, 99.0) == points

    @pytest.mark.parametrize(
        ("greatest", "unit", "top"),
        [
            (0, "", 4),
            (5, "", 8),
            (10, "", 12),
            (11, "", 12),
            (140, "", 160),
            (1000, "", 1000),
            (3 << 20, "bytes", 4 << 20),
        ],
    )
    def test_the_axis_ends_on_a_round_number(self, greatest, unit, top):
        assert plots.ceiling(greatest, unit) == top

    @pytest.mark.parametrize("days", [0, 0.01, 0.2, 1, 3, 10, 45, 200, 400, 4000])
    def test_ticks_are_few_and_in_order(self, days):
        times = [at for at, _ in plots.ticks(AT - days * DAY, AT)]
        assert 1 <= len(times) <= 13
        assert times == sorted(times)
        assert all(AT - days * DAY <= at <= AT for at in times)


def test_ten_thousand_runs_of_eight_devices_stay_small():
    chance = random.Random(1)  # noqa: S311 - the same every time
    begin = AT - 70 * DAY

    def line(name):
        return Series(name, [(begin + n * 600.0, float(chance.randrange(300_000_000))) for n in range(10_000)])

    drawn = [
        Plot(title, "x", unit, [line(f"cuda:{n}") for n in range(8)]) for title, unit in (("a", ""), ("b", "bytes"))
    ]
    spans = [Span(begin + n * 3000.0, begin + (n + 1) * 3000.0, ("sick", "healthy")[n % 2], 5) for n in range(2000)]
    moments = [Moment(AT - n, "appeared" if n % 2 else "gone", HOSTILE) for n in range(10_000)]
    many = report(*(outcome(f"packages/p{n}", finding(str(n), Severity.NOTE, HOSTILE)) for n in range(2000)))
    text = html.render(page(many, plots=drawn, spans=spans, moments=moments, runs=10_000))
    assert len(text.encode()) < 500_000
