"""C45: threads that share a compiled model meet the FX-tracing flag of the whole process.

Source: pytorch/pytorch#126024; fixed by #168999 in torch 2.14.
"""

import pytest
import tracers
from doctor import Doctor
from patients import Patient, Wheel

DEAD = """\
Exception in thread Thread-2 (train):
Traceback (most recent call last):
  File "/env/lib/python3.12/site-packages/torch/_dynamo/eval_frame.py", line 1120, in compile_wrapper
    raise RuntimeError(
RuntimeError: Detected that you are using FX to symbolically trace a dynamo-optimized function. This is not supported \
at the moment.
"""
HEALTHY = "step 40: did not use FX to symbolically trace a dynamo-optimized function\n"
SIGNATURE, PROBE = "log/known-failure", "compile/thread-race"


@pytest.fixture
def checked(tmp_path):
    """Check a target with such a torch, or with none; return (probe, severity, message, remedy) of each finding."""

    def check(log=None, threads=False, torch=True, **given):
        patient = Patient(tmp_path / "project")
        if torch:
            files = tracers.files("2.11.0", **given)
            patient.install(Wheel("torch", "2.11.0", files))
        (patient.folder / "envdoctor.toml").write_text(f"threads = {str(threads).lower()}\n")
        (tmp_path / "train.log").write_text(log or "")
        options = ("--log", tmp_path / "train.log") if log else ()
        answer = Doctor(tmp_path).check(patient.prefix, "--select", PROBE, "--select", SIGNATURE, *options)
        return [(item["probe"], item["severity"], item["message"], item["remedy"]) for item in answer.findings()]

    return check


def test_the_source_alone_is_a_note(checked):
    ((probe, severity, message, _),) = checked()
    assert (probe, severity) == (PROBE, "note")
    assert message.startswith("torch 2.11.0 has one FX-tracing flag for all threads")


def test_it_is_a_warning_where_the_job_uses_threads(checked):
    ((probe, severity, message, _),) = checked(threads=True)
    assert (probe, severity) == (PROBE, "warning")
    assert message.endswith("the job uses threads")


@pytest.mark.parametrize("threads", [True, False])
def test_it_is_an_error_where_the_log_shows_it(checked, threads):
    ((probe, severity, message, remedy),) = checked(DEAD, threads)
    assert (probe, severity) == (PROBE, "error")
    assert message.endswith("; the log shows it (train.log:5)")
    assert any("torch 2.14" in step for step in remedy)


def test_a_healthy_log_changes_nothing(checked):
    assert [item[:2] for item in checked(HEALTHY)] == [(PROBE, "note")]


def test_a_log_alone_names_the_race_and_does_not_stop_at_a_warm_cache(checked):
    ((probe, severity, _, remedy),) = checked(DEAD, torch=False)
    assert (probe, severity) == (SIGNATURE, "warning")
    assert any("barrier" in step and "a warm cache or a lock alone does not help" in step for step in remedy)


def test_control_a_flag_of_each_thread_s_own_is_silent(checked):
    assert checked(tracer=tracers.OF_EACH_THREAD) == []


def test_a_log_of_an_older_torch_accuses_no_thread_local_flag(checked):
    found = checked(DEAD, threads=True, tracer=tracers.OF_EACH_THREAD)
    assert [item[:2] for item in found] == [(SIGNATURE, "warning"), (PROBE, "note")]
