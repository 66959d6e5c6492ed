"""Verdicts, and findings from their appearance to their end: what was not looked at is never healed."""

from datetime import timedelta

import pytest
from states import STEP, SUBJECT, Story, clean, seen, sick
from values import NOW, finding, outcome, report

from envdoctor.model import Severity, Unavailable
from envdoctor.state import findings, following, runs
from envdoctor.state.values import Subject

FOREIGN = finding("numpy", Severity.ERROR, "numpy is not in the lock")
MILD = finding("numpy", Severity.WARNING, "numpy is not in the lock, and allowed")


@pytest.fixture
def story(tmp_path):
    return Story(tmp_path / "state" / "node7.sqlite")


def test_a_finding_appears_worsens_eases_and_heals_each_once(story):
    assert story.changes(clean()) == []
    assert story.changes(sick(MILD)) == [("appeared", "numpy")]
    assert story.changes(sick(MILD)) == []
    (change,) = story.run(sick(FOREIGN)).changes
    assert (change.kind, change.before, change.severity) == ("worsened", Severity.WARNING, Severity.ERROR)
    assert story.changes(sick(MILD)) == [("eased", "numpy")]
    assert story.changes(clean()) == [("healed", "numpy")]
    episode = story.episodes()["packages/test", "numpy"]
    assert (episode.appeared, episode.gone) == (NOW + 2 * STEP, NOW + 6 * STEP)
    assert [run.verdict for run in runs.since(story.path)] == [
        "healthy", "warnings", "warnings", "sick", "warnings", "healthy",
    ]  # fmt: skip


def test_the_first_run_says_so_and_everything_has_appeared(story):
    kept = story.run(sick(FOREIGN))
    assert (kept.first, [change.kind for change in kept.changes]) == (True, ["appeared"])
    assert not story.run(clean()).first


@pytest.mark.parametrize(
    "blind",
    [
        report(outcome(skipped=Unavailable("no torch"))),
        report(outcome(crashed="ValueError: x")),
        report(outcome("packages/other")),
        None,
    ],
    ids=["skipped", "crashed", "not run", "not judged"],
)
def test_what_a_run_cannot_tell_stays_open_and_is_unknown_since_then(story, blind):
    story.run(sick(FOREIGN))
    assert story.changes(blind) == []
    assert story.changes(blind) == []
    episode = story.episodes()["packages/test", "numpy"]
    assert (episode.gone, episode.unknown) == (None, NOW + 2 * STEP)
    assert story.changes(sick(FOREIGN)) == []
    assert story.episodes()["packages/test", "numpy"].unknown is None


def test_a_probe_whose_fact_was_read_in_part_heals_nothing_and_others_do(story):
    found = [outcome("packages/missing-file", FOREIGN), outcome("node/low-limits", MILD)]
    story.run(report(*found))
    partly = report(outcome("packages/missing-file"), outcome("node/low-limits"), failed={"files": "too late"})
    assert story.changes(partly) == [("healed", "numpy")]
    assert story.episodes()["packages/missing-file", "numpy"].unknown == NOW + 2 * STEP


def test_a_muted_finding_is_gone_and_not_healed(story):
    story.run(sick(FOREIGN))
    assert story.changes(report(outcome(muted=(FOREIGN,)))) == []
    episode = story.episodes()["packages/test", "numpy"]
    assert (episode.gone, episode.muted) == (NOW + 2 * STEP, True)
    assert story.changes(sick(FOREIGN)) == [("appeared", "numpy")]


def test_several_findings_about_one_thing_are_the_worst_of_them(story):
    assert story.changes(sick(MILD, FOREIGN)) == [("appeared", "numpy")]
    assert story.episodes()["packages/test", "numpy"].message == FOREIGN.message


def test_what_was_bad_comes_before_what_is_better(story):
    others = [finding("b", Severity.NOTE), finding("a", Severity.ERROR)]
    story.run(sick(FOREIGN))
    assert story.changes(sick(*others)) == [("appeared", "a"), ("appeared", "b"), ("healed", "numpy")]


def test_a_run_tells_its_counts_what_it_lacked_and_why_it_was_not_judged(story):
    lacking = outcome("cuda/x", skipped=Unavailable("no GPU")), outcome("cuda/y", crashed="E: x")
    story.run(report(outcome("a/b", FOREIGN, MILD), *lacking, failed={"node": "late"}, seconds=1.234))
    story.run(None, reason="https://me:hunter2@index.example \x1b[2J")
    judged, unjudged = runs.since(story.path)
    assert (judged.errors, judged.warnings, judged.notes, judged.seconds) == (1, 1, 0, 1.23)
    assert judged.lacking == ("cuda/x skipped", "cuda/y crashed", "node not read")
    assert (unjudged.verdict, unjudged.reason) == (None, "https://****@index.example \\x1b[2J")


def test_each_subject_has_a_history_of_its_own(story):
    other = Story(story.path, Subject("node7", "1001", SUBJECT.target))
    story.run(sick(FOREIGN))
    assert other.changes(clean()) == []
    assert [run.verdict for run in runs.since(story.path, SUBJECT)] == ["sick"]
    assert runs.since(story.path, Subject("node8", "1000", "/env")) == []
    assert runs.last_healthy(story.path, SUBJECT) is None
    assert runs.last_healthy(story.path, other.subject).at == NOW + STEP
    assert set(runs.last_visited(story.path)) == {SUBJECT, other.subject}


def test_a_period_and_a_limit_choose_runs(story):
    for _ in range(5):
        story.run(clean())
    assert len(runs.since(story.path, since=NOW + 4 * STEP)) == 2
    assert len(runs.since(story.path, until=NOW + 4 * STEP)) == 4
    assert [run.at for run in runs.since(story.path, limit=2)] == [NOW + 4 * STEP, NOW + 5 * STEP]


def test_what_ended_before_the_period_is_left_out_and_what_is_open_is_not(story):
    story.run(sick(FOREIGN, finding("six")))
    story.run(sick(finding("six")))
    assert [e.about for e in runs.episodes(story.path, since=NOW + timedelta(days=1))] == ["six"]


def test_without_a_file_nothing_is_known_and_nothing_is_made(story, tmp_path):
    asked = (runs.since, runs.episodes, runs.last_visited)
    assert [list(ask(story.path)) for ask in asked] == [[], [], []]
    assert runs.last_healthy(story.path, SUBJECT) is None
    assert list(tmp_path.iterdir()) == []


def test_how_many_findings_are_followed_has_an_end(story, monkeypatch):
    monkeypatch.setattr(following, "MOST", 3)
    many = [finding(f"p{number}") for number in range(9)]
    story.run(sick(*many))
    assert len(story.episodes()) == 3
    assert story.changes(sick(*many)) == []


def test_a_message_is_cut_and_a_subject_may_be_no_utf_8(story):
    story.run(sick(finding("/env/\udcff", message="x" * 5000)))
    assert story.changes(sick(finding("/env/\udcff", message="x" * 5000))) == []
    (episode,) = story.episodes().values()
    assert len(episode.message) == findings.LONGEST


def test_nothing_is_kept_of_a_run_that_fails_half_way(story, monkeypatch):
    story.run(clean())
    monkeypatch.setattr(runs.pruning, "prune", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        story.run(sick(FOREIGN), seen())
    assert (len(runs.since(story.path)), story.episodes()) == (1, {})
