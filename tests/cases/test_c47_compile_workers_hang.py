"""C47: compile workers that were forked from a process with threads hang; the smoke run ends them and says where.

Source: pytorch/pytorch#121197 and #108586.
"""

import os
import time
from pathlib import Path

import pytest
from doctor import Doctor
from patients import Patient, Wheel, findings

CHILD = "import time; time.sleep(300)"
HANG = f"""import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", {CHILD!r}, __file__])
time.sleep(300)
"""


@pytest.fixture
def smoke(tmp_path):
    """Run `smoke` on a target with a torch 2.2.0 of this code, its workers forked."""

    def run(code, **variables):
        patient = Patient(tmp_path / "project")
        patient.install(Wheel("torch", "2.2.0", {"torch/__init__.py": code}))
        options = ("--target", patient.prefix, "--devices", "cpu", "--timeout", "1", "--format", "json")
        return Doctor(tmp_path)("smoke", *options, env=variables)

    return run


def mentions(tmp_path):
    lines = (path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists())
    return [line for line in lines if os.fsencode(tmp_path) in line]


def test_the_hang_is_ended_with_its_child_and_says_where(smoke, tmp_path):
    began = time.monotonic()
    answer = smoke(HANG, TORCHINDUCTOR_WORKER_START="fork")
    assert time.monotonic() - began < 1 + 3 + 1.5, "the doctor's own start included"
    (finding,) = answer.findings()
    assert (answer.status, finding["probe"], finding["severity"]) == (1, "smoke/hung", "error")
    assert "torch/__init__.py:3 in <module>" in finding["message"]
    assert finding["remedy"][0] == "unset TORCHINDUCTOR_WORKER_START"
    assert any("most recent call first" in line for line in finding["evidence"]["stacks"])
    assert mentions(tmp_path) == []


def test_without_the_variable_it_is_not_blamed(smoke):
    (finding,) = smoke(HANG).findings("smoke/hung")
    assert not [step for step in finding["remedy"] if "WORKER_START" in step]


def test_one_that_ends_did_not_hang(smoke):
    assert smoke("raise ImportError('x')", TORCHINDUCTOR_WORKER_START="fork").findings("smoke/hung") == []


@pytest.mark.parametrize(
    ("variables", "severities"),
    [
        ({"TORCHINDUCTOR_WORKER_START": "fork"}, ["warning"]),
        ({"TORCHINDUCTOR_WORKER_START": "fork", "TORCHINDUCTOR_COMPILE_THREADS": "1"}, []),
        ({}, []),
    ],
    ids=["forked", "no workers", "the default"],
)
def test_a_check_warns_of_the_variable_beforehand(variables, severities, tmp_path):
    patient = Patient(tmp_path / "project")
    version = "__version__ = '2.2.0'\n"
    patient.install(Wheel("torch", "2.2.0", {"torch/__init__.py": "", "torch/version.py": version}))
    found = findings(patient.check("compile/forked-workers", env=variables), "compile/forked-workers")
    assert [finding.severity.label for finding in found] == severities
