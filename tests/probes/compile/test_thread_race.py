"""Whose the FX-tracing flag is, and whether the job has threads that meet it."""

import pytest
from values import findings, fx_flag, gpu, torch_build, variables

from envdoctor import signatures
from envdoctor.facts.job_log import JobLog
from envdoctor.hooks import FX_GUARD
from envdoctor.model import Severity, Unavailable
from envdoctor.policy import Policy
from envdoctor.probes.compile.thread_race import check
from envdoctor.views.devices import Device, Devices

FLAG = (
    "torch 2.11.0+cu130 has one FX-tracing flag for all threads: while one traces, compiled calls of the others raise"
)


def judge(kind="global", version="2.11.0+cu130", *, threads=False, gpus=None, path="", log=()):
    devices = Unavailable("no driver") if gpus is None else Devices(tuple(Device(n, gpu(n)) for n in range(gpus)))
    given = {"fx_flag": fx_flag(kind), "torch_build": torch_build(version), "policy": Policy(threads=threads)}
    given |= {"variables": variables(PYTHONPATH=path), "job_log": JobLog("train.log", 1, log)}
    return findings(check, devices=devices, **given)


@pytest.mark.parametrize(
    ("gpus", "users"),
    [
        (3, "the job's threads drive 3 GPUs"),
        (1, "the job's threads may share its one GPU"),
        (0, "the job uses threads"),
        (None, "the job uses threads"),
    ],
)
def test_a_shared_flag_is_a_warning_where_the_job_uses_threads(gpus, users):
    (finding,) = judge(threads=True, gpus=gpus)
    assert (finding.severity, finding.subject, finding.message) == (Severity.WARNING, "torch", f"{FLAG}; {users}")
    assert finding.evidence["flag"] == "global"
    assert (finding.evidence["line"], finding.evidence["visible"]) == (41, gpus)
    first, *_, last = finding.remedy
    assert first == "envdoctor run --guard fx-race -- CMD"
    assert last == "try it out: `envdoctor smoke --level threads`, without a GPU with --devices cpu"


def test_a_log_that_shows_it_gets_the_same_steps_without_a_configuration():
    match = signatures.first("Detected that you are using FX to symbolically trace a dynamo-optimized function")
    for version in ("2.11.0", "2.10.0"):
        (told,), (warned,) = judge(version=version, log=(match,)), judge(version=version, threads=True)
        assert told.remedy == warned.remedy


@pytest.mark.parametrize(("version", "count"), [("2.11.0", 0), ("2.10.0", 1)])
def test_a_guarded_job_does_not_have_it_if_the_guard_knows_its_torch(version, count):
    assert len(judge(version=version, threads=True, path=f"/mine:{FX_GUARD}")) == count


def test_the_guard_is_advised_only_where_it_was_tested():
    (finding,) = judge(version="2.10.0", threads=True)
    assert finding.remedy[0].startswith("move to torch 2.14 or newer")
    assert not [step for step in finding.remedy if "--guard" in step]


def test_elsewhere_it_is_a_note_though_there_are_many_gpus():
    (finding,) = judge(gpus=8)
    assert (finding.severity, finding.message, finding.remedy) == (Severity.NOTE, FLAG, ())


@pytest.mark.parametrize(("threads", "severity"), [(True, Severity.WARNING), (False, Severity.NOTE)])
def test_a_masked_one_breaks_whatever_traces_outside_a_compile(threads, severity):
    (finding,) = judge("masked", "2.13.0+cpu", threads=threads)
    assert finding.severity == severity
    assert "raise, unless it is torch.compile that traces" in finding.message


def test_one_of_each_thread_s_own_is_not_called_safe():
    (finding,) = judge("thread-local", "2.14.1", threads=True)
    assert (finding.severity, finding.subject) == (Severity.NOTE, "threads")
    assert "not supported" in finding.message


@pytest.mark.parametrize(("kind", "threads"), [("thread-local", False), ("absent", True), ("absent", False)])
def test_healthy_neighbours(kind, threads):
    assert judge(kind, threads=threads, gpus=8) == []
