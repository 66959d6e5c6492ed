"""A hang is told by its place, with a way out."""

import pytest
from values import attempt, ended, failure, findings, smoke, variables

from envdoctor.model import Severity, Unavailable
from envdoctor.probes.smoke.hung import check

AGAIN = "envdoctor smoke --target /env --devices 0"
STACKS = """Thread 0x00007f01 (most recent call first):
  File "/usr/lib/python3.12/threading.py", line 355 in wait

Current thread 0x00007f02 (most recent call first):
  File "/usr/lib/python3.12/threading.py", line 1149 in join
  File "/env/torch/_inductor/async_compile.py", line 412 in wait_pool_ready
  File "/job/main.py", line 60 in _device
"""


def judge(step="compile", limit=120.0, device="cuda:0", given=None, **fields):
    tried = smoke(attempt(step, ended("hung", **fields), device), limit=limit)
    return findings(check, smoke=tried, variables=variables() if given is None else given)


def test_a_hang_is_an_error_that_names_its_place():
    (found,) = judge(stacks=STACKS, printed="one\ntwo")
    assert (found.severity, found.subject) == (Severity.ERROR, "cuda:0")
    place = "/env/torch/_inductor/async_compile.py:412 in wait_pool_ready"
    assert found.message == f"cuda:0: compile hung: no end within 120 s, at {place}"
    assert found.evidence["stacks"] == STACKS.splitlines()
    assert found.evidence["printed"] == ["one", "two"]


def test_one_that_tells_no_stacks_is_said_so():
    assert judge()[0].message == "cuda:0: compile hung: no end within 120 s, and it told no stacks"


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ((41,), "; a process cannot be killed: it waits in the kernel"),
        ((41, 42), "; 2 processes cannot be killed: they wait in the kernel"),
    ],
)
def test_processes_that_would_not_die_are_said(left, said):
    (found,) = judge(left=left)
    assert found.message.endswith(said)
    assert found.evidence["left"] == list(left)


def test_a_hang_in_the_import_is_torchs():
    (found,) = judge("torch-import", device="torch", stacks=STACKS)
    assert (found.subject, found.evidence["step"]) == ("torch", "torch-import")


def test_workers_that_are_forked_are_the_first_suspects():
    (found,) = judge(given=variables(TORCHINDUCTOR_WORKER_START="fork"))
    assert found.remedy[0] == "unset TORCHINDUCTOR_WORKER_START"


@pytest.mark.parametrize(
    "given", [variables(), variables(TORCHINDUCTOR_WORKER_START="subprocess"), Unavailable("no answer in 30 s")]
)
def test_the_last_advice_is_more_time(given):
    (found,) = judge(limit=90.0, given=given)
    assert found.remedy == ("export TORCHINDUCTOR_COMPILE_THREADS=1", f"{AGAIN} --timeout 450")


def test_long_stacks_and_output_are_cut_at_opposite_ends():
    lines = [str(number) for number in range(500)]
    (found,) = judge(stacks="\n".join(lines), printed="\n".join(lines))
    assert (found.evidence["stacks"], found.evidence["printed"]) == (lines[:100], lines[-100:])


def test_what_raised_died_or_passed_did_not_hang():
    others = (attempt("device"), attempt("compile", failure()), attempt("half", ended()))
    assert findings(check, smoke=smoke(*others)) == []
