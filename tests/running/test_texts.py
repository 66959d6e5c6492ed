"""What is said of a command that is not started, and of one that is."""

from dataclasses import replace

from values import TARGET, finding, outcome, report

from envdoctor.environ import Left, change
from envdoctor.model import Outcome, Severity, Unavailable
from envdoctor.running.texts import lines, refusal
from envdoctor.running.workflow import Prepared

READY = Prepared(TARGET, ("python", "train.py"), {}, tells="envdoctor check --target /env")
ASK = f"`envdoctor check --target {TARGET.prefix}` tells more, --no-check starts it anyway"


def after(*outcomes, **fields):
    return replace(READY, report=report(*outcomes), **fields)


def test_findings_are_named_the_worst_first_and_the_rest_counted():
    found = [finding(name, severity) for name, severity in zip("abcd", Severity, strict=False)]
    more = after(outcome("packages/x", *found, finding("e")), fail_on=Severity.NOTE)
    assert more.status == 1
    named = "error packages/x (c), error packages/x (e), warning packages/x (b) and 1 more"
    assert refusal(more) == f"not started: {named}; {ASK}"


def test_what_does_not_reach_the_level_stops_nothing():
    found = after(outcome("packages/x", finding(severity=Severity.WARNING)))
    assert (found.status, refusal(found)) == (0, "")


def test_the_doctors_own_failure_is_told_with_its_reason():
    crashed = after(Outcome("packages/x", crashed="KeyError: 'a'"))
    assert (crashed.status, refusal(crashed)) == (
        3,
        f"not started: not all could be judged: packages/x crashed: KeyError: 'a'; {ASK}",
    )
    skipped = Outcome("packages/y", skipped=Unavailable("no log was named"))
    late = Outcome("packages/x", skipped=Unavailable("no answer within 2 s", failed=True))
    assert "judged: packages/x: no answer within 2 s; " in refusal(after(skipped, late))


def test_nothing_that_was_not_checked_is_refused():
    assert (READY.status, refusal(READY)) == (0, "")


def test_a_change_is_a_line_and_the_activation_is_one_together():
    env = {"A": "1"}
    made = [
        change(env, "activate", "PATH", "/e/bin", "begins with /e/bin", "the target's commands"),
        change(env, "activate", "VIRTUAL_ENV", "/e", "is /e", "the target"),
        change(env, "pythonpath", "PYTHONPATH", None, "without /x", "it holds torch"),
    ]
    left = (Left("cuda-home", "not judged: unknown"), Left("cache-dir", "it is warm", minor=True))
    ready = replace(READY, changes=tuple(made), left=left, elsewhere="/x/python")
    told = [
        "activate: PATH begins with /e/bin; VIRTUAL_ENV is /e",
        "pythonpath: PYTHONPATH without /x: it holds torch",
        "cuda-home: nothing changed: not judged: unknown",
        f"/x/python is not of {TARGET.prefix}: the command runs outside the target",
    ]
    assert list(lines(ready)) == told
    assert "cache-dir: nothing changed: it is warm" in lines(ready, everything=True)
