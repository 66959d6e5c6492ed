"""What is to race, what cannot show anything, and what progress and report say of it."""

import pytest
from fakes import FakeHost
from racers import FX, SETTING, TOLD, ended, race, tried
from values import TARGET, smoke, variables

from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.facts.fx_flag import FxFlag
from envdoctor.facts.threads import STATES, Setting, Told
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.hooks import FX_GUARD
from envdoctor.model import Unavailable
from envdoctor.policy import Policy
from envdoctor.smoke import threads, workflow
from envdoctor.smoke.run import Order
from envdoctor.smoke.threads import Wanted, wanted
from envdoctor.snapshot import Snapshot

BUILD = TorchBuild("/env/torch/version.py", "2.11.0+cu130", "13.0")
FLAG = FxFlag("/env/torch/fx/_symbolic_trace.py", "global", 41)
ORDER = Order("/env/bin/python", ("cuda:0",), "threads", {"PYTHONPATH": "/mine"}, "/", "/scratch", 20.0)


class TestWanted:
    def test_nothing_said_is_the_usual(self):
        assert wanted(None, None, None, None) == Wanted((1, 3), STATES, 3, "none")

    def test_what_is_said_is_taken_in_order_and_once(self):
        assert wanted("3, 1,3", "warm,cold", 5, "guard") == Wanted((3, 1), ("cold", "warm"), 5, "guard")

    @pytest.mark.parametrize("written", ["", "0", "17", "1,", "1-3", "-1", "x\x1b[2J", "9" * 5000, "²"])
    def test_no_number_of_threads(self, written):
        with pytest.raises(UsageError, match=r"^--per-device: .* is no number of threads from 1 to 16$"):
            wanted(written, None, None, None)

    @pytest.mark.parametrize("written", ["", "hot", "cold;warm", "Cold"])
    def test_no_state(self, written):
        with pytest.raises(UsageError, match=r"^--states: .* is no state of a cache; there are cold, partly, warm$"):
            wanted(None, written, None, None)


class TestPointless:
    @pytest.mark.parametrize(
        ("setting", "devices", "why"),
        [
            (Setting(1, "cold"), ("cuda:0",), "a single thread on a single device has nobody to race with"),
            (Setting(3, "partly"), ("cuda:0",), "of a single device, partly warm is warm"),
            (Setting(3, "cold"), ("cuda:0",), ""),
            (Setting(1, "cold"), ("cuda:0", "cuda:3"), ""),
            (Setting(1, "partly"), ("cuda:0", "cuda:3"), ""),
            (Setting(1, "partly"), ("cpu",), ""),
        ],
    )
    def test_what_cannot_show_anything(self, setting, devices, why):
        assert threads._pointless(setting, devices) == why


class TestGuard:
    def environment(self, remedy, build=BUILD, flag=FLAG):
        return threads._environment(ORDER, Wanted(remedy=remedy), Snapshot(torch_build=build, fx_flag=flag))

    def test_it_is_on_the_path_where_it_is_tried_alone(self):
        assert self.environment("guard")["PYTHONPATH"] == f"{FX_GUARD}:/mine"
        assert self.environment("none") is ORDER.env

    def test_one_for_a_torch_it_was_not_made_for_is_refused(self):
        with pytest.raises(UsageError, match=r"not tested with torch 2\.9\.1"):
            self.environment("guard", build=TorchBuild("/v", "2.9.1"))

    @pytest.mark.parametrize("given", [{"build": Unavailable("no torch")}, {"flag": Unavailable("no source")}])
    def test_one_for_a_torch_that_cannot_be_read_is_said(self, given):
        with pytest.raises(
            EnvDoctorError, match=r"^--remedy guard: whose torch's FX-tracing flag is cannot be told: no"
        ):
            self.environment("guard", **given)


class TestHeard:
    def heard(self, one, remedy="none"):
        found = threads._heard(one, race(one, remedy=remedy))
        return found.device, found.step, found.state, found.detail["said"]

    def test_a_try_that_was_well(self):
        said = "clean, threads started in turn, 3 meetings in 4 traces"
        assert self.heard(tried(start="in turn")) == (SETTING.name, "threads 1/1", "passed", said)

    def test_one_in_which_threads_died(self):
        died = (*TOLD.threads, threads_died())
        assert self.heard(tried(Told(died, 84, 4, 1, flag_shared=True, flag_left=False)))[2:] == (
            "failed",
            "the FX error, threads started together, 1 of 3 threads died, 1 meetings in 4 traces",
        )

    def test_one_that_did_not_end(self):
        assert self.heard(tried(failure=ended()))[2:] == ("failed", "no end in time, threads started together")

    def test_one_that_shows_nothing(self):
        quiet = Told(TOLD.threads, 84, 0, 0, flag_shared=True, flag_left=False)
        assert self.heard(tried(quiet))[2] == "skipped"
        held = tried(Told(TOLD.threads, 84, 4, 0, flag_shared=True, flag_left=False), start="held")
        said = "clean, threads held until all had made their first passes, 0 meetings in 4 traces"
        assert self.heard(held, "barrier")[2:] == ("passed", said)


def threads_died():
    return type(TOLD.threads[0])("cuda:0", 7, "RuntimeError", FX)


class TestReport:
    def report(self, *tries, **fields):
        found = race(*tries, **fields)
        attempts = [threads._attempt(one) for one in threads.verdicts(found)]
        tried_out = smoke(*attempts, level="threads", devices=("cuda:0", "cuda:1"))
        taken = Snapshot(variables=variables())
        return workflow._report(TARGET, Policy(), taken, tried_out, FakeHost(), 0.0, race=found)

    def test_only_what_was_asked_for_is_judged(self):
        given = self.report(tried())
        assert {outcome.probe for outcome in given.outcomes} == {f"smoke/{name}" for name in
                                                                 ("threads", "hung", "torch-import")}  # fmt: skip
        assert (given.status(), [trial.state for trial in given.trials]) == (0, ["passed"])

    def test_a_deadlock_is_told_once(self):
        given = self.report(tried(failure=ended()))
        assert [probe for probe, _ in given.findings()] == ["smoke/threads"]
        assert given.status() == 1

    def test_settings_without_any_meeting_are_status_3(self):
        quiet = Told(TOLD.threads, 84, 0, 0, flag_shared=True, flag_left=False)
        given = self.report(tried(quiet), tried(quiet, Setting(3, "cold")))
        assert (given.status(), given.verdict) == (3, "warnings")
        (reason,) = [outcome.skipped.reason for outcome in given.outcomes if outcome.skipped]
        said = "1 of 1 not exercised: nothing was traced"
        assert reason == f"1 thread a device, cold cache and 3 threads a device, cold cache: {said}"

    def test_one_setting_without_is_said_and_no_failure(self):
        quiet = Told(TOLD.threads, 84, 0, 0, flag_shared=True, flag_left=False)
        given = self.report(tried(quiet), tried(setting=Setting(3, "cold")))
        assert given.status() == 0
        assert [outcome.skipped.failed for outcome in given.outcomes if outcome.skipped] == [False]

    @pytest.mark.parametrize("kind", ["global", "masked", "thread-local", "absent"])
    def test_whose_the_flag_is_is_said(self, kind):
        assert self.report(tried(), flag=kind).seen["flag"] == threads.FLAGS[kind]

    def test_one_that_could_not_be_read_is_not(self):
        seen = self.report(tried(), flag="").seen
        assert "flag" not in seen
        assert (seen["tries"], seen["remedy"], seen["cache"]) == ("1 try each", "remedy none", "throw-away caches")
