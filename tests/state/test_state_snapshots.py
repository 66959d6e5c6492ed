"""Any snapshot comes back as it was; what is the same but for what changes in every run is kept once."""

import json
import os
import random
from dataclasses import replace

import pytest
from states import STEP, SUBJECT, Story, changed, clean, job, seen, told
from values import NOW, distribution, distributions

from envdoctor.recorded import render
from envdoctor.state import snapshots
from envdoctor.state.place import StateError


@pytest.fixture
def story(tmp_path):
    return Story(tmp_path / "state" / "node7.sqlite")


def kept(story):
    """Return (whole ones, differences)."""
    bases = [base for (base,) in told(story.path, "SELECT base FROM snapshots")]
    return bases.count(None), len(bases) - bases.count(None)


def test_what_has_not_changed_but_for_the_load_is_kept_once(story):
    for number in range(1, 6):
        story.run(clean(), seen(number))
    assert kept(story) == (1, 0)
    found = snapshots.at(story.path, SUBJECT, NOW + 5 * STEP)
    assert found.head.taken_at == NOW + 5 * STEP
    assert found.facts.node.memory_used == seen(1).facts.node.memory_used


def test_every_snapshot_comes_back_as_it_was_by_moment_and_by_run(story):
    taken = [seen(number, variables=job(PYTHONPATH=f"/srv/{number}")) for number in range(1, 9)]
    ids = [story.run(clean(), each).run_id for each in taken]
    assert kept(story) == (1, 7)
    for number, each in enumerate(taken, 1):
        assert render(snapshots.at(story.path, SUBJECT, ids[number - 1])) == render(each)
        assert render(snapshots.at(story.path, SUBJECT, NOW + (number + 0.5) * STEP)) == render(each)
    assert snapshots.at(story.path, SUBJECT, NOW) is None
    assert snapshots.at(story.path, SUBJECT, 99) is None
    assert snapshots.at(story.path, replace(SUBJECT, user="0"), ids[0]) is None


def test_one_that_has_little_in_common_is_whole_again(story):
    def packages(seed):
        chance = random.Random(seed)  # noqa: S311 - the same packages every time
        return distributions(*(distribution(f"p{chance.randrange(1 << 60)}") for _ in range(200)))

    for seed in (1, 1, 2, 2):
        story.run(clean(), seen(distributions=packages(seed), variables=job(A=str(story.number))))
    assert kept(story) == (2, 2)
    assert len(snapshots.at(story.path, SUBJECT, 4).facts.distributions.items) == 200


def test_what_comes_back_is_not_kept_again(story):
    for value in "abab":
        story.run(clean(), seen(variables=job(PYTHONPATH=value)))
    assert kept(story) == (1, 1)


def test_a_run_without_a_snapshot_is_passed_over_by_a_moment(story):
    story.run(clean(), seen(1))
    run = story.run(None, reason="no answer").run_id
    assert snapshots.at(story.path, SUBJECT, run) is None
    assert snapshots.at(story.path, SUBJECT, NOW + 3 * STEP).head.taken_at == NOW + STEP


def test_one_that_is_too_large_is_said_and_the_run_is_kept(story, monkeypatch):
    monkeypatch.setattr(snapshots, "LONGEST", 1000)
    assert "too large" in story.run(clean(), seen()).said
    assert told(story.path, "SELECT snapshot FROM runs") == [(None,)]


@pytest.mark.parametrize(
    "lie",
    [
        "UPDATE snapshots SET digest = zeroblob(32) WHERE base IS NOT NULL",
        "UPDATE snapshots SET data = x'00' WHERE base IS NULL",
        "UPDATE snapshots SET data = zeroblob(100) WHERE base IS NOT NULL",
        "UPDATE snapshots SET size = 3",
        "UPDATE snapshots SET size = -9000",
        "UPDATE snapshots SET size = 'many'",
        "UPDATE snapshots SET data = 'text'",
        "UPDATE snapshots SET base = id WHERE base IS NOT NULL",
        "UPDATE runs SET snapshot = 4711",
        "UPDATE runs SET snapshot = 'x'",
        "DELETE FROM snapshots WHERE base IS NULL",
    ],
)
def test_one_that_is_not_what_was_written_is_never_shown(story, lie):
    for number in (1, 2):
        story.run(clean(), seen(variables=job(A=str(number))))
    changed(story.path, lie)
    with pytest.raises(StateError):
        snapshots.at(story.path, SUBJECT, 2)


def test_no_frame_unpacks_to_more_than_was_packed(story):
    story.run(clean(), seen())
    bomb = snapshots.zstd.compress(bytes(1 << 28))
    changed(story.path, ("UPDATE snapshots SET data = ?, size = ?", (bomb, 1 << 40)))
    with pytest.raises(StateError, match="checksum"):
        snapshots.at(story.path, SUBJECT, 1)


def test_text_that_is_no_snapshot_is_refused(story):
    story.run(clean(), seen())
    for text in (b"{}", b"[]", b"not JSON", json.dumps({"schema": 99, "facts": {}}).encode()):
        data, digest = snapshots.zstd.compress(text), snapshots.hashlib.sha256(text).digest()
        values = (data, digest, len(text))
        changed(story.path, ("UPDATE snapshots SET data = ?, digest = ?, size = ?", values))
        with pytest.raises(StateError, match="cannot be read"):
            snapshots.at(story.path, SUBJECT, 1)


def test_unchanged_runs_take_little_room(story):
    story.run(clean(), seen(0))
    before = os.path.getsize(story.path)
    for number in range(1, 40):
        story.run(clean(seconds=number / 7), seen(number))
    assert os.path.getsize(story.path) - before <= 2 * 4096
