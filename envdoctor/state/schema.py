"""The tables of the state, by schema version. What a file holds beside them was not written by us."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envdoctor.state.place import DamagedError, StateError

if TYPE_CHECKING:
    import sqlite3

SCHEMA = 2
MARKS = """CREATE TABLE marks (
    host TEXT, user TEXT, target TEXT, torch TEXT, triton TEXT, arch TEXT,
    kind TEXT, device TEXT, keys INTEGER, bytes INTEGER, path TEXT, set_at REAL, reached_at REAL,
    PRIMARY KEY (host, user, target, torch, triton, arch, kind, device)
)"""
HISTORY = (
    """CREATE TABLE subjects (
    id INTEGER PRIMARY KEY, host TEXT NOT NULL, user TEXT NOT NULL, target TEXT NOT NULL,
    UNIQUE (host, user, target)
)""",
    # what many runs say: why they were not judged, which probes were skipped
    "CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)",
    # ids are never given again: outside they name a run
    """CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, subject INTEGER NOT NULL, at REAL NOT NULL, verdict TEXT,
    errors INTEGER NOT NULL, warnings INTEGER NOT NULL, notes INTEGER NOT NULL, seconds REAL NOT NULL,
    reason INTEGER NOT NULL, lacking INTEGER NOT NULL, snapshot INTEGER
)""",
    "CREATE INDEX runs_by_subject ON runs (subject, at)",
    """CREATE TABLE episodes (
    id INTEGER PRIMARY KEY, subject INTEGER NOT NULL, probe TEXT NOT NULL, about TEXT NOT NULL,
    severity INTEGER NOT NULL, message TEXT NOT NULL, appeared REAL NOT NULL, gone REAL, unknown REAL,
    muted INTEGER NOT NULL
)""",
    "CREATE INDEX episodes_by_subject ON episodes (subject, gone)",
    # base: id of the snapshot that this one is a difference to; none for a whole one
    """CREATE TABLE snapshots (
    id INTEGER PRIMARY KEY, subject INTEGER NOT NULL, base INTEGER, digest BLOB NOT NULL, steady BLOB NOT NULL,
    size INTEGER NOT NULL, data BLOB NOT NULL
)""",
    "CREATE INDEX snapshots_by_subject ON snapshots (subject, steady)",
    "CREATE INDEX snapshots_by_base ON snapshots (subject, base)",
    "CREATE TABLE environments (subject INTEGER PRIMARY KEY, at REAL NOT NULL, variables TEXT NOT NULL)",
)
_TABLES = {1: {MARKS}, 2: {MARKS, *HISTORY}}


def version(connection: sqlite3.Connection, path: str) -> int:
    """Return the schema of a file, 0 if it is empty.

    Raises StateError for a later one, DamagedError if it does not hold what it says.
    """
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > SCHEMA:
        raise StateError(f"{path}: schema {found}, and this envdoctor knows {SCHEMA}; a later one has written it")
    # those without a statement are what SQLite adds by itself
    written = connection.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'").fetchall()
    if {sql for (sql,) in written} != _TABLES.get(found, set()):
        raise DamagedError(f"{path}: does not hold the tables of schema {found}")
    return int(found)


def bring_up(connection: sqlite3.Connection, path: str) -> None:
    """Make the tables, or add those that an earlier schema had not. To be called within a transaction."""
    found = version(connection, path)
    if found == SCHEMA:
        return
    for statement in (() if found else (MARKS,)) + HISTORY:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {SCHEMA}")
