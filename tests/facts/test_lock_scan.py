"""What a lock's text holds beside its pins."""

import pytest

from envdoctor.facts.lock_scan import LeftOut, collect, scan
from envdoctor.locks import read
from envdoctor.model import Target

SECRET = "S3CRETs3cret"


def addresses(text):
    return scan(text.encode(), "").addresses


def test_hosts_are_counted_and_comments_told_apart():
    text = "--index-url https://a.example/x\n# from https://a.example/y\n-f https://a.example/z?q=1\n"
    found = [(item.host, item.path, item.line, item.commented, item.count) for item in addresses(text)]
    assert found == [("a.example", "/x", 1, False, 2), ("a.example", "/y", 2, True, 1)]


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        (f"https://u:{SECRET}@a.example/x", "plain"),
        (f"https://{SECRET}@a.example/x", "plain"),
        (f"https://u:{SECRET}/?#@a.example/x", "plain"),
        (f"https://u:a,{SECRET};)]@a.example/x", "plain"),
        (f"https://a.example/x?sig={SECRET}", "plain"),
        ("https://u:x${PASSWORD}@a.example/x", "plain"),
        ("https://u:${PASSWORD}@a.example/x", "variable"),
        ("https://%PYPI_USER%@a.example/x", "variable"),
        ("https://a.example/x?token=${TOKEN}", "variable"),
        ("https://somebody@a.example/x", "user"),
        ("https://aws@a.example/x", ""),
        ("ssh://deploy@a.example/x", ""),
        ("https://a.example:8443/x@1", ""),
        ("https://@a.example/x", ""),
    ],
)
def test_the_kind_of_a_secret_and_nothing_of_it(address, kind):
    (found,) = addresses(f'url = "{address}"\n')
    assert (found.secret, found.host) == (kind, found.host)
    assert found.host.startswith("a.example")
    assert SECRET not in str(found)


def test_an_address_without_its_scheme():
    (found,) = addresses(f"six==1\n--index-url=u:{SECRET}@a.example/x\n--trusted-host b.example\n")
    assert (found.scheme, found.host, found.secret, found.line) == ("", "a.example", "plain", 2)


def test_each_line_with_a_secret_is_kept():
    found = addresses(f"-i https://u:{SECRET}@a.example/x\n-f https://u:{SECRET}@a.example/x\n")
    assert [item.line for item in found] == [1, 2]


def test_what_pip_compile_left_out():
    words = "# The following packages are considered to be unsafe in a requirements file:"
    (found,) = scan(f"six==1\n\n{words}\r\n# setuptools\n# pip\n".encode(), "").left_out
    assert found == LeftOut(("setuptools", "pip"), False, words, 3)


def test_includes_are_looked_through_too(tmp_path):
    (tmp_path / "more.txt").write_text(f"-i https://u:{SECRET}@a.example/x\nsix==1.17.0\n")
    path = tmp_path / "requirements.txt"
    path.write_text("-r more.txt\nidna==3.10\n")
    found = collect(Target("", ""), None, read(str(path)))
    assert [(item.file, item.line, item.secret) for item in found.addresses] == [
        (str(tmp_path / "more.txt"), 1, "plain")
    ]


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
