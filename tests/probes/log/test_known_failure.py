from values import findings, judged

from envdoctor.facts.job_log import JobLog
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.log.known_failure import check
from envdoctor.signatures import Match

RACE = Match("fx-trace-race", "two threads met", ("move to torch 2.14",), (), "error", 7, "Detected that you", {}, 1)


def found(*matches):
    return findings(check, job_log=JobLog("/scratch/run/train.log", 100, matches))


def test_a_known_failure_is_named_with_its_place_and_its_cure():
    (finding,) = found(RACE)
    assert (finding.severity, finding.subject) == (Severity.WARNING, "fx-trace-race")
    assert finding.message == "two threads met (train.log:7)"
    assert finding.remedy == ("move to torch 2.14",)
    assert finding.evidence["source"].startswith("torch/_dynamo/eval_frame.py")
    assert {key: finding.evidence[key] for key in ("file", "line", "text", "signature", "count")} == {
        "file": "/scratch/run/train.log",
        "line": 7,
        "text": "Detected that you",
        "signature": "fx-trace-race",
        "count": 1,
    }


def test_a_failure_on_many_lines_is_one_finding():
    (finding,) = found(Match("fx-trace-race", "two threads met", (), (), "error", 7, "Detected", {}, 8))
    assert finding.message == "two threads met (train.log:7, 8 lines)"


def test_control_a_healthy_log_is_silent():
    assert found() == []


def test_control_no_log_is_said_and_is_no_failure():
    outcome = judged(check, job_log=Unavailable("no log was named (--log)"))
    assert (outcome.skipped.reason, outcome.skipped.failed) == ("no log was named (--log)", False)
