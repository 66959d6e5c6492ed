"""Killed at any point, no committed run is lost and the file is whole."""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from states import SUBJECT, Story, clean, told

from envdoctor.state import runs, snapshots

TESTS = str(Path(__file__).parent.parent)
WRITER = """if True:
    import hashlib, json, os, random, sys, time
    sys.path.insert(0, sys.argv[1])
    from states import Story, job, seen, sick
    from values import finding
    from envdoctor.state import database, pruning, snapshots
    from envdoctor.state.values import Bounds
    def told(function):
        def tell(*arguments):
            result = function(*arguments)
            os.write(1, b"here\\n")
            time.sleep(0.005)
            return result
        return tell
    def small(connection, bound=database._bound):
        bound(connection)
        connection.execute("PRAGMA cache_size = 1")
    database._bound = small  # pages reach the disk long before the transaction ends
    snapshots.put, pruning.prune = told(snapshots.put), told(pruning.prune)
    story, chance = Story(sys.argv[2]), random.Random(int(sys.argv[3]))
    story.number = int(sys.argv[3]) * 1000
    while True:
        found = [finding(f"p{chance.randrange(9)}") for _ in range(chance.randrange(3))]
        noise = job(A=chance.randbytes(chance.choice([10, 40_000])).hex())
        kept = story.run(sick(*found), seen(variables=noise), bounds=Bounds(age=1e10, size=800_000))
        digest = hashlib.sha256(noise.get("A").encode()).hexdigest()
        os.write(1, json.dumps([kept.run_id, digest]).encode() + b"\\n")
"""


def killed(path, seed, chance):
    """Write until killed within a transaction or as it ends; return (run, digest) of what was committed, in order."""
    begun, wanted, committed = 0, chance.randrange(1, 13), []
    command = [sys.executable, "-c", WRITER, TESTS, path, str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        for line in writer.stdout:
            if line == b"here\n":
                begun += 1
            else:
                committed.append(json.loads(line))
            if begun == wanted:
                time.sleep(chance.choice([0, chance.uniform(0, 0.02)]))
                os.kill(writer.pid, signal.SIGKILL)
                begun += 1
    return committed


def survive(path, seeds):
    committed = []
    for seed in seeds:
        chance = random.Random(seed)  # noqa: S311 - repeatable
        committed += killed(path, seed, chance)
        kept = {run.id for run in runs.since(path)}
        gone = [run for run, _ in committed if run not in kept]
        assert gone == [run for run, _ in committed][: len(gone)], "only the oldest are forgotten"
        if committed:
            last, digest = committed[-1]
            value = snapshots.at(path, SUBJECT, last).facts.variables.get("A")
            assert hashlib.sha256(value.encode()).hexdigest() == digest
        if os.path.exists(path):
            assert told(path, "PRAGMA integrity_check") == [("ok",)]
        after = Story(path)
        after.number = seed * 1000 + 999
        assert after.run(clean("packages/other")).said is None
    return committed


@pytest.mark.whole  # starts processes
def test_processes_at_once_lose_nothing(tmp_path):
    path = str(tmp_path / "state" / "n.sqlite")
    code = """if True:
        import sys
        sys.path.insert(0, sys.argv[1])
        from states import Story, Subject, clean, seen
        story = Story(sys.argv[2], Subject("node7", sys.argv[3], "/env"))
        for number in range(10):
            story.run(clean(), seen(number))
    """
    writers = [subprocess.Popen([sys.executable, "-c", code, TESTS, path, str(user)]) for user in range(4)]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0, 0]
    assert len(runs.since(path)) == 40


@pytest.mark.whole  # starts ten processes
def test_ten_kills_lose_no_committed_run(tmp_path):
    assert len(survive(str(tmp_path / "state" / "n.sqlite"), range(10))) > 10


@pytest.mark.soak
def test_two_hundred_kills_lose_no_committed_run(tmp_path):
    survive(str(tmp_path / "state" / "n.sqlite"), range(1000, 1200))


def test_what_a_killed_run_had_half_written_is_taken_back_by_who_reads(tmp_path):
    """A journal that was left tells what the file held before; a reader may have to play it back."""
    path = str(tmp_path / "state" / "n.sqlite")
    Story(path).run(clean())
    code = """if True:
        import os, sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], isolation_level=None)
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE runs SET verdict = 'sick'")
        for number in range(500):
            connection.execute("INSERT INTO texts (text) VALUES (?)", (str(number) * 500,))
        os._exit(9)
    """
    subprocess.run([sys.executable, "-c", code, path], check=False)
    assert os.path.getsize(f"{path}-journal") > 0
    assert [run.verdict for run in runs.since(path)] == ["healthy"]
    assert told(path, "PRAGMA integrity_check") == [("ok",)]
