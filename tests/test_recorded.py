"""A snapshot goes through a file unchanged, without secrets; what is none is refused in one line."""

import contextlib
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdoctor import recorded
from envdoctor.errors import UsageError
from envdoctor.facts.variables import Variables
from envdoctor.model import Severity, Target, Unavailable
from envdoctor.policy import Mute, Policy
from envdoctor.snapshot import NOT_GATHERED, Snapshot

MOMENT = datetime(2026, 6, 3, 14, 22, tzinfo=UTC)
TARGET = Target("/srv/env", "/srv/env/bin/python", "/srv/train.txt", groups=("dev",))
POLICY = Policy(mutes=(Mute("cuda", "no GPU", until=MOMENT.date()),), severity={"packages": Severity.WARNING})
TAKEN = Snapshot(
    variables=Variables({"PYTHONPATH": "/srv/\udcff", "PIP_INDEX_URL": "https://me:hunter2@index.example/simple"}),
    driver=Unavailable("no answer within 10 s", failed=True),
)


def written():
    return recorded.render(recorded.record(TAKEN, TARGET, POLICY, "node7", MOMENT))


def test_it_comes_back_as_it_was_without_the_secrets():
    found = recorded.parse(written().encode(), "s.json")
    assert (found.head.target, found.head.policy, found.head.host) == (TARGET, POLICY, "node7")
    assert found.head.taken_at == MOMENT
    assert found.facts.driver == TAKEN.driver
    assert found.facts.toolkits == NOT_GATHERED
    assert found.facts.variables.values == {
        "PYTHONPATH": "/srv/\udcff",
        "PIP_INDEX_URL": "https://****@index.example/simple",
    }


def test_it_is_ascii_and_holds_no_password():
    assert written().isascii()
    assert "hunter2" not in written()


def changed(**values):
    return json.dumps({**json.loads(written()), **values}).encode()


def without(key):
    document = json.loads(written())
    del document[key]
    return json.dumps(document).encode()


def test_what_a_later_one_adds_is_left_out():
    found = recorded.parse(changed(more=1, facts={"oracle": {}, "driver": {"unavailable": {"reason": "x"}}}), "s.json")
    assert found.facts.driver == Unavailable("x")
    assert found.facts.variables == recorded.ABSENT


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "s.json: not JSON, so it is no snapshot"),
        (b"\xff\xfe", "s.json: not UTF-8 at byte 0"),
        (b"[" * 100_000, "s.json: not JSON"),
        (b'{"schema": NaN}', "NaN is no number"),
        (b"[1]", "is JSON, but no snapshot; `envdoctor snapshot -o FILE` makes one"),
        (b'{"schema": 1, "findings": []}', "is JSON, but no snapshot"),
        (changed(schema=2), "a snapshot of schema 2, and this envdoctor knows 1"),
        (changed(taken_at="2026-06-03T14:22:00"), "taken_at: has no zone"),
        (changed(taken_at=3), "taken_at: expected str"),
        (changed(target={"prefix": 3}), "target: prefix: expected str, found int"),
        (changed(policy={"severity": {"cuda": "FATAL"}}), "policy: severity: 'FATAL' is none of"),
        (changed(facts=[]), "facts: expected dict, found list"),
        (changed(facts={"variables": {"values": {"A": 3}}}), "facts: variables: values: expected str, found int"),
        (without("host"), "is no whole snapshot"),
    ],
)
def test_what_is_none_is_refused_in_one_line(data, said):
    with pytest.raises(UsageError) as error:
        recorded.parse(data, "s.json")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 250


@given(st.binary(max_size=64), st.integers(0, 10_000))
def test_any_damage_is_refused_or_read(junk, at):
    """A snapshot in which some bytes were replaced is read, or refused; nothing else is ever raised."""
    data = written().encode()
    at %= len(data)
    with contextlib.suppress(UsageError):
        recorded.parse(data[:at] + junk + data[at + len(junk) :], "s.json")
