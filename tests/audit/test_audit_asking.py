"""Many questions at once, under a deadline."""

import time

from envdoctor.audit.asking import ask
from envdoctor.system.web import UnreadError


def one(number):
    if number == 1:
        raise UnreadError("no")
    if number == 2:
        raise RuntimeError("bug")
    if number == 3:
        time.sleep(30)
    return number * 10


def test_answers_errors_and_what_hangs():
    began = time.monotonic()
    found = ask(range(5), one, time.monotonic() + 0.5)
    assert time.monotonic() - began < 2
    assert (found[0], found[4]) == (0, 40)
    assert str(found[1]) == "no"
    assert "RuntimeError: bug" in str(found[2])
    assert 3 not in found


def test_nothing_to_ask():
    assert ask([], one, time.monotonic() + 0.5) == {}
