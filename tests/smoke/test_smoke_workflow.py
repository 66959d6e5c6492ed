"""What a run's attempts come to: trials, outcomes, exit status; and which cache the job is given."""

import os
from dataclasses import replace

import pytest
from fakes import FakeHost
from values import TARGET, attempt, driver, ended, failure, gpu, gpu_use, smoke, variables

from envdoctor import proof
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.facts.smoke import FRESH, STEPS
from envdoctor.model import Severity, Unavailable
from envdoctor.policy import Mute, Policy
from envdoctor.smoke import workflow
from envdoctor.smoke.workflow import told
from envdoctor.snapshot import Snapshot

CARD, OTHER = gpu(0), gpu(1)
WARM = {"inductor": {"fxgraph_cache_hit": 1}, "aot_autograd": {"autograd_cache_hit": 1}}
MEASURED = {
    "device": {"name": CARD.name, "capability": [9, 0]},
    "arch": {"capability": [9, 0], "archs": ["sm_90"]},
    "matmul": {"errors": {"float32": 2e-7}},
    "compile": {"errors": {"float32": 1e-7, "bfloat16": 3e-3}},
    "recompile": {"graphs_before": 3, "graphs_after": 3},
    FRESH: {"counters": WARM, "new_files": []},
}
ON_CPU = {"device": "a CPU is no device of NVML's", "arch": "a CPU has no compute capability"}
EVIL = "x\x1b[2J https://me:secret@host/"
SHOWN = r"x\x1b[2J https://****@host/"


def passed(device="cuda:0", *, but=(), level="quick"):
    """Return the attempts of a device on which all went well, but for these."""
    others = {item.step: item for item in but}
    steps = (*STEPS[level], FRESH)
    figures = {step: {"errors": {"float32": 1e-7}} for step in proof.MEASURED}
    measured = figures | MEASURED
    return [others.get(step) or attempt(step, device=device, **measured.get(step, {})) for step in steps]


def on_cpu():
    skipped = [attempt(step, device="cpu", state="skipped", reason=reason) for step, reason in ON_CPU.items()]
    return passed("cpu", but=skipped)


def never(device="cuda:1", reason="it was not reached"):
    return [attempt(step, device=device, state="never-ran", reason=reason) for step in (*STEPS["quick"], FRESH)]


def reported(*attempts, policy=None, missing=None, cards=(CARD, OTHER), **fields):
    tried = smoke(*attempts, **fields)
    taken = Snapshot(driver=driver(*cards), gpu_use=gpu_use(), variables=variables())
    return workflow._report(TARGET, policy or Policy(), taken, tried, FakeHost(), 0.0, missing)


def reasons(report):
    return {outcome.probe: outcome.skipped.reason for outcome in report.outcomes if outcome.skipped}


def trials(report):
    return {(trial.step, trial.device): (trial.state, trial.said) for trial in report.trials}


class TestStatus:
    def test_all_passed_is_0(self):
        given = reported(*passed(), *passed("cuda:1"))
        assert (given.status(), given.verdict, reasons(given)) == (0, "healthy", {})
        assert {trial.state for trial in given.trials} == {"passed"}

    def test_a_cpu_whose_steps_do_not_apply_is_0(self):
        given = reported(*on_cpu())
        assert (given.status(), given.verdict) == (0, "healthy")
        assert reasons(given) == {f"smoke/{step}": f"cpu: {reason}" for step, reason in ON_CPU.items()}

    def test_a_device_that_never_ran_is_3_though_another_passed(self):
        given = reported(*passed(), *never())
        assert (given.status(), given.verdict) == (3, "warnings")
        assert reasons(given)["smoke/compile"] == "cuda:1: not tried, as it was not reached"

    @pytest.mark.parametrize("bad", [failure(), ended(), ended("hung")], ids=["an exception", "a crash", "a hang"])
    def test_a_step_that_failed_is_1(self, bad):
        given = reported(*passed(but=[attempt("compile", bad)]), *never(reason="compile failed"))
        assert given.status() == 1
        assert trials(given)["smoke/compile", "cuda:0"][0] == "failed"
        assert reasons(given)["smoke/compile"] == "cuda:1: not tried, as compile failed", (
            "beside the finding of the other device"
        )

    def test_a_figure_that_is_off_is_1_and_its_trial_failed(self):
        given = reported(*passed(but=[attempt("matmul", errors={"float32": 0.5})]))
        assert given.status() == 1
        state, said = trials(given)["smoke/matmul", "cuda:0"]
        assert (state, said[:35]) == ("failed", "cuda:0: matmul in float32 is wrong:")

    def test_an_import_that_failed_is_1_of_torch(self):
        lost = attempt("torch-import", failure("ImportError: no"), "torch")
        given = reported(lost, *never(reason="torch could not be imported"), devices=("cuda:1",))
        assert given.status() == 1
        assert trials(given)["smoke/torch-import", "torch"] == ("failed", "torch-import failed: ImportError: no")
        assert reasons(given)["smoke/compile"] == "cuda:1: not tried, as torch could not be imported"

    def test_a_run_without_devices_is_3_and_says_why_everywhere(self):
        given = reported(missing=Unavailable("no GPU is visible", failed=True))
        assert (given.status(), given.trials) == (3, ())
        assert set(reasons(given).values()) == {"not smoked: no GPU is visible"}
        assert len(reasons(given)) == len(given.outcomes)

    def test_what_a_probe_cannot_make_sense_of_is_3(self):
        given = reported(*passed(but=[attempt("recompile")]))
        assert given.status() == 3
        assert [outcome.probe for outcome in given.outcomes if outcome.crashed] == ["smoke/recompile"]

    def test_the_policy_has_its_say(self):
        attempts = passed(but=[attempt("compile", failure())])
        assert reported(*attempts, policy=Policy(severity={"smoke/compile": Severity.WARNING})).status() == 0
        muted = reported(*attempts, policy=Policy(mutes=(Mute("smoke/compile", "known"),)))
        assert (muted.status(), trials(muted)["smoke/compile", "cuda:0"][0]) == (0, "failed")


class TestDevice:
    @pytest.mark.parametrize(
        ("cards", "said"),
        [
            ((gpu(0, name="NVIDIA T4"), OTHER), "cuda:0: which GPU of NVML's it is cannot be told from outside"),
            ((), "cuda:0: which GPU of NVML's it is cannot be told from outside"),
        ],
    )
    def test_one_that_nvml_cannot_confirm_is_said_and_no_failure(self, cards, said):
        given = reported(*passed(), cards=cards)
        assert (given.status(), reasons(given)) == (0, {"smoke/device": said})

    @pytest.mark.parametrize(("failed", "status"), [(True, 3), (False, 0)])
    def test_where_nvml_is_silent_that_is_why(self, failed, status):
        taken = Snapshot(driver=Unavailable("NVML is silent", failed=failed), variables=variables())
        given = workflow._report(TARGET, Policy(), taken, smoke(*passed()), FakeHost(), 0.0)
        assert reasons(given)["smoke/device"] == "cuda:0: NVML cannot be asked: NVML is silent"
        assert given.status() == status


class TestLevel:
    @pytest.mark.parametrize("level", ["quick", "full"])
    def test_only_steps_that_were_asked_for_are_judged(self, level):
        judged = {outcome.probe for outcome in reported(*passed(level=level), level=level).outcomes}
        assert judged == {f"smoke/{step}" for step in (*STEPS[level], FRESH, "hung", "torch-import")}


class TestTold:
    @pytest.mark.parametrize(
        ("given", "said"),
        [
            (attempt("compile", failure("ValueError: one\ntwo")), "ValueError: one"),
            (attempt("compile", failure("KeyError")), "KeyError"),
            (attempt("compile", ended()), "the process died by SIGSEGV"),
            (attempt("compile", ended("hung")), "hung, no end within 120 s"),
            (attempt("compile", state="skipped", reason="no GPU"), "no GPU"),
            (
                attempt("compile", errors={"float32": 1.2e-7, "bfloat16": 0}),
                "float32 off by 1e-07, bfloat16 off by 0e+00",
            ),
            (attempt("compile", errors={"float32": "wide"}), "float32 off by nan"),
            (attempt("device", name="NVIDIA H100"), "NVIDIA H100"),
            (attempt("allocate", bytes=7), ""),
        ],
    )
    def test_one_phrase(self, given, said):
        assert told(given) == said


class TestSafe:
    def test_a_reason_that_came_from_outside(self):
        assert reasons(reported(missing=Unavailable(EVIL)))["smoke/compile"] == f"not smoked: {SHOWN}"
        assert reasons(reported(*never(reason=EVIL)))["smoke/compile"] == f"cuda:1: not tried, as {SHOWN}"

    def test_what_a_trial_says(self):
        muted = reported(
            *passed(but=[attempt("compile", failure(f"E: {EVIL}"))]), policy=Policy(mutes=(Mute("*", "x"),))
        )
        assert trials(muted)["smoke/compile", "cuda:0"] == ("failed", f"E: {SHOWN}")


class TestSeen:
    def test_torch_level_devices_and_cache(self):
        assert reported(*passed(), *passed("cuda:1")).seen == {
            "torch": "2.11.0+cu130",
            "level": "quick",
            "devices": "cuda:0, cuda:1",
            "cache": "a throw-away cache",
        }

    def test_a_cache_of_the_jobs_is_named(self):
        assert reported(*passed(), own_cache=False).seen["cache"] == "cache /tmp/cache"

    def test_nothing_is_seen_of_what_was_not_tried(self):
        assert reported(build={}).seen == {"level": "quick"}


class TestCache:
    HOST = FakeHost(env={"HOME": "/h", "TRITON_CACHE_DIR": "/t", "TORCHINDUCTOR_CACHE_DIR": "/i"}, cwd="/work")

    def test_the_jobs_own_is_left_as_it_is(self):
        assert workflow._job("job", "/scratch", self.HOST) == {**self.HOST.env, "PYTHONDONTWRITEBYTECODE": "1"}

    def test_a_directory_holds_triton_s_too(self, tmp_path):
        env = workflow._job("new/./cache", "/scratch", replace(self.HOST, cwd=str(tmp_path)))
        assert env["TORCHINDUCTOR_CACHE_DIR"] == str(tmp_path / "new" / "cache")
        assert "TRITON_CACHE_DIR" not in env, "triton's is below inductor's then"

    def test_by_default_it_is_thrown_away_with_all_that_is_temporary(self):
        env = workflow._job(None, "/scratch", self.HOST)
        caches = (env["TORCHINDUCTOR_CACHE_DIR"], env["TRITON_CACHE_DIR"])
        assert caches == ("/scratch/cache", "/scratch/cache/triton")

    def test_a_file_is_no_directory(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(UsageError, match=r"^--cache: .*/file is not a directory$"):
            workflow._job(str(tmp_path / "file"), "/scratch", self.HOST)


class TestScratch:
    def test_it_is_where_the_job_keeps_temporary_files_and_goes_with_the_run(self, tmp_path):
        with workflow._scratch(FakeHost(env={"TMPDIR": str(tmp_path)})) as folder:
            assert os.listdir(tmp_path) == [os.path.basename(folder)]
            (tmp_path / folder / "left").mkdir()
        assert os.listdir(tmp_path) == []

    def test_without_a_place_for_it_that_is_said(self):
        host = FakeHost(env={"TMPDIR": "/nowhere"})
        said = r"^/nowhere: no directory can be made here \(No such file .*; let TMPDIR name another"
        with pytest.raises(EnvDoctorError, match=said):
            workflow._scratch(host).__enter__()
