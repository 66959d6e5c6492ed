"""The parsers of metadata files: what the standards say is read, and no text breaks them."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from envdoctor.facts import metadata
from envdoctor.facts.metadata import (
    DirectUrl,
    parse_direct_url,
    parse_headers,
    parse_requires_txt,
    parse_wheel_tags,
)


@given(st.text())
@example("Name")
@example(" folded first\nName: a")
@example("Name: a\n\tb\n\nVersion: 1")
def test_no_text_breaks_the_headers(text):
    assert parse_headers(text).keys() <= set(metadata._FIELDS)


@settings(max_examples=40)
@given(st.lists(st.from_regex(r"[a-z]{1,8}(\[[a-z]{1,3}\])?>=[0-9]{1,3}", fullmatch=True), max_size=4))
def test_headers_are_read_as_the_email_module_reads_them(requirements):
    import email

    text = "Metadata-Version: 2.1\nName: a-b\nVersion: 1\n" + "".join(f"Requires-Dist: {it}\n" for it in requirements)
    text += "License: many\n  lines\nKeywords: x\n\nName: not this one\n"
    message = email.message_from_string(text)
    found = parse_headers(text)
    assert found.get("requires-dist", []) == (message.get_all("Requires-Dist") or [])
    assert (found["name"], found["version"]) == ([message["Name"]], [message["Version"]])


def test_a_folded_header_is_joined():
    assert parse_headers("Requires-Dist: a;\n  python_version < '3'\nName: x") == {
        "requires-dist": ["a; python_version < '3'"],
        "name": ["x"],
    }


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"url": "file:///p", "dir_info": {"editable": True}}, DirectUrl("file:///p", editable=True)),
        ({"url": "file:///p", "dir_info": {}}, DirectUrl("file:///p")),
        (
            {"url": "https://me:pw@index.example/x", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            DirectUrl("https://****@index.example/x", vcs="git", commit="abc"),
        ),
        ({"url": "u", "archive_info": {"hash": "sha256=ab"}}, DirectUrl("u", hashes=("sha256:ab",))),
        (
            {"url": "u", "archive_info": {"hashes": {"sha256": "ab", "md5": "c"}}},
            DirectUrl("u", hashes=("md5:c", "sha256:ab")),
        ),
        ({"url": "u", "vcs_info": {"vcs": 1, "commit_id": []}}, DirectUrl("u", vcs="1", commit="[]")),
    ],
)
def test_a_direct_url_is_read(data, expected):
    problems = []
    assert (parse_direct_url(json.dumps(data), problems), problems) == (expected, [])


@pytest.mark.parametrize(
    "text", ["{", "[]", "3", "{}", '{"url": "u", "vcs_info": []', '{"url": "u", "dir_info": 1}', "[" * 100_000]
)
def test_what_is_no_direct_url_is_a_problem(text):
    problems = []
    assert (parse_direct_url(text, problems), problems) == (None, ["direct_url.json is not what PEP 610 says"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)
)


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.sampled_from(["url", "vcs_info", "dir_info", "archive_info"]),
        JSON
        | st.dictionaries(
            st.sampled_from(["vcs", "commit_id", "editable", "hash", "hashes"]),
            JSON | st.dictionaries(st.text(max_size=3), JSON),
        ),
    )
)
def test_no_json_breaks_the_direct_url(data):
    problems = []
    found = parse_direct_url(json.dumps(data), problems)
    assert (found is None) == bool(problems)
    assert found is None or all(isinstance(value, str) for value in (found.url, found.vcs or "", *found.hashes))


@given(st.text())
def test_no_text_breaks_requires_txt(text):
    assert all(line and line == line.strip() for line in parse_requires_txt(text))


def test_requires_txt_stops_at_the_first_extra():
    assert parse_requires_txt("a>=1\r\nb[x]\n[test]\nc\n") == ("a>=1", "b[x]")


def test_wheel_tags():
    assert parse_wheel_tags("Wheel-Version: 1.0\nTag: py3-none-any\r\nTag:x-y-z\n") == ("py3-none-any", "x-y-z")
