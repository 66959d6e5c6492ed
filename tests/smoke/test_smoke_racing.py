"""Tries by a stand-in for the target's interpreter: what it is ordered, which cache it finds, how it may end."""

import json
import os

import pytest
from racers import detail, interpreter

from envdoctor.facts.smoke import Attempt
from envdoctor.facts.threads import STATES, Setting, Try
from envdoctor.smoke.caches import Caches
from envdoctor.smoke.racing import FILLING, Plan, Racing
from envdoctor.smoke.run import Order

TELL = f'end("threads", detail={detail()!r})'
SAYS_WHAT_IT_FINDS = f'end("threads", detail={{**{detail()!r}, "again": [json.dumps([order, held(), os.getpid()])]}})'
COLD = Setting(1, "cold")


@pytest.fixture
def run(tmp_path):
    def run(racing, *settings, devices=("cuda:0", "cuda:1"), tries=1, limit=20.0, remedy="none", lost=None, **replaced):
        """Let the stand-in do this in each try."""
        python = interpreter(tmp_path / "python", racing, **replaced)
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        env = {"TORCHINDUCTOR_CACHE_DIR": str(scratch / "cache"), "PATH": os.environ["PATH"]}
        order = Order(str(python), devices, "threads", env, str(tmp_path), str(scratch), limit)
        caches = Caches(str(scratch / "cache"), str(scratch / "kept"))
        heard = []
        run = Racing(Plan(order, settings or (COLD,), tries, remedy, caches, lost or {}), heard.append)
        found = run.run()
        assert [one for one in heard if isinstance(one, Try)] == list(found.done), "each is told as it comes"
        filled = [one for one in heard if isinstance(one, Attempt) and one.device == FILLING and one.state == "passed"]
        assert len(filled) == len({one.setting.state for one in found.done} - {"cold"}), "each is told, once"
        others = [one for one in heard if isinstance(one, Attempt) and one not in filled]
        assert others == run.attempts or run.lost
        return found, run.attempts

    return run


def seen(found):
    """Return (order, names in the cache, process) of each try."""
    return [json.loads(one.told.again[0]) for one in found.done]


def test_each_try_is_a_process_that_finds_its_state_at_the_same_path(run):
    settings = [Setting(count, state) for count in (1, 3) for state in STATES]
    spoils = 'os.makedirs(cache, exist_ok=True)\nopen(os.path.join(cache, "by a try"), "w").close()'
    found, attempts = run(f"{SAYS_WHAT_IT_FINDS}\n{spoils}", *settings, tries=2)
    told = seen(found)
    names = {"cold": [], "partly": ["cuda:0"], "warm": ["cuda:0", "cuda:1"]}
    assert [held for _, held, _ in told] == [names[one.setting.state] for one in found.done]
    assert len({process for _, _, process in told}) == 12
    assert [order["per_device"] for order, _, _ in told] == [1] * 6 + [3] * 6
    assert [attempt.step for attempt in attempts] == ["torch-import"]
    assert [one.number for one in found.of(settings[0])] == [1, 2]


@pytest.mark.parametrize(
    ("devices", "remedy", "starts"),
    [
        (("cuda:0", "cuda:1"), "none", ["together", "in turn", "together"]),
        (("cpu",), "none", ["in turn"] * 3),
        (("cuda:0", "cuda:1"), "barrier", ["held"] * 3),
    ],
)
def test_threads_start_together_and_in_turn_by_turns(run, devices, remedy, starts):
    found, _ = run(SAYS_WHAT_IT_FINDS, tries=3, devices=devices, remedy=remedy)
    assert [one.start for one in found.done] == [order["start"] for order, _, _ in seen(found)] == starts
    order = seen(found)[0][0]
    assert (order["devices"], order["remedy"], order["steps"]) == (list(devices), remedy, 40)


def test_a_setting_that_cannot_be_tried_is_left_with_its_reason(run):
    found, _ = run(TELL, COLD, Setting(3, "cold"), lost={COLD: ("nobody to race with", False)})
    assert ([one.setting.per_device for one in found.done], found.lost) == ([3], {COLD: ("nobody to race with", False)})


def test_what_torch_does_not_have_is_asked_for_once(run):
    found, _ = run('end("threads", "skipped", {"reason": "torch 2.10.0 has no such switch"})', tries=3, remedy="force")
    assert (found.done, found.lost) == ((), {COLD: ("torch 2.10.0 has no such switch", False)})


@pytest.mark.parametrize(
    ("racing", "how", "said"),
    [
        ("os.kill(os.getpid(), 11)", "died", "the process died by SIGSEGV"),
        ("os._exit(0)", "died", "the process ended with status 0 before its work was done"),
        ("time.sleep(60)", "hung", "no end within 5 s"),
        ("os.kill(os.getpid(), 19)\ntime.sleep(60)", "hung", "no end within 5 s"),
        (
            'end("threads", "failed", error={"type": "OSError", "message": "no", "causes": ["OSError: no"]})',
            "raised",
            "no",
        ),
    ],
    ids=["crashes", "leaves", "hangs", "is stopped", "raises"],
)
def test_a_try_that_does_not_come_to_its_end_is_kept_and_the_next_is_made(run, racing, how, said):
    tries = 1 if how == "hung" else 2
    found, _ = run(racing, tries=tries, limit=5.0 if how == "hung" else 20.0)
    assert [(one.told, one.failure.how, one.failure.message) for one in found.done] == [(None, how, said)] * tries
    assert bool(found.done[0].failure.stacks) == (how == "hung")


@pytest.mark.parametrize(
    "line",
    [
        "[1, 2",
        '{"event": "end", "device": "", "step": "threads", "state": "passed"}',
        json.dumps({"event": "end", "device": "", "step": "threads", "state": "passed", "detail": {"threads": "two"}}),
        *(
            json.dumps({"event": "end", "device": "", "step": "threads", "state": "passed", "detail": detail(**fields)})
            for fields in (
                {"meetings": -1},
                {"calls": "80"},
                {"traces": 1 << 70},
                {"threads": [7]},
                {"figures": {"bfloat16": []}},
                {"counters": {"inductor": {"hit": "many"}}},
                {"met": [{"caller": "lane 0", "at": float("nan"), "tracer": "lane 1"}]},
                {"compiles": [[1]]},
            )
        ),
        json.dumps({"event": "end", "device": "cuda:9", "step": "threads", "state": "passed", "detail": detail()}),
    ],
)
def test_what_the_payload_would_not_write_is_passed_over(run, line):
    found, _ = run(f"write({line!r})\n{TELL}")
    assert [(one.told.calls, one.told.meetings) for one in found.done] == [(80, 3)]


def test_an_end_before_the_beginning_is_none(run):
    begin = ('begin("threads")\nif', 'end("threads", detail={"threads": []})\nbegin("threads")\nif')
    found, _ = run(TELL, begin=begin)
    assert found.done[0].told.calls == 80


IMPORT = 'end("torch-import", detail={"torch": "2.11.0"})'
BAD = 'end("torch-import", "failed", error={"type": "ImportError", "message": "no"})'


def test_an_import_that_fails_is_tried_once(run):
    found, (attempt,) = run(TELL, COLD, Setting(3, "warm"), tries=3, bad=(IMPORT, BAD))
    assert (attempt.device, attempt.step, attempt.failure.type) == ("torch", "torch-import", "ImportError")
    assert set(found.lost.values()) == {("torch could not be imported", True)}
    assert (found.done, len(found.lost)) == ((), 2)


def test_an_import_that_hangs_is_the_imports_fault(run):
    found, (attempt,) = run(TELL, limit=0.5, bad=(IMPORT, "time.sleep(60)"))
    assert (attempt.step, attempt.failure.how, found.done) == ("torch-import", "hung", ())


def test_a_cache_that_cannot_be_filled_is_told_and_what_needs_it_is_not_tried(run):
    raised = 'end("threads", "failed", error={"type": "InductorError", "message": "no gcc", "causes": ["x: no gcc"]})'
    found, attempts = run(TELL, COLD, Setting(1, "warm"), bad=("fill(order)\n    ", f"{raised}; sys.exit()\n    "))
    assert [(one.device, one.step, one.state) for one in attempts][1:] == [("filling the cache", "threads", "failed")]
    assert ([one.setting for one in found.done], set(found.lost.values())) == (
        [COLD],
        {("filling the cache failed", True)},
    )


def test_a_cache_that_cannot_be_copied_is_one_line(tmp_path):
    from envdoctor.errors import EnvDoctorError

    (tmp_path / "kept").write_text("")
    caches = Caches(str(tmp_path / "cache"), str(tmp_path / "kept"))
    with pytest.raises(EnvDoctorError, match=r"^/.*/cache: the compile cache cannot be copied \(Not a directory\)$"):
        caches.keep("warm")
