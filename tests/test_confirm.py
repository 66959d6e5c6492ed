"""A log raises the findings that it shows to be real, and says alone only what no finding explains."""

from dataclasses import replace
from datetime import timedelta

import pytest
from values import NOW, TARGET, finding, outcome

from envdoctor.confirm import UNEXPLAINED, confirmed, explained
from envdoctor.facts.job_log import JobLog
from envdoctor.judge import judge
from envdoctor.model import Severity, Unavailable
from envdoctor.policy import Mute, Policy
from envdoctor.probes.log.known_failure import check as report_log
from envdoctor.registry import Probe
from envdoctor.signatures import Match
from envdoctor.snapshot import Snapshot
from envdoctor.wiring import needs

NO_LOG = Unavailable("no log was named (--log)")
SHM = "node/small-shm"
BUS = Match("shared-memory-bus-error", "a worker died", ("df /dev/shm",), (SHM,), "error", 123, "Bus error")
FULL = replace(BUS, id="shared-memory-full", line=9)
MILD = replace(BUS, severity="warning")
RACE = Match("fx-trace-race", "two threads", ("one process",), (), "error", 7, "Detected")


def log(*matches):
    return JobLog("/scratch/run/train.log", 1000, matches)


@pytest.mark.parametrize("severity", Severity)
def test_a_finding_is_raised_and_says_where_it_shows(severity):
    found = confirmed(finding(severity=severity, total=64), SHM, log(RACE, BUS))
    assert found.severity == Severity.ERROR
    assert found.message == "six is not well; the log shows it (train.log:123)"
    assert found.evidence == {
        "total": 64,
        "log": {"file": "/scratch/run/train.log", "line": 123, "text": "Bus error", "signature": BUS.id},
    }


@pytest.mark.parametrize(("severity", "after"), [("NOTE", "WARNING"), ("WARNING", "WARNING"), ("ERROR", "ERROR")])
def test_a_finding_is_never_lowered(severity, after):
    assert confirmed(finding(severity=Severity[severity]), SHM, log(MILD)).severity == Severity[after]


@pytest.mark.parametrize("read", [NO_LOG, log(), log(RACE)])
def test_what_the_log_does_not_show_stays_as_it_is(read):
    assert confirmed(finding(), SHM, read) == finding()


def test_the_first_line_that_shows_it_is_named():
    assert confirmed(finding(), SHM, log(FULL, BUS)).evidence["log"]["line"] == 9


def told(*matches):
    return outcome(UNEXPLAINED, *(finding(match.id, Severity.WARNING) for match in matches))


def left(outcomes, read):
    return {o.probe: [f.subject for f in o.findings] for o in explained(outcomes, read)}


def test_what_a_finding_explains_is_not_told_again():
    outcomes = [told(BUS, FULL, RACE), outcome(SHM, finding("/dev/shm"))]
    assert left(outcomes, log(BUS, FULL, RACE)) == {UNEXPLAINED: [RACE.id], SHM: ["/dev/shm"]}


@pytest.mark.parametrize(
    "other",
    [
        outcome(SHM),
        outcome(SHM, muted=(finding("/dev/shm"),)),
        outcome(SHM, skipped=NO_LOG),
        outcome(SHM, crashed="x"),
        outcome("node/low-disk", finding("/")),
    ],
)
def test_what_no_finding_explains_is_told(other):
    assert left([told(BUS), other], log(BUS))[UNEXPLAINED] == [BUS.id]


def test_without_a_log_nothing_changes():
    outcomes = (outcome(UNEXPLAINED, skipped=NO_LOG), outcome(SHM, finding()))
    assert explained(outcomes, NO_LOG) == outcomes


def small():
    yield finding("/dev/shm", Severity.WARNING, "/dev/shm holds 64 MiB")


PROBES = (
    Probe(UNEXPLAINED, "A log.", report_log, needs(report_log)),
    Probe(SHM, "A small one.", small, ()),
)


def judged(read, policy=None):
    outcomes = judge(PROBES, Snapshot(job_log=read), policy or Policy(), TARGET, NOW)
    return {o.probe: [(f.subject, f.severity.label) for f in o.findings] for o in outcomes}


class TestJudge:
    """The two together, with the configuration having the last word."""

    def test_raises_and_tells(self):
        assert judged(log(BUS, RACE)) == {UNEXPLAINED: [(RACE.id, "warning")], SHM: [("/dev/shm", "error")]}

    def test_a_configured_severity_stays(self):
        policy = Policy(severity={SHM: Severity.NOTE})
        assert judged(log(BUS), policy) == {UNEXPLAINED: [], SHM: [("/dev/shm", "note")]}

    def test_a_muted_finding_stays_muted_and_the_log_speaks_for_itself(self):
        policy = Policy(mutes=(Mute(SHM, "known"),))
        assert judged(log(BUS), policy) == {UNEXPLAINED: [(BUS.id, "warning")], SHM: []}

    def test_an_expired_mute_hides_nothing(self):
        policy = Policy(mutes=(Mute(SHM, "known", until=(NOW - timedelta(days=1)).date()),))
        assert judged(log(BUS), policy) == {UNEXPLAINED: [], SHM: [("/dev/shm", "error")]}

    def test_a_signature_can_be_muted(self):
        assert judged(log(RACE), Policy(mutes=(Mute(UNEXPLAINED, "ours", subject=RACE.id),)))[UNEXPLAINED] == []

    def test_what_the_log_holds_is_made_safe(self):
        hostile = replace(BUS, text="\x1b]0;x\x07 https://me:secret@host/")
        outcomes = judge(PROBES, Snapshot(job_log=log(hostile)), Policy(), TARGET, NOW)
        (found,) = outcomes[1].findings
        assert found.evidence["log"]["text"] == "\\x1b]0;x\\x07 https://****@host/"
