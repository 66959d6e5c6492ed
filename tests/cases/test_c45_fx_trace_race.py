"""pytorch/pytorch#126024: threads that share a compiled model meet the FX-tracing flag of the whole process."""

import pytest
from values import findings

from envdoctor import signatures
from envdoctor.facts.job_log import JobLog
from envdoctor.probes.log.known_failure import check

DEAD = b"""\
Exception in thread Thread-2 (train):
Traceback (most recent call last):
  File "/env/lib/python3.12/site-packages/torch/_dynamo/eval_frame.py", line 1120, in compile_wrapper
    raise RuntimeError(
RuntimeError: Detected that you are using FX to symbolically trace a dynamo-optimized function. This is not supported \
at the moment.
"""
HEALTHY = DEAD.replace(b"Detected that you are using FX to symbolically trace", b"Did not trace")


@pytest.mark.parametrize(("text", "subjects"), [(DEAD, ["fx-trace-race"]), (HEALTHY, [])])
def test_the_race_is_named_from_its_log(text, subjects):
    log = JobLog("/scratch/train.log", len(text), signatures.found([text]))
    assert [finding.subject for finding in findings(check, job_log=log)] == subjects


def test_advice_does_not_stop_at_a_warm_cache():
    log = JobLog("/scratch/train.log", len(DEAD), signatures.found([DEAD]))
    (finding,) = findings(check, job_log=log)
    assert finding.evidence["line"] == 5
    assert "torch 2.14" in finding.remedy[0]
    assert any("barrier" in step for step in finding.remedy)
