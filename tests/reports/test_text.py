"""What one reads at two in the morning: verdict first, one block a cause, nothing that can harm a terminal."""

import re
import time
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from values import NOON, TARGET, distribution, distributions, finding, judged, lock, outcome, report, state
from values import files as files_of

from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.probes.packages import altered_file, drifted, foreign
from envdoctor.reports.text import Style, render, spoken

MANY = [f"package-{n}" for n in range(41)]


def contaminated():
    """Return the report of a serving stack that came with 41 packages and moved one."""
    stack = distribution("sglang", "0.5.9", requires=["transformers==5.8.1", *MANY], installed_at=NOON, requested=True)
    installed = [distribution(name, installed_at=NOON + 1) for name in MANY]
    moved = distribution("transformers", "5.8.1", installed_at=NOON + 1)
    facts = {"distributions": distributions(stack, *installed, moved, "pip"), "lock": lock("transformers==5.6.0")}
    return report(
        judged(drifted.check, "packages/drifted", **facts), judged(foreign.check, "packages/foreign", **facts)
    )


class TestHead:
    @pytest.mark.parametrize(
        ("severities", "line"),
        [
            ([], "HEALTHY  nothing found"),
            ([1], "HEALTHY  1 note"),
            ([2, 1, 1], "WARNINGS  1 warning, 2 notes"),
            ([3, 3, 2], "SICK  2 errors, 1 warning"),
        ],
    )
    def test_the_verdict_is_the_first_line(self, severities, line):
        found = [finding(f"p{n}", Severity(severity)) for n, severity in enumerate(severities)]
        assert render(report(outcome("a/b", *found))).splitlines()[0] == line

    def test_healthy_is_not_said_without_doubt_where_something_failed(self):
        said = render(report(outcome("a/b", skipped=Unavailable("deadline", failed=True))))
        assert said.splitlines()[0] == "WARNINGS  nothing found, not all could be judged"

    def test_it_says_what_was_judged_by_what(self):
        target = replace(TARGET, other_locks=("/project/uv.lock",))
        said = render(report(target=target, seen={"torch": "2.11.0+cu128", "packages": 156}))
        assert "/env: Python 3.12.3, torch 2.11.0+cu128, 156 packages\n" in said
        assert "judged by /project/train.txt (also there, not used: uv.lock)\n" in said

    def test_it_says_that_there_is_no_lock(self):
        assert "no lock: nothing says" in render(report(target=replace(TARGET, lock=None)))

    def test_no_target_is_no_line(self):
        assert render(report(target=None)).count("\n\n") == 1


class TestBlock:
    def test_43_findings_of_one_cause_are_one_block(self):
        given = contaminated()
        assert len(list(given.findings())) == 43
        said = render(given)
        assert said.count("ERROR  ") == 1
        assert "WARNING" not in said
        head = (
            "sglang 0.5.9 is not in train.txt; its install also moved transformers 5.6.0 -> 5.8.1 and added 41 packages"
        )
        assert f"ERROR    {head}\n" in said
        assert "package-0, " in said
        assert " and 33 more\n" in said

    def test_it_says_when_and_what_next(self):
        said = render(contaminated())
        assert f"installed {spoken('2026-06-03T12:00:01Z')} by pip\n" in said
        assert "- transformers is 5.8.1, the lock says 5.6.0  [packages/drifted]\n" in said
        assert "see: envdoctor explain packages/foreign\n" in said
        assert re.search(r"next: .* uninstall sglang ", said)
        assert "then: $ /env/bin/python -m pip install --force-reinstall --no-deps transformers==5.6.0\n" in said
        assert said.count("transformers==5.6.0") == 1, "the root's advice covers what it moved"

    @pytest.mark.parametrize(("count", "more"), [(8, None), (9, "- and 1 more of packages/drifted\n")])
    def test_what_it_moved_comes_first_and_is_cut(self, count, more):
        root = finding("sglang", cause="sglang")
        company = [
            finding("vllm", message="vllm came", cause="sglang", family="vllm"),
            finding("six", message="six came", cause="sglang"),
        ]
        moved = [finding(f"p{n}", message=f"p{n} moved", cause="sglang") for n in range(count)]
        said = render(report(outcome("packages/foreign", root, *company), outcome("packages/drifted", *moved)))
        assert said.count(" moved  [packages/drifted]\n") == 8
        assert said.index("- p7 moved") < said.index("- vllm came  [packages/foreign]\n")
        assert "six came" not in said, "the root lists it"
        assert ("more of packages/drifted" in said) == (more is not None)
        assert more is None or more in said

    @pytest.mark.parametrize(("probe", "printed"), [("packages/drifted", False), ("packages/file-collision", True)])
    def test_the_roots_advice_covers_what_came_and_moved_and_nothing_else(self, probe, printed):
        root = outcome("packages/foreign", finding("sglang", cause="sglang", remedy=["remove sglang"]))
        follower = outcome(probe, finding("torch", cause="sglang", remedy=["mend torch"]))
        assert ("then: mend torch\n" in render(report(root, follower))) == printed

    def test_a_step_that_two_findings_share_is_printed_once(self):
        found = finding("six", remedy=["pip install six", "pip install six"])
        assert render(report(outcome("a/b", found))).count("pip install six") == 1

    def test_lists_are_cut_and_counted(self):
        found = finding("torch", paths=[f"torch/{n}.py" for n in range(50)], count=900)
        assert "paths: torch/0.py, torch/1.py" in render(report(outcome("a/b", found)))
        assert "torch/7.py and 892 more\n" in render(report(outcome("a/b", found)))

    def test_a_programs_last_lines_are_shown_as_they_are(self):
        found = finding("cuda:0", last_lines=["/x.c:7:10: fatal error", "    7 | #include <Python.h>", "x" * 200])
        said = render(report(outcome("a/b", found)), Style(80))
        assert (
            f"         | /x.c:7:10: fatal error\n         |     7 | #include <Python.h>\n         | {'x' * 200}\n"
            in said
        )
        assert "last lines:" not in said

    @pytest.mark.parametrize("key", ["stacks", "printed"])
    def test_stacks_and_output_are_left_to_json(self, key):
        assert "File a" not in render(report(outcome("a/b", finding("cuda:0", **{key: ["File a"]}))))

    def test_what_the_sentence_says_already_is_not_repeated(self):
        found = finding("torch", message="a.py of torch differs", paths=["a.py"])
        assert "paths:" not in render(report(outcome("a/b", found)))

    @pytest.mark.parametrize(("count", "more"), [(20, None), (21, 1), (1000, 980)])
    def test_a_thousand_of_one_probe_are_cut_and_counted(self, count, more):
        many = outcome("packages/missing", *(finding(f"p{n}", message=f"p{n} is gone") for n in range(count)))
        said = render(report(many, outcome("packages/orphan", finding("x", message="x is alone"))))
        assert said.count(" is gone\n") == 20
        assert ("more findings of" in said) == (more is not None)
        assert more is None or f"and {more} more findings of packages/missing (all of them: --format json)\n" in said
        assert "x is alone" in said
        assert said.startswith(f"SICK  {count + 1} errors\n")


class TestNotes:
    def test_many_of_one_probe_are_collapsed(self):
        notes = [finding(f"p{n}", Severity.NOTE, f"p{n} has strays") for n in range(9)]
        said = render(report(outcome("packages/unowned-file", *notes)))
        assert said.count("NOTE ") == 3
        assert "and 6 more notes of packages/unowned-file (all of them: --format json)\n" in said

    def test_they_come_after_what_is_serious(self):
        said = render(report(outcome("a/b", finding("p", Severity.NOTE, "small")), outcome("a/c", finding())))
        assert said.index("ERROR") < said.index("NOTE")


class TestEnd:
    def test_what_was_not_done_is_said_with_its_reason_once(self):
        gone = Unavailable("no lock: none was named")
        said = render(
            report(
                outcome("packages/missing", skipped=gone),
                outcome("packages/drifted", skipped=gone),
                outcome("packages/foreign", skipped=Unavailable("no answer in 30 s", failed=True)),
                outcome("packages/orphan", crashed="KeyError: 'x' (orphan.py:3)"),
            )
        )
        assert "skipped  no lock: none was named: packages/missing, packages/drifted\n" in said
        assert "FAILED   no answer in 30 s: packages/foreign\n" in said
        assert "CRASHED  packages/orphan crashed: KeyError: 'x' (orphan.py:3)\n" in said
        assert said.splitlines()[-1] == "0 of 4 probes found nothing (0.31 s)"

    def test_muted_findings_are_counted_and_their_probe_has_not_passed(self):
        given = report(outcome("a/b", muted=(finding(), finding())), outcome("a/c"), config="/p/envdoctor.toml")
        assert "muted    2 of a/b, by /p/envdoctor.toml\n" in render(given)
        assert "1 of 2 probes found nothing" in render(given)

    def test_the_last_line_counts_the_files(self):
        said = render(report(outcome("a/b"), seen={"files": 70000}))
        assert said.endswith("1 of 1 probes found nothing (70,000 files, 0.31 s)\n")


class TestStyle:
    def test_no_colour_unless_asked_for(self):
        assert "\033" not in render(contaminated())
        coloured = render(contaminated(), Style(80, colour=True))
        assert "\033[31;1mSICK\033[0m" in coloured
        assert re.sub(r"\033\[[\d;]*m", "", coloured) == render(contaminated(), Style(80))

    def test_no_width_leaves_lines_whole_and_a_width_holds_all_but_commands(self):
        assert max(map(len, render(contaminated()).splitlines())) > 100
        narrow = render(contaminated(), Style(80)).splitlines()
        assert [line for line in narrow if len(line) > 80 and not re.match(r" +(next|then): ", line)] == []

    def test_paths_are_never_broken(self):
        path = "/a" * 60
        assert path in render(report(outcome("a/b", finding(message=f"{path} is gone"))), Style(80))


class TestHostile:
    EVIL = "x\x1b[2J\u202etxt.\udcff\n"
    SHOWN = r"x\x1b[2J\u202etxt.\xff\x0a"

    def test_a_package_name_reaches_the_terminal_as_text(self):
        given = {"distributions": distributions(distribution(self.EVIL)), "lock": lock("six==1.0")}
        said = render(report(judged(foreign.check, "packages/foreign", **given)))
        assert r"x\x1b[2j\u202etxt-\xff\x0a 1.0 is not in train.txt" in said
        assert_harmless(said)

    def test_a_path_reaches_the_terminal_as_text(self):
        six = distribution("six")
        changed = files_of(state(six, altered={self.EVIL: "size"}))
        said = render(report(judged(altered_file.check, distributions=distributions(six), files=changed)))
        assert self.SHOWN in said
        assert_harmless(said)

    def test_so_do_versions_the_prefix_and_the_locks(self):
        target = replace(TARGET, prefix=self.EVIL, lock=self.EVIL, other_locks=(self.EVIL,))
        said = render(report(target=target, python=self.EVIL, seen={"torch": self.EVIL}))
        assert said.count(self.SHOWN) == 5
        assert_harmless(said)


def assert_harmless(said):
    """Allow no character that moves the cursor, hides or reorders others, or cannot be written."""
    kinds = {unicodedata.category(char) for char in said.replace("\n", "")}
    assert kinds & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} == set()


texts = st.text(max_size=40)
some_findings = st.builds(
    Finding,
    st.sampled_from(Severity),
    texts,
    texts,
    st.dictionaries(
        st.sampled_from(["cause", "paths", "installed_at", "installer", "x y", "file", "line", "column", "text"]),
        texts | st.lists(texts) | st.integers(),
    ).map(lambda evidence: {key: value for key, value in evidence.items() if key != "cause" or isinstance(value, str)}),
    st.lists(texts, max_size=3).map(tuple),
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["packages/foreign", "packages/drifted", "environment/moved", "lock/unpinned"]),
            some_findings,
        )
    ),
    st.sampled_from([None, 1, 40, 80]),
    st.booleans(),
)
def test_no_finding_stops_the_report(found, width, colour):
    given = report(*(outcome(probe, item) for probe, item in found))
    assert render(given, Style(width, colour)).endswith("s)\n")


@given(some_findings, st.sampled_from(["packages/test", "lock/test"]))
def test_no_finding_that_was_judged_can_harm_a_terminal(found, probe):
    def check(policy):
        yield found

    assert_harmless(render(report(judged(check, probe))))


@pytest.mark.parametrize("text", ["yesterday", "", "0001-01-01T00:00:00+14:00"])
def test_what_is_no_moment_is_left_as_it_is(text):
    assert spoken(text) == text


def test_a_moment_is_spoken_in_local_time(monkeypatch):
    monkeypatch.setenv("TZ", "UTC-2")
    time.tzset()
    try:
        assert spoken("2026-06-03T12:22:00Z") == "3 June 2026 at 14:22"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(("seen", "said"), [({"lock": "changed since the environment was sealed"}, True), ({}, False)])
def test_a_lock_that_changed_since_the_seal_is_said_so(seen, said):
    given = replace(report(), target=replace(TARGET, lock="/project/train.txt"), seen=seen)
    assert (", changed since the environment was sealed" in render(given)) is said


def test_old_tables_are_said_to_be_old():
    given = replace(report(), seen={"knowledge": "checked on 2026-11-29, 400 days ago"})
    assert "tables of facts were checked on 2026-11-29, 400 days ago" in render(given)
