"""The report for programs: the promised keys and no others, every finding on its own."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from values import TARGET, at, distribution, distributions, finding, findings, judged, lock, outcome, report

from envdoctor import __version__
from envdoctor.model import Finding, Severity, Trial, Unavailable
from envdoctor.policy import Mute, Policy
from envdoctor.probes.packages import foreign
from envdoctor.reports.json import render

KEYS = [
    *("schema", "envdoctor", "taken_at", "host", "target", "config", "verdict", "findings"),
    *("passed", "skipped", "crashed", "failed", "muted", "seen", "seconds"),
]


def parsed(*outcomes, **fields):
    return json.loads(render(report(*outcomes, **fields)))


def test_the_keys_are_those_of_schema_1():
    said = parsed(outcome("packages/missing", finding()), config="/project/envdoctor.toml", seen={"files": 7})
    assert list(said) == KEYS
    assert list(said["target"]) == ["prefix", "python", "lock"]
    assert list(said["findings"][0]) == ["probe", "severity", "subject", "message", "evidence", "remedy"]


def test_the_head_says_who_when_and_what():
    said = parsed(config="/project/envdoctor.toml", seen={"torch": "2.11.0"})
    assert (said["schema"], said["envdoctor"], said["host"]) == (1, __version__, "node7")
    assert said["taken_at"] == "2026-06-03T14:30:00Z"
    assert said["target"] == {"prefix": "/env", "python": "3.12.3", "lock": "/project/train.txt"}
    assert (said["config"], said["seen"], said["seconds"]) == ("/project/envdoctor.toml", {"torch": "2.11.0"}, 0.314)


def test_without_a_target_or_a_lock_they_are_null():
    assert parsed(target=None)["target"] is None
    assert parsed(target=replace(TARGET, lock=None))["target"]["lock"] is None


def test_an_audit_of_locks_has_no_target_and_says_what_it_saw():
    found = at("a.txt:12:1", "numpy>1", message="numpy is not pinned")
    said = parsed(outcome("lock/unpinned", found), target=None, python=None, seen={"locks": "a.txt", "pins": 9})
    assert list(said) == KEYS
    assert (said["target"], said["seen"]) == (None, {"locks": "a.txt", "pins": 9})
    assert said["findings"][0]["evidence"] == {"file": "a.txt", "line": 12, "column": 1, "text": "numpy>1"}


def test_every_probe_is_in_exactly_one_place():
    said = parsed(
        outcome("a/found", finding()),
        outcome("a/passed"),
        outcome("a/skipped", skipped=Unavailable("no lock")),
        outcome("a/failed", skipped=Unavailable("deadline", failed=True)),
        outcome("a/crashed", crashed="ValueError: x (y.py:1)"),
        outcome("a/muted", muted=(finding(),)),
    )
    assert [row["probe"] for row in said["findings"]] == ["a/found"]
    assert said["passed"] == ["a/passed"]
    assert said["skipped"] == [
        {"probe": "a/skipped", "reason": "no lock", "failed": False},
        {"probe": "a/failed", "reason": "deadline", "failed": True},
    ]
    assert said["crashed"] == [{"probe": "a/crashed", "error": "ValueError: x (y.py:1)"}]
    assert [row["probe"] for row in said["muted"]] == ["a/muted"]


def test_findings_of_one_cause_stand_alone_worst_first():
    stack = distribution("sglang", requires=["torch==1.0", "six"])
    found = findings(foreign.check, distributions=distributions(stack, "six", "torch==1.0"), lock=lock("torch==2.0"))
    said = parsed(outcome("packages/foreign", *reversed(found)))
    assert [(row["subject"], row["severity"]) for row in said["findings"]] == [("sglang", "error"), ("six", "warning")]
    assert {row["evidence"]["cause"] for row in said["findings"]} == {"sglang"}


@pytest.mark.parametrize(
    ("severities", "verdict"),
    [([], "healthy"), ([1], "healthy"), ([1, 2], "warnings"), ([2, 3], "sick")],
)
def test_the_verdict_follows_the_worst(severities, verdict):
    found = [finding(severity=Severity(number)) for number in severities]
    assert parsed(outcome("a/b", *found))["verdict"] == verdict


def test_what_a_mute_covers_is_muted_and_not_passed():
    policy = Policy(mutes=(Mute("packages/foreign", "known"),))
    given = {"distributions": distributions("six"), "lock": lock("torch==2.0")}
    found = judged(foreign.check, "packages/foreign", policy, **given)
    said = parsed(found)
    assert (said["findings"], said["passed"], said["verdict"]) == ([], [], "healthy")
    assert [row["subject"] for row in said["muted"]] == ["six"]


def test_what_the_interpreter_says_of_itself_is_data():
    said = parsed(python="3.12\x1b[2J", seen={"torch": "2\x1b]0;x\x07"})
    assert said["target"]["python"] == "3.12\\x1b[2J"
    assert said["seen"]["torch"] == "2\\x1b]0;x\\x07"


def test_trials_are_listed_where_something_was_tried_out():
    said = parsed(trials=(Trial("smoke/compile", "cuda:0", "failed", 1.23456, "exit\x1b"),))
    assert list(said) == [*KEYS, "trials"]
    assert said["trials"] == [
        {"step": "smoke/compile", "device": "cuda:0", "state": "failed", "seconds": 1.235, "said": "exit\\x1b"}
    ]


evidences = st.dictionaries(st.text(), st.none() | st.text() | st.integers() | st.lists(st.text()))


@given(st.text(), st.text(), evidences)
def test_any_finding_survives_the_way_there_and_back(subject, message, evidence):
    (row,) = parsed(outcome("a/b", Finding(Severity.NOTE, subject, message, evidence)))["findings"]
    assert (row["subject"], row["message"], row["evidence"]) == (subject, message, evidence)
