"""The answer of a child that may be in somebody else's hands: nothing of it may spoil what root prints or remembers."""

import json

import pytest
from rounds import FOREIGN, visit

from envdoctor.errors import EnvDoctorError
from envdoctor.health import answers


def answered(change):
    """Return an answer whose report somebody has changed."""
    seen = visit(FOREIGN)
    head, _, rest = answers.answer(seen.report, seen.snapshot, {"lock": 0.1}).partition(b"\n")
    told = json.loads(head)
    change(told)
    return json.dumps(told).replace('"1e999"', "1e999").encode() + b"\n" + rest


def of_the_report(**fields):
    return lambda told: told["report"].update(fields)


def of_a_probe(name):
    return lambda told: told["report"]["outcomes"][0].update(probe=name)


def test_an_honest_one_is_read():
    assert answers.read(answered(lambda _: None)).report.verdict == "sick"


@pytest.mark.parametrize(
    "change",
    [
        of_the_report(seconds=-5),  # one such row, and the history of nobody could be read any more
        of_the_report(seconds="1e999"),
        lambda told: told["seconds"].update(lock=-1),
        lambda told: told["seconds"].update(lock="1e999"),  # would be Infinity in --format json
        of_the_report(taken_at="0001-01-01T00:00:00+23:59"),
        of_the_report(taken_at="2026-06-01T00:00:00"),
        of_the_report(outcomes=[{"probe": "a/b"}] * (answers.OUTCOMES + 1)),
        of_a_probe("two words"),
        of_a_probe("packages/" + "x" * 200),
        of_the_report(config="x" * answers.HEAD),
    ],
)
def test_what_no_look_comes_to_is_refused(change):
    with pytest.raises(EnvDoctorError, match="its answer is none"):
        answers.read(answered(change))


def test_a_reason_is_short_enough_for_a_mail():
    assert len(answers.read(answers.refusal("x" * 100_000)).reason) == answers.REASON
