"""The answers that are kept."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from fakes import FakeHost

from envdoctor.audit import answers
from envdoctor.audit.answers import Answers
from envdoctor.views.lock_online import ListedFile

FILES = (ListedFile("six-1.0.tar.gz", ("sha256:1",), "broken", "2026-01-02T03:04:05Z"), ListedFile("six-2.0.tar.gz"))
INDEX = "https://index.example/simple"


@pytest.fixture
def kept(tmp_path):
    return Answers(str(tmp_path / "index"), 1e6)


def the_file(kept):
    (name,) = os.listdir(kept.folder)
    return os.path.join(kept.folder, name)


def test_what_is_put_is_got_for_an_hour_and_only_its_owner_may_read_it(kept):
    kept.put(INDEX, "six", FILES)
    assert kept.get(INDEX, "six") == (FILES,)
    assert kept.get(INDEX, "idna") is None
    assert kept.get("https://other.example/simple", "six") is None
    assert os.stat(the_file(kept)).st_mode & 0o777 == 0o600
    assert os.stat(kept.folder).st_mode & 0o777 == 0o700
    assert replace(kept, now=1e6 + answers.AGE).get(INDEX, "six") == (FILES,)
    assert replace(kept, now=1e6 + answers.AGE + 1).get(INDEX, "six") is None
    assert replace(kept, now=1e6 - 1).get(INDEX, "six") is None, "of the future"


def test_that_there_is_no_such_project_is_kept_too(kept):
    kept.put(INDEX, "six", None)
    assert kept.get(INDEX, "six") == (None,)


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff", b"{", b"[]", b"null", b"[" * 100_000]
    + [
        json.dumps({"index": INDEX, "name": "six", "taken_at": 1e6} | more).encode()
        for more in (
            {},
            {"files": [[1, [], None, None]]},
            {"files": [["a"]]},
            {"files": 3},
            {"files": [["a", [3], 1, 2]]},
        )
    ]
    + [json.dumps({"index": INDEX, "name": "idna", "taken_at": 1e6, "files": []}).encode()],
)
def test_a_damaged_one_is_none_and_is_written_anew(kept, data):
    kept.put(INDEX, "six", FILES)
    with open(the_file(kept), "wb") as stream:
        stream.write(data)
    assert kept.get(INDEX, "six") is None
    kept.put(INDEX, "six", FILES)
    assert kept.get(INDEX, "six") == (FILES,)


def test_what_is_no_file_is_none(kept, tmp_path):
    kept.put(INDEX, "six", FILES)
    path = the_file(kept)
    os.rename(path, tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", path)
    assert kept.get(INDEX, "six") is None
    os.unlink(path)
    os.mkfifo(path)
    assert kept.get(INDEX, "six") is None


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path):
    (tmp_path / "index").write_text("in the way")
    kept = Answers(str(tmp_path / "index"), 1e6)
    kept.put(INDEX, "six", FILES)
    kept.sweep()
    assert kept.get(INDEX, "six") is None


def test_several_runs_at_once(kept):
    many = tuple(ListedFile(f"six-{n}.tar.gz", (f"sha256:{n}",)) for n in range(2000))

    def one(number):
        kept.put(INDEX, "six", many[number:])
        found = kept.get(INDEX, "six")
        return found is not None and found[0] == many[-len(found[0]) :]

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(one, range(100)))
    assert len(os.listdir(kept.folder)) == 1


def test_what_nobody_takes_any_more_is_removed(kept):
    kept.put(INDEX, "six", FILES)
    kept.put(INDEX, "idna", FILES)
    path = kept._path(INDEX, "six")
    os.utime(path, (1e6, 1e6 - answers.LEFT - 1))
    os.utime(kept._path(INDEX, "idna"), (1e6, 1e6))
    kept.sweep()
    assert the_file(kept) == kept._path(INDEX, "idna")


@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({"XDG_CACHE_HOME": "/c"}, "/c/envdoctor/index"),
        ({"XDG_CACHE_HOME": "c"}, "/nowhere/home/.cache/envdoctor/index"),
        ({}, "/nowhere/home/.cache/envdoctor/index"),
    ],
)
def test_where_they_are(env, folder):
    assert answers.of(FakeHost(env=env)).folder == folder
