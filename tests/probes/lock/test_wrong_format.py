"""Locks that are not what their name or version says."""

import pytest
from locked import audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.wrong_format import check

PYLOCK = 'lock-version = "1.0"\ncreated-by = "x"\npackages = []\n'
FAULTY = PYLOCK.replace("packages = []", '[[packages]]\nname = "six"\nversion = "x y"\ndirectory = { path = "." }')


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("six==1.17.0\n", "pylock.x.toml"),
        ("six==1.17.0\n", "uv.lock"),
        (PYLOCK, "lock.toml"),
        (PYLOCK, "pylock.a.b.toml"),
    ],
)
def test_a_name_that_promises_something_else(text, name):
    (finding,) = found = audited(check, text, f"/project/{name}")
    assert (finding.severity, told(found)) == (Severity.ERROR, [(f"/project/{name}", 1)])


def test_a_later_minor_version_is_a_warning():
    (finding,) = found = audited(check, PYLOCK.replace('"1.0"', '"1.2"'), "/project/pylock.toml")
    assert (finding.severity, told(found)) == (Severity.WARNING, [("/project/pylock.toml", 1)])
    assert finding.evidence["text"] == "1.2"


def test_an_entry_that_the_standard_forbids():
    (finding,) = found = audited(check, FAULTY, "/project/pylock.toml")
    assert (finding.severity, told(found)) == (Severity.ERROR, [("six", 4)])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (PYLOCK, "pylock.toml"),
        (PYLOCK, "pylock.cuda.toml"),
        ("six==1.17.0\n", "anything.lock"),
        ("version = 1\npackage = []\n", "uv.lock"),
        ("version = 1\npackage = []\n", "script.py.lock"),
    ],
)
def test_names_that_fit(text, name):
    assert audited(check, text, f"/project/{name}") == []
