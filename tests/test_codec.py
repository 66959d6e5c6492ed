"""Every fact survives its way through JSON, and bad JSON is a ValueError."""

import dataclasses
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from enum import Enum
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envdoctor.codec import from_json, to_json
from envdoctor.model import Lock, Severity, Unavailable
from envdoctor.seals import Seal
from envdoctor.snapshot import FACTS

PLAIN = {
    str: st.text(st.characters(), max_size=4),
    int: st.integers(),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    NoneType: st.none(),
    datetime: st.datetimes(timezones=st.just(UTC)),
}


def values(hint):
    """Return a strategy for the values of a type hint, as a fact may hold them."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint)
        return st.builds(hint, **{field.name: values(hints[field.name]) for field in dataclasses.fields(hint)})
    if origin in (Union, UnionType):
        return st.one_of(*map(values, arguments))
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        assert arguments[1:] == (...,), f"{hint}: the codec knows no tuple of a fixed length"
        return st.lists(values(arguments[0]), max_size=2).map(tuple)
    if origin is frozenset:
        return st.frozensets(values(arguments[0]), max_size=2)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        assert arguments[0] is str
        return st.dictionaries(PLAIN[str], values(arguments[1]), max_size=2)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    raise AssertionError(f"no strategy for {hint}")


def fact(name):
    return get_type_hints(import_module(f"envdoctor.facts.{name}").collect)["return"]


@pytest.mark.parametrize("name", FACTS)
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_fact_comes_back_as_it_was(name, data):
    kind = fact(name) | Unavailable
    value = data.draw(values(kind))
    assert from_json(kind, json.loads(json.dumps(to_json(value)))) == value


@dataclasses.dataclass(frozen=True)
class Sample:
    word: Literal["a", "b"]
    number: float = 0.0
    when: datetime | None = None
    names: frozenset[str] = frozenset()
    either: "tuple[int, ...] | Sample | str" = ""
    free: Any = None
    level: Severity = Severity.NOTE
    day: date | None = None


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"word": "a"}, Sample("a")),
        ({"word": "a", "unknown": [1]}, Sample("a")),
        ({"word": "b", "number": 3}, Sample("b", 3.0)),
        ({"word": "a", "when": "2026-01-01T00:00:00+00:00"}, Sample("a", when=datetime(2026, 1, 1, tzinfo=UTC))),
        ({"word": "a", "names": ["y", "x"]}, Sample("a", names=frozenset("xy"))),
        ({"word": "a", "either": [1]}, Sample("a", either=(1,))),
        ({"word": "a", "either": {"word": "b"}}, Sample("a", either=Sample("b"))),
        ({"word": "a", "free": {"x": [None]}}, Sample("a", free={"x": [None]})),
        ({"word": "a", "level": "ERROR"}, Sample("a", level=Severity.ERROR)),
        ({"word": "a", "day": "2026-06-03"}, Sample("a", day=date(2026, 6, 3))),
    ],
)
def test_what_fits_is_taken(data, expected):
    assert from_json(Sample, data) == expected


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([], "expected dict, found list"),
        ({}, "word"),
        ({"word": "c"}, "word: 'c' is none of"),
        ({"word": []}, "word: "),
        ({"word": "a", "number": "3"}, "number: expected"),
        ({"word": "a", "number": True}, "number: expected"),
        ({"word": "a", "number": 10**400}, "number: "),
        ({"word": "a", "when": "yesterday"}, "when: "),
        ({"word": "a", "when": 3}, "when: expected str"),
        ({"word": "a", "names": "x"}, "names: expected list"),
        ({"word": "a", "names": [["x"]]}, "names: expected str"),
        ({"word": "a", "either": [True]}, "either: "),
        ({"word": "a", "level": 3}, "level: expected str"),
        ({"word": "a", "level": "fatal"}, "level: 'fatal' is none of NOTE, WARNING, ERROR"),
        ({"word": "a", "day": "June"}, "day: "),
        ({"word": "a", "either": {"unavailable": {}}}, "either: nothing fits"),
    ],
)
def test_what_does_not_fit_is_named(data, problem):
    with pytest.raises(ValueError, match=problem):
        from_json(Sample, data)


def test_an_unavailable_fact_is_told_from_every_other():
    told = to_json(Unavailable("why", failed=True))
    assert told == {"unavailable": {"reason": "why", "failed": True}}
    assert from_json(Lock | Unavailable, told) == Unavailable("why", failed=True)
    with pytest.raises(ValueError, match="nothing fits"):
        from_json(Lock | None, told)


def test_sets_are_written_in_order():
    assert to_json({"x": frozenset("cab"), 1: (1, 2)}) == {"x": ["a", "b", "c"], "1": [1, 2]}


KEYS = st.sampled_from([field.name for field in dataclasses.fields(Seal)] + ["name", "version"])
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4),
)


@settings(max_examples=50)
@given(st.dictionaries(KEYS, JUNK))
def test_no_json_breaks_it(data):
    try:
        assert isinstance(from_json(Seal, data), Seal)
    except ValueError as error:
        assert str(error)  # noqa: PT017
