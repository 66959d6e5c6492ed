"""One release on two lines."""

import pytest
from locked import OTHER, SHA, audited, read, told

from envdoctor.model import Severity
from envdoctor.probes.lock.repeated_pin import check

ENTRY = '[[package]]\nname = "six"\nversion = "1.17.0"\nsource = { registry = "https://index.example/simple" }\n'
UV = 'version = 1\n[[package]]\nname = "own"\nsource = { virtual = "." }\ndependencies = [{ name = "six" }]\n'


def test_other_digests_are_told_with_their_lines():
    (finding,) = found = audited(check, f"six==1.17.0 --hash={SHA}\nidna==3.10\nsix==1.17.0 --hash={OTHER}\n")
    assert (finding.severity, told(found)) == (Severity.WARNING, [("six", 3)])
    assert finding.message == "six 1.17.0 is pinned twice with other digests, on line 1 and line 3"
    assert finding.evidence["digests"] == {"line 1": [SHA], "line 3": [OTHER]}
    assert (finding.evidence["added"], finding.evidence["lines"]) == ([OTHER], [1, 3])


@pytest.mark.parametrize("again", ["six==1.17", "Six==1.17.0", "six[x]==1.17.0", "six==1.17.0 ; os_name == 'posix'"])
def test_the_same_release_written_otherwise(again):
    (finding,) = audited(check, f"six==1.17.0\n{again}\n")
    assert finding.message.startswith("six 1.17")
    assert "digests" not in finding.message


@pytest.mark.parametrize(
    "text",
    [
        "six==1.17.0 ; os_name == 'posix'\nsix==1.17.0 ; os_name == 'nt'\n",
        "six==1.17.0\nsix==1.16.0\n",
        "torch==2.11.0\ntorch==2.11.0+cu128\n",
        "six==1.17.0\nsix-extra==1.17.0\n",
    ],
)
def test_lines_that_never_meet_and_other_releases(text):
    assert audited(check, text) == []


def test_an_entry_of_a_uv_lock_that_is_there_twice():
    assert told(audited(check, UV + ENTRY + ENTRY, "/project/uv.lock")) == [("six", 11)]
    assert audited(check, UV + ENTRY, "/project/uv.lock") == []
    forked = UV + ENTRY + ENTRY.replace("index.example", "other.example")
    assert audited(check, forked, "/project/uv.lock") == [], "two sources are two entries"


def test_a_pylock_that_has_a_name_twice_is_another_rules():
    entry = '[[packages]]\nname = "six"\nversion = "1.17.0"\nindex = "https://index.example/simple"\n'
    entry += (
        f'wheels = [{{ url = "https://x.example/six-1.17.0-py3-none-any.whl", hashes = {{ sha256 = "{SHA[7:]}" }} }}]\n'
    )
    text = f'lock-version = "1.0"\ncreated-by = "x"\n{entry}{entry}'
    assert audited(check, text, "/project/pylock.toml") == []


ENTRY_OF = '[[package]]\nname = "six"\nversion = "1.17.0"\ngroups = ["{}"]\n'
GROUPED = ENTRY_OF.format("main") * 2 + '[metadata]\nlock-version = "2.1"\n'
PLAIN = GROUPED.replace('groups = ["main"]\n', "").replace("2.1", "2.0")
PDM = '[metadata]\nlock_version = "4.5"\n' + ENTRY_OF.format("default") * 2


@pytest.mark.parametrize(
    ("lock", "lines"),
    [
        (read(GROUPED, "/project/poetry.lock"), [6]),
        (read(PLAIN, "/project/poetry.lock"), [5]),
        (read(PDM, "/project/pdm.lock"), [8]),
        (read(PDM + 'extras = ["x"]\n', "/project/pdm.lock"), []),  # how PDM writes a package with extras
    ],
)
def test_an_entry_that_stands_twice(lock, lines):
    assert told(audited(check, lock)) == [("six", line) for line in lines]


def test_what_two_categories_of_a_pipfile_lock_want():
    entry = '{"six": {"version": "==1.17.0"}}'
    text = f'{{"_meta": {{"pipfile-spec": 6}}, "default": {entry}, "develop": {entry}}}'
    assert audited(check, text, "/project/Pipfile.lock") == []
