"""Items made ahead, in a thread."""

import threading

import pytest

from envdoctor.system.ahead import ahead


def test_all_come_in_order_and_the_thread_ends():
    before = threading.active_count()
    assert list(ahead(iter(range(1, 100)), 4)) == list(range(1, 100))
    assert list(ahead(iter(()), 4)) == []
    assert threading.active_count() == before


def test_no_more_than_that_many_are_made_before_they_are_asked_for():
    made = []
    items = ahead((made.append(number) or number for number in range(1, 100)), 3)
    assert next(items) == 1
    items.close()
    assert len(made) <= 5


def test_what_making_one_raises_is_raised_after_those_before_it():
    def broken():
        yield from (1, 2)
        raise ValueError("the third is damaged")

    items = ahead(broken(), 8)
    assert [next(items), next(items)] == [1, 2]
    with pytest.raises(ValueError, match="third"):
        next(items)
