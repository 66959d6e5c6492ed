"""Judging: a crash hides nothing, what is missing is skipped, the policy has the last word, and strings are safe."""

from dataclasses import replace
from datetime import UTC, date, datetime
from types import SimpleNamespace

import pytest

from envdoctor import registry
from envdoctor.judge import judge
from envdoctor.model import Finding, Severity, Target, Unavailable
from envdoctor.policy import Mute, Policy
from envdoctor.registry import Probe
from envdoctor.snapshot import Snapshot
from envdoctor.wiring import needs

NOW = datetime(2026, 6, 3, tzinfo=UTC)
TARGET = Target("/env", "/env/bin/python")
FOUND = Finding(Severity.ERROR, "sglang", "is foreign", {"cause": "x"}, ("do it",))


def probe(check, identity="packages/foreign"):
    return Probe(identity, "A fault.", check, needs(check))


def outcomes(*checks, policy=None, snapshot=None):
    return judge([probe(check) for check in checks], snapshot or Snapshot(), policy or Policy(), TARGET, NOW)


def one(check, **given):
    (found,) = outcomes(check, **given)
    return found


def test_findings_are_kept():
    assert one(lambda: [FOUND]).findings == (FOUND,)


def test_a_probe_gets_what_it_asks_for():
    seen = []
    one(
        lambda target, moment, policy, seal: seen.extend([target, moment, policy, seal]) or (),
        snapshot=Snapshot(seal="it"),
    )
    assert seen == [TARGET, NOW, Policy(), "it"]


def asks_lock(lock):
    return [FOUND]


def asks_plus(plus):
    return [FOUND]


def test_a_missing_fact_skips_the_probe_with_its_reason():
    found = one(asks_lock, snapshot=Snapshot(lock=Unavailable("no \x1b lock", failed=True)))
    assert (found.findings, found.skipped) == ((), Unavailable(r"no \x1b lock", failed=True))


def test_a_tolerant_probe_speaks_all_the_same():
    def check(lock: "str | Unavailable"):
        return [FOUND] if isinstance(lock, Unavailable) else []

    assert one(check).findings == (FOUND,)


def later():
    yield FOUND
    raise RuntimeError("half \x1b way")


@pytest.mark.parametrize(
    ("check", "crash"),
    [
        (later, r"RuntimeError: half \x1b way (test_judge.py:"),
        (lambda: 1 / 0, "ZeroDivisionError: "),
        (lambda: [Finding(Severity.NOTE, "x", "y", {"z": object()})], "TypeError: evidence holds a object"),
        (lambda: [3], "AttributeError: "),
        (lambda: None, "TypeError: "),
    ],
)
def test_a_probe_that_raises_is_crashed_and_hides_no_other(check, crash):
    crashed, other = outcomes(check, lambda: [FOUND])
    assert (crashed.crashed.startswith(crash), crashed.findings, other.findings) == (True, (), (FOUND,))


def test_a_view_is_computed_once_and_its_reason_passed_on(monkeypatch):
    calls = []

    def view(lock):
        calls.append(lock)
        return lock + 1

    monkeypatch.setattr(registry, "views", lambda: {"plus": SimpleNamespace(view=view)})
    seen = []
    outcomes(lambda plus: seen.append(plus) or (), lambda plus: seen.append(plus) or (), snapshot=Snapshot(lock=1))
    assert (seen, calls) == ([2, 2], [1])
    assert one(asks_plus, snapshot=Snapshot(lock=Unavailable("no lock"))).skipped == Unavailable("no lock")


def test_a_view_that_raises_crashes_whoever_asks(monkeypatch):
    monkeypatch.setattr(registry, "views", lambda: {"plus": SimpleNamespace(view=lambda: 1 / 0)})
    crashed, other = outcomes(asks_plus, lambda: [FOUND])
    assert (crashed.crashed[:17], other.findings) == ("ZeroDivisionError", (FOUND,))


def test_every_string_is_made_safe():
    evil = Finding(
        Severity.NOTE,
        "s\x1b",
        "m\n",
        {"k\x07": ["\u202e", ("\x00", {"deep": "\udcff"})], "n": [1, 2.5, None, True]},
        ("r\r",),
    )
    (found,) = one(lambda: [evil]).findings
    assert found == Finding(
        Severity.NOTE,
        r"s\x1b",
        r"m\x0a",
        {r"k\x07": [r"\u202e", [r"\x00", {"deep": r"\xff"}]], "n": [1, 2.5, None, True]},
        (r"r\x0d",),
    )


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("envdoctor run --guard x -- CMD", "envdoctor run --target /env --guard x -- CMD"),
        ("try: `envdoctor smoke --level full`", "try: `envdoctor smoke --target /env --level full`"),
        ("envdoctor smoke --level full --target /other", None),
        ("envdoctor explain compile", None),
    ],
)
def test_commands_of_a_step_name_the_target(step, said):
    assert one(lambda: [replace(FOUND, remedy=(step,))]).findings[0].remedy == (said or step,)


def test_sets_in_evidence_are_put_in_order():
    assert one(lambda: [Finding(Severity.NOTE, "s", "m", {"k": {"b", "a"}})]).findings[0].evidence == {"k": ["a", "b"]}


@pytest.mark.parametrize("severity", Severity)
def test_the_policy_sets_severity(severity):
    policy = Policy(severity={"packages/foreign": severity})
    assert one(lambda: [FOUND], policy=policy).findings[0].severity == severity


@pytest.mark.parametrize(("until", "muted"), [(date(2026, 6, 3), True), (date(2026, 6, 2), False)])
def test_a_muted_finding_is_kept_apart(until, muted):
    other = Finding(Severity.NOTE, "vllm", "m")
    policy = Policy(mutes=(Mute("packages", "why", "sglang", until),))
    found = one(lambda: [FOUND, other], policy=policy)
    assert (found.muted, found.findings) == (((FOUND,), (other,)) if muted else ((), (FOUND, other)))
