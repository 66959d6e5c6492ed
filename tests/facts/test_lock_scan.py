"""The lock's own text: odd characters."""

import pytest

from envdoctor.facts.lock_scan import scan


def odd(text, **options):
    data = text if isinstance(text, bytes) else text.encode()
    return [(problem.line, problem.text, problem.mild) for problem in scan(data, "", **options).odd]


def test_invisible_characters_have_their_line():
    assert odd("a==1\nb\u200b==1\nc==1 ; os_name == '\u202e'\n") == [(2, "\u200b", False), (3, "\u202e", False)]


@pytest.mark.parametrize(
    "text", ["# \u200b\n", "a==1  # x\u200b \\ \n", "\ufeffa==1\n", "a @ https://x.example/a#\u00e9\n"]
)
def test_comments_and_a_mark_at_the_beginning_are_not_odd(text):
    assert odd(text) == []


def test_blank_after_a_backslash():
    assert odd("a==1 \\\t\n") == [(1, "\\\t", False)]
    assert odd('x = """a \\ \nb"""\n', toml=True) == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-be"])
def test_wide_encodings_are_mild(encoding):
    mark = "" if encoding == "utf-16" else "\ufeff"
    assert odd((mark + "a==1\n").encode(encoding)) == [(1, "", True)]
