"""The report for CI servers: well-formed whatever it holds, a case a probe or a trial, and counts that add up."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junit_rules import broken_rules
from values import at, finding, outcome, report

from envdoctor.model import Finding, Outcome, Severity, Trial, Unavailable
from envdoctor.reports.junit import render

COMPILE = "smoke/compile"


def parsed(*outcomes, **fields):
    root = ET.fromstring(render(report(*outcomes, **fields)))
    assert broken_rules(root) == []
    return root


def cases(*outcomes, **fields):
    return list(parsed(*outcomes, **fields).iter("testcase"))


def only(*outcomes, **fields):
    (case,) = cases(*outcomes, **fields)
    return case


def child(case):
    """Return a case's only child."""
    (element,) = case
    return element


def trial(state="passed", step=COMPILE, device="cuda:0", seconds=2.5, said=""):
    return Trial(step, device, state, seconds, said)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("<x/>", ["the root is x", "<x> is unknown"]),
        ('<testsuites skipped="0" time="0.1"/>', ["<testsuites> has skipped"]),
        ('<testsuites time="one"/>', ["<testsuites> takes one"]),
        ("<testsuites><testcase/></testsuites>", ["<testsuites> holds <testcase>", "<testcase> lacks name"]),
        ('<testsuites>x<testsuite name="" tests="" failures="" errors=""/></testsuites>', ["<testsuites> holds text"]),
    ],
)
def test_the_rules_refuse_what_is_wrong(wrong, said):
    assert broken_rules(ET.fromstring(wrong)) == said


def test_a_whole_report_is_written_as_expected():
    bad = finding("six", message='six is "not" <well>', paths=["a.py"], remedy=["pip install six"])
    assert render(report(outcome("packages/drifted", bad), outcome("node/small-shm"))) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuites name="envdoctor" tests="2" failures="1" errors="0" time="0.314">\n'
        '  <testsuite name="envdoctor" tests="2" failures="1" errors="0" skipped="0" time="0.314"'
        ' timestamp="2026-06-03T14:30:00" hostname="node7">\n'
        "    <properties>\n"
        '      <property name="envdoctor" value="0.1.0" />\n'
        '      <property name="verdict" value="sick" />\n'
        '      <property name="target" value="/env" />\n'
        '      <property name="python" value="3.12.3" />\n'
        '      <property name="lock" value="/project/train.txt" />\n'
        "    </properties>\n"
        '    <testcase classname="packages" name="packages/drifted" time="0.000">\n'
        '      <failure type="error" message="six is &quot;not&quot; &lt;well&gt;">'
        'error: six: six is "not" &lt;well&gt;\n'
        'evidence: {"paths":["a.py"]}\n'
        "remedy: pip install six</failure>\n"
        "    </testcase>\n"
        '    <testcase classname="node" name="node/small-shm" time="0.000" />\n'
        "  </testsuite>\n"
        "</testsuites>\n"
    )


class TestProbes:
    def test_the_worst_finding_speaks_and_the_body_holds_all(self):
        found = (
            finding("a", Severity.NOTE, "a is odd"),
            finding("b", Severity.WARNING, "b is old"),
            finding("c", Severity.ERROR, "c is gone"),
        )
        failure = child(only(outcome("packages/test", *found)))
        assert (failure.tag, failure.get("type")) == ("failure", "error")
        assert failure.get("message") == "c is gone (and 1 more)"
        assert failure.text == "error: c: c is gone\n\nwarning: b: b is old\n\nnote: a: a is odd"

    def test_a_warning_fails_the_case_with_its_own_type(self):
        failure = child(only(outcome("packages/test", finding(severity=Severity.WARNING))))
        assert (failure.tag, failure.get("type")) == ("failure", "warning")

    def test_a_note_alone_passes_and_is_printed(self):
        output = child(only(outcome("packages/test", finding("a", Severity.NOTE, "a is odd"))))
        assert (output.tag, output.text) == ("system-out", "note: a: a is odd")

    def test_what_is_muted_passes_and_is_printed(self):
        output = child(only(outcome("packages/test", muted=(finding(),))))
        assert (output.tag, output.text) == ("system-out", "muted: six: six is not well")

    @pytest.mark.parametrize(
        ("fields", "tag", "kind", "message"),
        [
            ({"crashed": "KeyError: 'x' (y.py:1)"}, "error", "crashed", "KeyError: 'x' (y.py:1)"),
            ({"skipped": Unavailable("deadline", failed=True)}, "error", "unavailable", "deadline"),
            ({"skipped": Unavailable("no lock")}, "skipped", None, "no lock"),
        ],
    )
    def test_what_was_not_judged_says_why(self, fields, tag, kind, message):
        element = child(only(outcome("packages/test", **fields)))
        assert (element.tag, element.get("type"), element.get("message")) == (tag, kind, message)

    def test_a_fact_that_the_doctor_failed_to_read_is_an_error(self):
        case = only(failed={"driver": "NVML did not answer"})
        assert (case.get("classname"), case.get("name")) == ("facts", "driver")
        assert (child(case).tag, child(case).get("message")) == ("error", "NVML did not answer")


class TestLocks:
    def test_findings_over_several_files_lead_with_their_places(self):
        found = (
            at("b.txt:2:1", "six>1", "six", message="six is not pinned", severity=Severity.WARNING),
            at("b.txt:9:1", "numpy", message="numpy is not pinned"),
            at("a.txt:12", "scipy==1.*", "scipy", message="scipy is not pinned", remedy=["pin it"]),
        )
        failure = child(only(outcome("lock/unpinned", *found), target=None, python=None))
        assert failure.get("message") == "a.txt:12: scipy is not pinned (and 2 more)"
        assert failure.text == (
            "error: a.txt:12: scipy: scipy is not pinned\n"
            'evidence: {"file":"a.txt","line":12,"text":"scipy==1.*"}\n'
            "remedy: pin it\n\n"
            "error: b.txt:9:1: numpy: numpy is not pinned\n"
            'evidence: {"file":"b.txt","line":9,"text":"numpy","column":1}\n\n'
            "warning: b.txt:2:1: six: six is not pinned\n"
            'evidence: {"file":"b.txt","line":2,"text":"six>1","column":1}'
        )

    def test_notes_and_what_is_muted_have_places_too(self):
        note, muted = at("a.txt:1", severity=Severity.NOTE), at("a.txt:2:3")
        output = child(only(outcome("lock/orphan", note, muted=(muted,))))
        assert "note: a.txt:1: numpy: six is not well\n" in output.text
        assert output.text.endswith("\nmuted: a.txt:2:3: numpy: six is not well")

    def test_the_file_alone_is_named_where_no_line_is_known(self):
        assert child(only(outcome("lock/over-limit", at("a.txt")))).get("message") == "a.txt: six is not well"

    def test_a_file_at_fault_is_named_once(self):
        failure = child(only(outcome("lock/unhashed", at("a.txt:3", subject="a.txt", message="nothing has a hash"))))
        assert failure.text.startswith("error: a.txt:3: nothing has a hash\n")

    @pytest.mark.parametrize(
        ("severity", "tags", "said"),
        [
            (Severity.ERROR, ["failure", "system-out"], "b.txt: no target stated"),
            (
                Severity.NOTE,
                ["system-out", "skipped"],
                "b.txt: no target stated\nnote: a.txt:1: numpy: six is not well",
            ),
        ],
    )
    def test_what_one_lock_was_spared_hides_nothing_of_another(self, severity, tags, said):
        spared = Unavailable("b.txt: no target stated")
        case = only(outcome("lock/no-wheel", at("a.txt:1", severity=severity), skipped=spared))
        assert [part.tag for part in case] == tags
        output = case.find("system-out").text
        assert output.startswith(said.partition("\n")[0])
        assert said.partition("\n")[2] in output

    def test_a_crash_with_a_muted_finding_is_an_error(self):
        case = only(outcome("lock/no-wheel", muted=(at("a.txt:1"),), crashed="b.txt: KeyError: 'x'"))
        assert case.find("error").get("message") == "b.txt: KeyError: 'x'"
        assert "muted: a.txt:1: numpy" in case.find("system-out").text

    def test_what_was_audited_is_a_property(self):
        seen = {"locks": "a.txt, b.txt", "judged for": "Python 3.12"}
        root = parsed(outcome("lock/unpinned"), target=None, python=None, seen=seen)
        properties = {item.get("name"): item.get("value") for item in root.iter("property")}
        assert properties == {"envdoctor": "0.1.0", "verdict": "healthy"} | seen


class TestTrials:
    def test_each_step_on_each_device_is_a_case_with_its_time(self):
        found = cases(outcome(COMPILE), trials=(trial(said="1.2 s"), trial(device="cuda:1", seconds=0.0004)))
        assert [(case.get("classname"), case.get("name"), case.get("time")) for case in found] == [
            ("cuda:0", COMPILE, "2.500"),
            ("cuda:1", COMPILE, "0.000"),
        ]
        assert child(found[0]).text == "1.2 s"
        assert list(found[1]) == []

    def test_a_failed_step_has_the_details_of_its_own_finding(self):
        bad = finding("cuda:1", message="compile fails", exit=1, remedy=["nvidia-smi"])
        first, second = cases(outcome(COMPILE, bad), trials=(trial(), trial("failed", device="cuda:1")))
        assert list(first) == []
        assert child(second).get("message") == "compile fails"
        assert child(second).text == 'error: cuda:1: compile fails\nevidence: {"exit":1}\nremedy: nvidia-smi'

    def test_a_failed_step_without_a_finding_fails_all_the_same(self):
        case = only(outcome(COMPILE), trials=(trial("failed", said="exit status 1"),))
        assert case.find("failure").get("message") == "exit status 1"

    def test_a_failed_step_whose_finding_is_muted_does_not_fail(self):
        muted = outcome(COMPILE, muted=(finding("cuda:0"),))
        assert child(only(muted, trials=(trial("failed"),))).text == "muted: cuda:0: six is not well"

    def test_a_passed_step_with_a_warning_fails_as_the_warning_would_in_a_check(self):
        slow = finding("cuda:0", Severity.WARNING, "compile is slow")
        assert child(only(outcome(COMPILE, slow), trials=(trial(),))).get("type") == "warning"

    def test_a_step_that_never_ran_is_an_error_and_a_skipped_one_is_skipped(self):
        found = cases(trials=(trial("never-ran", said="out of time"), trial("skipped", said="no bf16")))
        assert [child(case).tag for case in found] == ["error", "skipped"]
        assert [child(case).get("message") for case in found] == ["out of time", "no bf16"]

    def test_what_no_trial_covers_is_not_lost(self):
        found = cases(
            outcome(COMPILE, finding("cuda:0"), finding("cuda:7", message="cuda:7 is gone")),
            outcome("smoke/passed"),
            outcome("smoke/crashed", crashed="KeyError"),
            trials=(trial("failed"),),
            failed={"driver": "no answer"},
        )
        assert [(case.get("classname"), case.get("name"), child(case).tag) for case in found] == [
            ("cuda:0", COMPILE, "failure"),
            ("smoke", COMPILE, "failure"),
            ("smoke", "smoke/crashed", "error"),
            ("facts", "driver", "error"),
        ]
        assert child(found[1]).get("message") == "cuda:7 is gone"


def test_characters_that_xml_cannot_hold_are_shown():
    case = only(outcome("a/b", finding("x\x00", message="\x1b[2J\udcff￾ é\n", path="\x00\x7f")))
    assert child(case).get("message") == "\\x1b[2J\\xff\\ufffe é\\x0a"
    assert child(case).text == 'error: x\\x00: \\x1b[2J\\xff\\ufffe é\\x0a\nevidence: {"path":"\\u0000\\u007f"}'


texts = st.text(st.characters() | st.sampled_from("\x00\x1b\ud800\udcff￾￿<>&\"']]>\r\n\t")) | st.just("]]>")
found = st.builds(
    Finding,
    st.sampled_from(Severity),
    texts | st.just("cuda:0"),
    texts,
    st.dictionaries(texts, texts | st.lists(texts)),
    st.tuples(texts),
)
outcomes = st.builds(
    Outcome,
    texts | st.just(COMPILE),
    st.lists(found, max_size=3).map(tuple),
    st.lists(found, max_size=2).map(tuple),
    st.none() | st.builds(Unavailable, texts, st.booleans()),
    st.none() | texts,
)
states = st.sampled_from(["passed", "failed", "skipped", "never-ran"])
trials = st.builds(Trial, texts | st.just(COMPILE), texts | st.just("cuda:0"), states, st.floats(0, 9e9), texts)


@given(
    st.lists(outcomes, max_size=4),
    st.lists(trials, max_size=3).map(tuple),
    st.dictionaries(texts, texts, max_size=2),
    texts,
)
def test_any_report_is_well_formed_and_its_counts_are_those_of_its_children(results, tried, failed, host):
    root = parsed(*results, trials=tried, failed=failed, host=host, python=host, config=host)
    (suite,) = root
    for element in (root, suite):
        for plural, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            if (element.tag, plural) != ("testsuites", "skipped"):
                assert int(element.get(plural)) == len(list(root.iter(tag)))
        assert int(element.get("tests")) == len(list(root.iter("testcase"))) >= len(tried) + len(failed)
    assert all(sum(part.tag != "system-out" for part in case) <= 1 for case in suite.iter("testcase"))
