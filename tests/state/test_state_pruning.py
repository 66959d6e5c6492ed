"""What is old or too much goes; what is open, the last run and the last healthy snapshot of an environment stay."""

import os
import random
from dataclasses import replace

import pytest
from states import STEP, SUBJECT, Story, clean, job, seen, sick, told
from values import NOW, finding

from envdoctor.state import findings, pruning, runs, snapshots
from envdoctor.state.values import Bounds

OLD = Bounds(age=5 * STEP.total_seconds())


@pytest.fixture
def story(tmp_path, monkeypatch):
    monkeypatch.setattr(pruning, "EVERY", 1)
    return Story(tmp_path / "state" / "node7.sqlite")


def noise(number):
    """Return variables that no compression makes small."""
    chance = random.Random(number)  # noqa: S311 - the same every time
    return job(PYTHONPATH=chance.randbytes(15_000).hex())


def test_what_is_older_than_allowed_goes_with_what_it_alone_spoke_of(story):
    for number in range(12):
        story.run(sick(finding(f"p{number}")), seen(variables=job(A=str(number))), bounds=OLD)
    assert [run.at for run in runs.since(story.path)] == [NOW + number * STEP for number in range(7, 13)]
    assert len(story.episodes()) == 7, "six ended within the time, and one is open"
    assert len(told(story.path, "SELECT id FROM snapshots")) == 7, "the whole one that six differ from stays"
    for run in runs.since(story.path):
        assert snapshots.at(story.path, SUBJECT, run.id) is not None


def test_the_last_healthy_snapshot_and_what_is_open_outlive_any_age(story):
    story.run(sick(finding("old")))
    healthy = story.run(clean("packages/other"), seen(variables=job(A="healthy"))).run_id
    for number in range(12):
        story.run(sick(finding("six"), probe="packages/other"), seen(variables=job(A=str(number))), bounds=OLD)
    assert runs.last_healthy(story.path, SUBJECT).id == healthy
    assert snapshots.at(story.path, SUBJECT, healthy).facts.variables.get("A") == "healthy"
    assert story.episodes()["packages/test", "old"].gone is None


def test_an_environment_that_is_gone_keeps_its_last_word(story):
    other = Story(story.path, replace(SUBJECT, target="/gone"))
    other.run(sick(finding()), seen())
    for _ in range(12):
        story.run(clean(), bounds=OLD)
    assert [run.verdict for run in runs.since(story.path, other.subject)] == ["sick"]


def test_a_file_that_grows_too_large_shrinks_and_its_largest_pays(story):
    small = Story(story.path, replace(SUBJECT, target="/small"))
    bounds = Bounds(size=1 << 19)
    for _ in range(5):
        small.run(clean(), seen(), bounds=bounds)
    for number in range(40):
        story.run(clean(), seen(variables=noise(number)), bounds=bounds)
        assert os.path.getsize(story.path) < 1.3 * bounds.size
    assert len(runs.since(story.path, small.subject)) == 5
    last = snapshots.at(story.path, SUBJECT, NOW + 1000 * STEP)
    assert last.facts.variables == noise(39)
    assert told(story.path, "PRAGMA integrity_check") == [("ok",)]


def test_room_that_has_become_free_is_given_back(story):
    for number in range(40):
        story.run(clean(), seen(variables=noise(number)))
    large = os.path.getsize(story.path)
    story.run(clean(), bounds=OLD)
    assert os.path.getsize(story.path) < large / 2


def test_what_may_not_go_stays_though_it_is_too_much(story):
    for number in range(5):
        story.run(clean(), seen(variables=noise(number)), bounds=Bounds(size=1))
    assert len(runs.since(story.path)) == 1
    assert snapshots.at(story.path, SUBJECT, 5) is not None


def test_a_text_that_no_run_says_any_more_goes(story):
    for number in range(12):
        story.run(None, reason=f"no answer {number}", bounds=OLD)
    assert len(told(story.path, "SELECT id FROM texts")) == 7


def test_what_is_too_old_is_looked_for_now_and_then(story, monkeypatch):
    monkeypatch.setattr(pruning, "EVERY", 10)
    for _ in range(19):
        story.run(clean(), bounds=OLD)
    assert [run.id for run in runs.since(story.path)] == list(range(5, 20))


def test_who_fills_it_with_long_names_pays_for_them_himself(story):
    """One that changes with every run, as the names in a tree may."""
    small = Story(story.path, replace(SUBJECT, target="/small"))
    bounds = Bounds(size=1 << 19)
    for number in range(5):
        small.run(clean(), seen(variables=noise(number)), bounds=bounds)
    kept = len(runs.since(story.path, small.subject))
    for number in range(100):
        story.run(sick(finding(f"{number}{'x' * 20_000}")), bounds=bounds)
    assert kept > 1
    assert len(runs.since(story.path, small.subject)) == kept
    assert {len(about) for _, about in story.episodes()} == {findings.ABOUT}
