"""Versions compared as a lock means them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.versions import is_version, label, public, same_build, same_release, satisfies


@pytest.mark.parametrize(
    ("installed", "locked", "same"),
    [
        ("2.1.0+cpu", "2.1.0+cu121", False),
        ("2.1.0+cpu", "2.1.0", False),
        ("2.1.0", "2.1.0+cpu", False),
        ("2.0", "2.0.0", True),
        ("1.0RC1", "1.0rc1", True),
        ("1.0+CU.121", "1.0+cu-121", True),
        ("2.1.0", None, True),
        ("2004d", "2004d", True),
        ("2004d", "2004", False),
        ("1!2.0", "2.0", False),
    ],
)
def test_a_build_is_the_same_only_with_its_label(installed, locked, same):
    assert same_build(installed, locked) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("0.6.16+cu130", "0.6.16", True),
        ("2.1.0+cpu", "2.1.0+cu121", True),
        ("2.0", "2.0.0+x", True),
        ("2.0", "2.0.1", False),
        ("odd", "odd+x", True),
    ],
)
def test_a_release_is_the_same_whatever_its_label(one, other, same):
    assert same_release(one, other) is same_release(other, one) is same


@pytest.mark.parametrize(
    ("version", "specifier", "inside"),
    [
        ("2.1.0+cpu", "==2.1.0", True),
        ("2.1.0", ">=2,<3", True),
        ("3.0rc1", ">=2", True),
        ("1.0", ">=2", False),
        ("1.0", "", True),
        ("odd", ">=0", False),
        ("1.0", "no specifier", False),
    ],
)
def test_a_version_in_a_specifier(version, specifier, inside):
    assert satisfies(version, specifier) is inside


@pytest.mark.parametrize(("text", "expected"), [("1.0", True), ("1.0+cu128", True), ("2004d", False), ("", False)])
def test_what_is_a_version(text, expected):
    assert is_version(text) is expected


def test_labels():
    assert [label(text) for text in ("2.1+cu121", "2.1", "", None)] == ["cu121", "", "", ""]
    assert public("2.0.0+x") == "2"


@given(st.text(), st.text())
def test_no_text_breaks_them(one, other):
    assert same_build(one, one)
    assert same_release(one, one)
    assert satisfies(one, other) in (True, False)
    assert same_build(one, other) == same_build(other, one)
