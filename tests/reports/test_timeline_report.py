"""The two histories as text."""

import pytest

from envdoctor.reports import blame, timeline
from envdoctor.reports.layout import Style

HEAD = {
    "target": {"prefix": "/env", "python": "3.12.3", "lock": "/project/train.txt", "packages": 40},
    "snapshot": None,
    "host": "node7",
    "failed": {},
}


@pytest.fixture(autouse=True)
def zone(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def named(text, requested=False):
    name, _, version = text.partition(" ")
    return {"name": name, "version": version or None, "requested": requested}


def installed(roots=("sglang 0.5.9",), added=(), moved=(), **fields):
    return {
        "kind": "installed",
        "at": "2026-06-03T12:22:07Z",
        "until": "2026-06-03T12:23:00Z",
        "installer": "pip",
        "roots": [named(text) for text in roots],
        "added": [named(text) for text in added],
        "moved": [dict(zip(("name", "was", "now", "by"), text.split(), strict=True)) for text in moved],
        "overwrote": [],
        "foreign": [],
        "stacks": [],
        "locked": 0,
        "first": False,
        "repurposed": False,
        **fields,
    }


STACK = installed(
    added=[f"p{n} 1.0" for n in range(18)] + ["tilelang 0.1"],
    moved=["transformers 5.6.0 5.8.1 lock"],
    stacks=["sglang", "tilelang"],
    repurposed=True,
)


def told(*events, **fields):
    return {**HEAD, "events": list(events), "gone": [], "undated": [], "timeless": None, "unknown": [], **fields}


SENTENCE = "pip installed sglang 0.5.9, which added 19 packages and moved transformers 5.6.0 -> 5.8.1"


class TestTimeline:
    def test_what_changed_the_purpose_comes_first(self):
        lines = timeline.render(told(installed(["numpy 2"], first=True), STACK)).splitlines()
        assert lines[0] == f"repurposed on 3 June 2026 at 14:22: {SENTENCE}"
        assert lines[1] == "/env: Python 3.12.3, 40 packages"
        assert lines[2] == "compared with /project/train.txt"
        assert "3 June 2026 at 14:22:07 UTC+02:00" in lines

    @pytest.mark.parametrize(
        ("event", "sentence"),
        [
            (installed(["a 1", "b 2"]), "pip installed a 1 and b 2"),
            (installed(["a", "b", "c", "d"]), "pip installed a, b, c and 1 more"),
            (installed(added=["x 1"]), "pip installed sglang 0.5.9, which added 1 package"),
            (installed([], ["x 1", "y 1"]), "pip installed x 1 and y 1"),
            (installed(installer=None), "an unknown installer installed sglang 0.5.9"),
            (installed(["t 2"], moved=["t 1 2 lock"]), "pip moved t 1 -> 2"),
            (installed(["t 2"], ["x 1"], ["t 1 2 lock"]), "pip moved t 1 -> 2, and added 1 package"),
            (installed(["a 1", "t 2"], moved=["t 1 2 lock"]), "pip installed a 1, which moved t 1 -> 2"),
            (installed(["t 2"], moved=["t 1 2 lock"], first=True), "pip installed t 2"),
            (installed(["t 2"], moved=["t 1 2 old"]), "pip installed t 2"),
            (installed(["a 1", "b 1", "s 1"], foreign=["b", "s"], stacks=["s"]), "pip installed s 1, b 1 and a 1"),
            (installed(["a", "b"], ["c", "d"], locked=4), "pip installed 4 packages, all as the lock has them"),
        ],
    )
    def test_a_batch_is_one_sentence(self, event, sentence):
        assert f"    {sentence}\n" in timeline.render(told(event))

    @pytest.mark.parametrize(
        ("event", "line"),
        [
            (STACK, "added: tilelang 0.1, p0 1.0, p1 1.0, p2 1.0, p3 1.0, p4 1.0, p5 1.0, p6 1.0 and 11 more"),
            (STACK, "moved from the lock: transformers 5.6.0 -> 5.8.1"),
            (installed(moved=["t 1 2 seal"], first=True), "unlike the seal: t 1 -> 2"),
            (installed(moved=["t 1 2 old"]), "unmet: old requires t 1, and this is 2"),
            (
                installed(overwrote=[{"name": "b", "of": "a", "paths": ["x.py", "y.py"]}]),
                "overwrote: 2 files of a (by b): x.py, y.py",
            ),
        ],
    )
    def test_details_follow(self, event, line):
        assert f"    - {line}\n" in timeline.render(told(event))

    def test_other_events_are_told(self):
        edit = {
            "kind": "edited",
            "at": "2026-06-04T00:00:00Z",
            "subject": "numpy",
            "what": "a file of numpy changed",
            "paths": ["a.py"],
            "count": 3,
        }
        assert timeline.render(told(edit)).endswith(
            "4 June 2026 at 02:00:00 UTC+02:00\n    a file of numpy changed\n    - a.py and 2 more\n"
        )

    def test_what_is_gone_and_unknown_ends_it(self):
        gone = [
            {"name": "ray", "version": "2.0", "evidence": ["the lock has it"], "recorded": True},
            {"name": "six", "version": None, "evidence": ["old requires it"], "recorded": False},
        ]
        text = timeline.render(
            told(gone=gone, timeless="copied", undated=["a", "b"], unknown=["this: no lock"], failed={"files": "slow"})
        )
        assert text.endswith(
            "gone: ray 2.0: the lock has it\nrequired, and gone or never installed: six\n\n"
            "unknown when: copied: a, b\nnot told: this: no lock\nFAILED files: slow\n"
        )

    def test_long_histories_are_cut_in_the_middle(self):
        text = timeline.render(told(*[installed([f"p{n} 1"]) for n in range(100)]))
        assert "\n... and 40 events more (all of them: --format json)\n" in text
        assert [name in text for name in ("p29 1", "p30 1", "p69 1", "p70 1")] == [True, False, False, True]

    def test_many_turns_and_losses_are_cut(self):
        gone = [{"name": f"g{n}", "version": None, "evidence": ["x"], "recorded": True} for n in range(12)]
        text = timeline.render(told(*[STACK] * 5, gone=gone))
        assert text.count("repurposed on") == 3
        assert "  and 2 times more, below\n" in text
        assert "gone: and 2 more (all of them: --format json)\n" in text

    @pytest.mark.parametrize("moment", [None, "99999-01-01T00:00:00Z"])
    def test_no_time_breaks_it(self, moment):
        assert "at no known time" in timeline.render(told(installed(at=moment)))

    @pytest.mark.parametrize("width", [80, 120])
    def test_it_keeps_to_the_width(self, width):
        text = timeline.render(told(STACK), Style(width))
        assert max(map(len, text.splitlines())) <= width
        assert "\033" not in text
        assert timeline.render(told(STACK), Style(width, colour=True)).startswith("\033[31;1mrepurposed\033[0m on")

    def test_a_snapshot_is_named(self):
        assert "snapshot s.json, taken on node7" in timeline.render(told(snapshot="s.json"))


def copy(version="5.8.1", **fields):
    given = {"metadata": "/site/t.dist-info", "origin": "site-packages", "imported": True, "installer": "pip"}
    given |= {"requested": False, "url": None, "editable": False, "installed_at": "2026-06-03T12:22:07Z"}
    return {"version": version, "problems": [], **given, **fields}


def link(name, requires, satisfied=True):
    return {"name": name, "version": "1.0", "requires": requires, "satisfied": satisfied}


def pin(version="5.6.0", **fields):
    return {"version": version, "line": 5, "file": "/project/train.txt", "via": [], "wanted": True, **fields}


def why(**fields):
    none = {"name": "transformers", "copies": [copy()], "required_by": [], "chains": [], "more_chains": 0, "pins": []}
    none |= {"unlocked": None, "foreign": False, "cause": None, "batch": STACK, "timeless": None, "later": []}
    return {**HEAD, **none, **fields}


class TestBlame:
    def test_tells_the_story_of_a_moved_package(self):
        given = why(required_by=[link("sglang", "transformers==5.8.1")], pins=[pin(via=["-r in"])], cause="sglang")
        lines = blame.render(given).splitlines()
        assert lines[:2] == [
            "transformers 5.8.1, where the lock has 5.6.0, on account of sglang",
            "/env, compared with /project/train.txt",
        ]
        assert lines[3:8] == [
            "required by  sglang 1.0: transformers==5.8.1",
            "asked for    not by name: it came because something required it",
            "in the lock  5.6.0 (train.txt:5), for -r in",
            "came         3 June 2026 at 14:22:07 UTC+02:00",
            f"in company   {SENTENCE}",
        ]

    @pytest.mark.parametrize(
        ("fields", "line"),
        [
            ({"copies": [], "pins": [pin()]}, "transformers is not installed, and the lock has it"),
            ({"foreign": True}, "transformers 5.8.1 is not in the lock"),
            ({"foreign": True, "cause": "a"}, "transformers 5.8.1 is not in the lock, on account of a"),
            ({"copies": [copy(None)]}, "transformers of unknown version"),
            ({}, "required by  nothing that is installed"),
            ({"required_by": [link("a", "t<2", False)]}, "required by  a 1.0: t<2, which is not met"),
            ({"chains": [[link("a", "b"), link("b", "t")]]}, "for          a 1.0 > b 1.0 > transformers"),
            (
                {"copies": [copy(requested=True)]},
                "asked for    by name or in a requirements file, as pip recorded",
            ),
            (
                {"copies": [copy(requested=True, installer="uv")]},
                "asked for    unknown: uv says so of all that it installs",
            ),
            ({"copies": [copy(installer="conda")]}, "asked for    unknown: its installer records no such thing"),
            ({"copies": [copy(url="file:///x", editable=True)]}, "asked for    from file:///x (editable)"),
            ({"unlocked": "no lock"}, "in the lock  unknown: no lock"),
            ({"pins": [pin(None, line=0, wanted=False)]}, "in the lock  without a version (train.txt), by a group"),
            ({"batch": None, "timeless": "copied"}, "came         unknown when: copied"),
            ({"batch": None}, "came         unknown when: it lies outside the environment's own site-packages"),
            ({"later": ["b"]}, "overwritten  some of its files, by b"),
            ({"copies": [copy(), copy("1", imported=False)]}, "copies       5.8.1 in /site/t.dist-info, which is"),
            ({"copies": [copy(problems=["has no METADATA"])]}, "damaged      has no METADATA"),
        ],
    )
    def test_each_thing_has_its_line(self, fields, line):
        assert f"\n{line}" in "\n" + blame.render(why(**fields))

    def test_many_are_cut_broken_ones_first(self):
        links = [*(link(f"p{n}", "t") for n in range(9)), link("broken", "t<2", False)]
        lines = blame.render(why(required_by=links, chains=[links] * 7, more_chains=3)).splitlines()
        assert lines[3] == "required by  broken 1.0: t<2, which is not met"
        assert "             and 4 more (all of them: --format json)" in lines
        assert "             and 4 more" in lines

    @pytest.mark.parametrize("width", [80, 120])
    def test_it_keeps_to_the_width(self, width):
        text = blame.render(why(required_by=[link("a", "t>1," + ", ".join(f"!={n}" for n in range(50)))]), Style(width))
        assert max(map(len, text.splitlines())) <= width
