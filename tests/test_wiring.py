"""What functions ask for is read off their parameters."""

import pytest

from envdoctor.model import Unavailable
from envdoctor.wiring import Need, needs, supply


def asks(driver: "Driver", lock: "Lock | Unavailable", plain, *, keyword=1):  # noqa: F821
    local = (keyword,)
    return local[0]


def test_needs_are_the_parameters_in_order():
    assert needs(asks) == (Need("driver", tolerant=False), Need("lock", tolerant=True), Need("plain", tolerant=False))
    assert needs(lambda: 1) == ()


@pytest.mark.parametrize("thing", [print, int, needs(asks)[0], len])
def test_only_plain_functions_have_needs(thing):
    with pytest.raises(TypeError, match="is not a plain function"):
        needs(thing)


WANTED = (Need("a", tolerant=False), Need("b", tolerant=True))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"a": 1, "b": 2, "c": 3}, [1, 2]),
        ({"a": 1, "b": Unavailable("no b")}, [1, Unavailable("no b")]),
        ({"a": Unavailable("no a", failed=True), "b": 2}, Unavailable("no a", failed=True)),
        ({"a": Unavailable("no a"), "b": Unavailable("no b")}, Unavailable("no a")),
        ({"a": None, "b": None}, [None, None]),
    ],
)
def test_who_does_not_bear_a_missing_thing_gets_the_reason(values, expected):
    assert supply(WANTED, values) == expected
