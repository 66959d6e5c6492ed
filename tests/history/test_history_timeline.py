"""What each install did, what else is dated, what is gone: from made facts."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from values import NOON, SITE, collision, distribution, distributions, files, interpreter, lock, owners, seal, state

from envdoctor.facts.comparison import AlteredFile
from envdoctor.facts.owners import Leftover
from envdoctor.facts.startup import Customize, Startup, StartupFile, StartupLine
from envdoctor.model import Unavailable

HOUR = 3600.0
LOCK = lock("transformers==5.6.0", "numpy==2.1.0")
BASE = distribution("numpy", "2.1.0", installed_at=NOON - HOUR, requested=True)
SGLANG = distribution("sglang", "0.5.9", requires=["transformers==5.8.1", "orjson"], installed_at=NOON, requested=True)
STACK = (
    distribution("orjson", "3.11.4", installed_at=NOON - 2),
    distribution("transformers", "5.8.1", installed_at=NOON - 1),
    SGLANG,
)


def labels(items):
    return [item.label for item in items]


class TestInstalls:
    def test_a_stack_that_moves_what_is_locked_repurposes(self, tell):
        first, second = tell(distributions(BASE, *STACK), lock=LOCK).history.batches
        assert (first.repurposed, first.locked, labels(first.roots)) == (False, 1, ["numpy 2.1.0"])
        assert (second.at, second.until, second.installer) == (NOON - 2, NOON, "pip")
        assert (labels(second.roots), labels(second.added)) == (["sglang 0.5.9"], ["orjson 3.11.4"])
        (move,) = second.moved
        assert (move.name, move.was, move.now, move.by) == ("transformers", "5.6.0", "5.8.1", "lock")
        assert (second.repurposed, second.foreign, second.stacks) == (True, ("orjson", "sglang"), ("sglang",))

    def test_the_first_install_repurposes_nothing(self, tell):
        (only,) = tell(distributions(*STACK), lock=LOCK).history.batches
        assert (only.first, only.repurposed) == (True, False)

    @pytest.mark.parametrize(
        ("before", "first"),
        [(distribution("pip", installed_at=NOON - HOUR), True), (distribution("six", installed_at=None), False)],
        ids=["pip is no purpose", "what is undated was there before"],
    )
    def test_what_was_there_before_counts(self, before, first, tell):
        assert tell(distributions(before, *STACK), lock=LOCK).history.batches[-1].first == first

    def test_without_a_lock_an_engine_that_came_later_repurposes(self, tell):
        told = tell(distributions(BASE, *STACK)).history
        assert [event.repurposed for event in told.batches] == [False, True]
        assert told.batches[1].moved == ()
        assert any("no lock" in sentence and "foreign" in sentence for sentence in told.unknown)

    def test_without_a_lock_the_seal_says_what_there_was(self, tell):
        told = tell(distributions(BASE, *STACK), seal=seal("transformers==5.6.0", "numpy==2.1.0")).history
        assert [(move.name, move.was, move.by) for move in told.batches[1].moved] == [("transformers", "5.6.0", "seal")]

    def test_the_lock_says_it_before_the_seal(self, tell):
        told = tell(distributions(BASE, *STACK), lock=LOCK, seal=seal("transformers==5.5.0")).history
        assert [(move.was, move.by) for move in told.batches[1].moved] == [("5.6.0", "lock")]

    @pytest.mark.parametrize(
        ("requirement", "at", "told"),
        [
            ("numpy==1.26", NOON - HOUR, [("numpy", "1.26", "2.1.0", "old")]),
            ("numpy<2", NOON - HOUR, []),
            ("numpy==1.*", NOON - HOUR, []),
            ("numpy==2.1.0", NOON - HOUR, []),
            ("numpy==1.26", NOON + HOUR, []),
            ("numpy==1.26", NOON, []),
        ],
        ids=["exactly", "a range", "a prefix", "satisfied", "who came later", "of the same install"],
    )
    def test_an_older_exact_requirement_says_what_there_was(self, requirement, at, told, tell):
        old = distribution("old", requires=[requirement], installed_at=at)
        new = distribution("numpy", "2.1.0", installed_at=NOON)
        moved = [move for event in tell(distributions(old, new)).history.batches for move in event.moved]
        assert [(move.name, move.was, move.now, move.by) for move in moved] == told

    def test_who_wrote_over_whose_files(self, tell):
        found = [distribution("a", installed_at=NOON - HOUR), distribution("b", installed_at=NOON)]
        over = [collision("x.py", "a", "b", on_disk="b"), collision("y.py", "a", "b")]
        (wrote,) = tell(distributions(*found), owners=owners(over)).history.batches[1].overwrote
        assert (wrote.name, wrote.of, wrote.paths) == ("b", "a", ("x.py", "y.py"))

    def test_the_older_ones_bytes_on_disk_mean_that_it_wrote_last(self, tell):
        found = [distribution("a", installed_at=NOON - HOUR), distribution("b", installed_at=NOON)]
        told = tell(distributions(*found), owners=owners([collision("x.py", "a", "b", on_disk="a")])).history
        assert [[item.of for item in event.overwrote] for event in told.batches] == [["b"], []]

    def test_times_that_prove_nothing_are_said(self, tell):
        flat = [distribution(name, installed_at=NOON) for name in ("a", "b")]
        told = tell(distributions(*flat)).history
        assert (told.batches, told.undated, "image layer" in told.timeless) == ((), ("a", "b"), True)


class TestNotes:
    def notes(self, told):
        return [(event.kind, event.at, event.what) for event in told.history.events if hasattr(event, "kind")]

    @pytest.mark.parametrize(
        ("pyvenv", "said"),
        [
            ({"home": "/usr/bin"}, "environment made, with Python 3.12.3"),
            ({"uv": "0.13.9"}, "environment made by uv 0.13.9, with Python 3.12.3"),
            ({"virtualenv": "20.1"}, "environment made by virtualenv 20.1, with Python 3.12.3"),
        ],
    )
    def test_the_environment_was_made(self, pyvenv, said, tell):
        told = tell(distributions(BASE), interpreter=interpreter(created_at=NOON, pyvenv=pyvenv))
        assert self.notes(told) == [("created", NOON, said)]

    def test_of_a_copy_the_time_is_that_of_the_copy(self, tell):
        copied = distribution("a", installed_at=NOON, times="copied")
        told = tell(distributions(copied), interpreter=interpreter(created_at=NOON, recorded_version=None))
        assert self.notes(told) == [("created", NOON, "environment made or copied")]

    @pytest.mark.parametrize("taken", ["2026-06-03T12:00:00Z", "someday"])
    def test_a_seal_was_taken(self, taken, tell):
        told = tell(distributions(BASE), seal=replace(seal("numpy==2.1.0"), taken_at=taken))
        expected = [("sealed", NOON, "sealed as good, with 1 package")] if taken != "someday" else []
        assert self.notes(told) == expected

    def test_files_were_edited(self, tell):
        edit = state(BASE, altered={"numpy/a.py": "content"})
        edit = replace(edit, altered=(AlteredFile("numpy/a.py", "content", 1, 2, NOON + 5),))
        (note,) = [e for e in tell(distributions(BASE), files=files(edit)).history.events if hasattr(e, "kind")]
        assert (note.kind, note.at, note.subject, note.paths, note.count) == (
            "edited",
            NOON + 5,
            "numpy",
            ("numpy/a.py",),
            1,
        )

    def test_start_up_files_of_no_package_were_written(self, tell):
        runs = (StartupLine(1, "import", "import x"),)
        startup = Startup(
            (
                StartupFile(f"{SITE}/hand.pth", "site-packages", runs, written_at=NOON + 1),
                StartupFile(f"{SITE}/path.pth", "site-packages", (), written_at=NOON + 2),
                StartupFile(f"{SITE}/owned.pth", "site-packages", runs, written_at=NOON + 3),
                StartupFile("/home/me/user.pth", "user-site", runs, written_at=NOON + 4),
            ),
            (Customize("sitecustomize", f"{SITE}/sitecustomize.py", "site-packages", 1, written_at=NOON + 5),),
        )
        owned = replace(owners(), top_level={f"{SITE}/owned.pth": "numpy"})
        told = tell(distributions(BASE), startup=startup, owners=owned)
        assert [(event.at, "run" in event.what) for event in told.history.events if hasattr(event, "kind")] == [
            (NOON + 1, True),
            (NOON + 2, False),
            (NOON + 5, True),
        ]

    @pytest.mark.parametrize(
        ("later", "written", "said"), [(60, None, True), (5, None, False), (60, 60, False), (60, 90, True)]
    )
    def test_names_came_or_went_after_the_last_install(self, later, written, said, tell):
        changed = replace(distributions(SGLANG), changed={SITE: NOON + later})
        files = [StartupFile(f"{SITE}/a.pth", "site-packages", written_at=NOON + written)] if written else []
        told = tell(changed, startup=Startup(tuple(files)))
        assert ("changed" in [kind for kind, _, _ in self.notes(told)]) == said

    def test_events_are_in_order(self, tell):
        told = tell(distributions(*STACK, BASE), interpreter=interpreter(created_at=NOON - 2 * HOUR)).history
        assert [event.at for event in told.events] == sorted(event.at for event in told.events)
        assert datetime.fromtimestamp(told.events[0].at, UTC).hour == 10


class TestGone:
    def test_is_what_was_locked_sealed_or_required(self, tell):
        needing = distribution("old", requires=["six", "pip"], installed_at=NOON)
        told = tell(distributions(needing), lock=lock("torch==2.11.0"), seal=seal("torch==2.10", "ray==2.0")).history
        assert [(item.name, item.version, item.evidence, item.recorded) for item in told.gone] == [
            ("ray", "2.0", ("it was sealed",), True),
            ("six", None, ("old requires it",), False),
            ("torch", "2.11.0", ("the lock has it", "it was sealed"), True),
        ]

    def test_is_what_a_failed_uninstall_left(self, tell):
        left = owners(leftovers=[Leftover(f"{SITE}/~orch", 2048)])
        (item,) = tell(distributions(BASE), owners=left).history.gone
        assert (item.name, item.evidence) == (f"{SITE}/~orch", ("left by an uninstall that failed, 2 KiB",))

    def test_what_could_not_be_read_is_said(self, tell):
        told = tell(distributions(BASE), owners=Unavailable("no permission"), files=Unavailable("too slow")).history
        assert [sentence for sentence in told.unknown if "no lock" not in sentence] == [
            "what an install overwrote: no permission",
            "which files were changed after their install: too slow",
        ]
