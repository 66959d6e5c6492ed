"""One file, many runs: schemas, damage, transactions. What is damaged is set aside with a note, and nothing is lost."""

import os
import sqlite3
from contextlib import closing
from glob import glob

import pytest
from states import Story, changed, clean, seen, sick, told
from values import finding

from envdoctor.state import database, marks, runs, schema
from envdoctor.state.marks import Key, Mark
from envdoctor.state.place import DamagedError, StateError

NOW = 1_780_000_000.0
KEY = Key("node7", "1000", "/env", "2.11.0+cu130", "3.6.0", "9.0")
MARK = Mark("fxgraph", "", 412, 1000, "/cache", NOW, NOW)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "state" / "envdoctor" / "node7.sqlite")


def first_schema(path):
    """Make a file as the first schema had it."""
    os.makedirs(os.path.dirname(path), mode=0o700)
    create = schema.MARKS.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS")
    row = (
        "INSERT INTO marks VALUES ('node7', '1000', '/env', '2.11.0+cu130', '3.6.0', '9.0', 'fxgraph', '', 412, 1000, "
    )
    changed(path, create, f"{row}'/cache', {NOW}, {NOW})", "PRAGMA user_version = 1")


def test_a_file_of_the_first_schema_is_read_as_it_is_and_brought_up_by_who_writes(path):
    first_schema(path)
    assert marks.read(path, KEY, NOW) == (MARK,)
    assert runs.since(path) == []
    assert told(path, "PRAGMA user_version") == [(1,)]
    assert Story(path).run(clean()).said is None
    assert marks.read(path, KEY, NOW) == (MARK,)
    assert [told(path, f"PRAGMA {name}") for name in ("user_version", "auto_vacuum")] == [[(2,)], [(2,)]]
    assert len(runs.since(path)) == 1


def test_bringing_up_that_is_interrupted_leaves_what_there_was(path, monkeypatch):
    first_schema(path)
    monkeypatch.setattr(schema, "HISTORY", (*schema.HISTORY, "CREATE nonsense"))
    with pytest.raises(StateError):
        Story(path).run(clean())
    monkeypatch.undo()
    assert marks.read(path, KEY, NOW) == (MARK,)
    Story(path).run(clean())
    assert len(runs.since(path)) == 1


def test_a_later_schema_is_refused_and_left_alone(path):
    story = Story(path)
    story.run(sick(finding()))
    changed(path, "PRAGMA user_version = 99", "CREATE TABLE more (x)")
    with open(path, "rb") as stream:
        before = stream.read()
    for ask in (lambda: story.run(clean()), lambda: runs.since(path), lambda: marks.record(path, KEY, [MARK], NOW)):
        with pytest.raises(StateError, match="schema 99, and this envdoctor knows 2") as error:
            ask()
        assert not isinstance(error.value, DamagedError)
    with open(path, "rb") as stream:
        assert stream.read() == before


def garbage(path):
    with open(path, "r+b") as stream:
        stream.write(os.urandom(4096))


def truncated(path):
    os.truncate(path, os.path.getsize(path) // 2 // 4096 * 4096)


def scrambled(path):
    """Overwrite all but the first page."""
    with open(path, "r+b") as stream:
        stream.seek(4096)
        stream.write(os.urandom(os.path.getsize(path) - 4096))


DAMAGE = {
    "garbage": garbage,
    "truncated": truncated,
    "scrambled": scrambled,
    "short": lambda path: os.truncate(path, 50),
    "no tables": lambda path: changed(path, *(f"DROP TABLE {name}" for name in ("runs", "episodes"))),
    "a trigger": lambda path: changed(path, "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM marks; END"),
    "an endless view": lambda path: changed(
        path,
        "DROP TABLE marks",
        "CREATE VIEW marks AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x FROM c",
    ),
    "schema said wrong": lambda path: changed(path, "PRAGMA user_version = 1"),
    "another database": lambda path: changed(path, "PRAGMA user_version = 0"),
    "wrong types": lambda path: changed(path, "UPDATE episodes SET severity = 'x', appeared = x'00', message = 1"),
    "no such severity": lambda path: changed(path, "UPDATE episodes SET severity = 77"),
    "infinite times": lambda path: changed(path, "UPDATE episodes SET unknown = 9e999"),
    "huge value": lambda path: changed(path, "UPDATE episodes SET message = hex(zeroblob(1000000)) WHERE id = 7"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_is_damaged_is_set_aside_by_who_writes_and_said(path, damage, monkeypatch):
    monkeypatch.setattr(database, "LONGEST", 1 << 20)
    story = Story(path)
    for number in range(3):
        story.run(sick(*(finding(f"p{n}") for n in range(60))), seen(number))
    damage(path)
    with open(path, "rb") as stream:
        content = stream.read()
    with pytest.raises(StateError):
        runs.since(path), runs.episodes(path)
    said = story.run(sick(finding())).said
    aside = f"{path}.damaged-{int(runs.since(path)[-1].at.timestamp())}"
    assert said.startswith(f"{path} was damaged")
    assert os.path.basename(aside) in said
    with open(aside, "rb") as stream:
        assert stream.read() == content, "not a byte is lost"
    assert len(runs.since(path)) == 1
    assert told(path, "PRAGMA integrity_check") == [("ok",)]


def test_two_damaged_files_of_one_second_are_both_kept(path):
    for content in (b"one" * 2000, b"two" * 2000):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(content)
        assert "set aside" in marks.record(path, KEY, [MARK], NOW)
    assert len(glob(f"{path}.damaged-*")) == 2


def test_who_finds_it_set_aside_meanwhile_leaves_the_new_file(path, monkeypatch):
    os.makedirs(os.path.dirname(path), mode=0o700)
    with open(path, "wb") as stream:
        stream.write(b"x" * 8192)
    write = database._write

    def slow(*arguments):
        """Find the damage, and be overtaken before it is set aside."""
        monkeypatch.setattr(database, "_write", write)
        try:
            return write(*arguments)
        finally:
            Story(path).run(clean())

    monkeypatch.setattr(database, "_write", slow)
    assert "by another run" in Story(path).run(clean()).said
    assert len(runs.since(path)) == 2
    assert len(glob(f"{path}.damaged-*")) == 1


@pytest.mark.parametrize("ending", ["", "-journal"])
def test_what_is_planted_is_set_aside_unopened(path, tmp_path, ending):
    os.makedirs(os.path.dirname(path), mode=0o700)
    precious = tmp_path / "precious"
    precious.write_text("precious")
    os.symlink(precious, path + ending)
    assert "is not a regular file" in Story(path).run(clean()).said
    assert precious.read_text() == "precious"
    assert os.path.islink(f"{path}.damaged-{int(runs.since(path)[0].at.timestamp())}{ending}")


def test_another_run_s_transaction_is_waited_for_and_not_for_ever(path, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE", 0.1)
    story = Story(path)
    story.run(clean())
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        for ask in (lambda: story.run(clean()), lambda: runs.since(path)):
            with pytest.raises(StateError, match="locked"):
                ask()
        connection.execute("ROLLBACK")
    story.run(clean())
    assert len(runs.since(path)) == 2


def test_a_file_that_was_given_a_write_ahead_log_loses_it(path):
    story = Story(path)
    story.run(clean())
    changed(path, "PRAGMA journal_mode = WAL")
    assert len(runs.since(path)) == 1
    story.run(clean())
    assert told(path, "PRAGMA journal_mode") == [("delete",)]


def test_what_takes_too_long_is_given_up(path, monkeypatch):
    Story(path).run(clean())
    monkeypatch.setattr(database, "WORK", 0.0)
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT COUNT(*) FROM c"
    with pytest.raises(StateError, match="interrupted"):
        database.read(path, lambda connection: connection.execute(endless).fetchall(), None)


def test_a_disk_that_is_full_is_no_damage(path):
    story = Story(path)
    story.run(clean())
    pages = told(path, "PRAGMA page_count")[0][0]

    def full(connection):
        connection.execute(f"PRAGMA max_page_count = {pages}")
        connection.execute("INSERT INTO texts (text) VALUES (?)", ("x" * 100_000,))

    with pytest.raises(StateError, match="full") as error:
        database.write(path, full, NOW)
    assert not isinstance(error.value, DamagedError)
    assert len(runs.since(path)) == 1
