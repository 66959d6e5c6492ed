"""JSON with the lines of its keys."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.errors import LockError
from envdoctor.locks.json_document import JsonDocument

TEXT = """{
  "a": {"b": [1, {"c": 2}, "}", {"c": [{"d": 1}]}]},
  "\\u00e9\\"": {
    "a": 1, "a": 2}, "e": "a: {"
}"""


def keys(text):
    return JsonDocument.parse("x", text.encode()).keys


def test_every_key_has_its_lines():
    assert keys(TEXT) == {
        ("a",): [2],
        ("a", "b"): [2],
        ("a", "b", "1"): [2],
        ("a", "b", "1", "c"): [2],
        ("a", "b", "3"): [2],
        ("a", "b", "3", "c"): [2],
        ('é"',): [3],
        ('é"', "a"): [4, 4],
        ("e",): [4],
    }


@pytest.mark.parametrize("indent", [None, 0, 1, 4])
@given(
    value=st.dictionaries(
        st.text(max_size=4), st.dictionaries(st.text(max_size=4), st.lists(st.text(), max_size=2)), max_size=4
    )
)
def test_keys_are_those_of_json(indent, value):
    text = json.dumps(value, indent=indent)
    found = {path: lines for path, lines in keys(text).items() if len(path) == 2}
    assert set(found) == {(one, two) for one, inner in value.items() for two in inner}
    rows = text.split("\n")
    assert all(json.dumps(path[1]) in rows[lines[0] - 1] for path, lines in found.items())


@pytest.mark.parametrize(
    ("data", "line", "problem"),
    [
        (b"{\n\n<<<<<<< HEAD\n}", 3, "holds an unresolved merge conflict"),
        (b'{\n"a": "\xe9"}', 2, "is not UTF-8, which JSON must be"),
        (b'{\n"a": }', 2, "is not valid JSON: Expecting value"),
        (b"[]", None, "is JSON, but no object, so it is not a lock"),
        (b'{"a": -Infinity}', None, "is not valid JSON: -Infinity is no number in it"),
        (b'{"a": ' + b"[" * 100_000, None, "is nested too deeply to be a lock"),
    ],
)
def test_what_is_none_is_refused_in_one_line(data, line, problem):
    with pytest.raises(LockError) as caught:
        JsonDocument.parse("x", data)
    assert (caught.value.line, caught.value.problem) == (line, problem)


def test_depth_is_bounded_before_the_stack_is():
    with pytest.raises(LockError, match="is nested too deeply"):
        _ = keys('{"a": ' + "[" * 80 + "]" * 80 + "}")


def test_a_byte_order_mark_is_passed_over():
    assert JsonDocument.parse("x", b'\xef\xbb\xbf{"a": 1}').top == {"a": 1}
