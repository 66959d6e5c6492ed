"""Memory that cannot be had."""

from values import attempt, ended, failure, tried

from envdoctor.model import Severity
from envdoctor.probes.smoke.allocate import check

FULL = failure("AcceleratorError: CUDA error: out of memory")


def test_an_error_is_a_finding_of_its_device():
    (found,) = tried(check, attempt("allocate"), attempt("allocate", FULL, "cuda:1"))
    assert (found.severity, found.subject) == (Severity.ERROR, "cuda:1")
    assert found.message.startswith("cuda:1: allocate failed: ")
    assert found.evidence["error"] == "AcceleratorError: CUDA error: out of memory"


def test_a_process_that_died_is_a_finding():
    (found,) = tried(check, attempt("allocate", ended(message="the process died by SIGBUS")))
    assert found.message == "cuda:0: allocate failed: the process died by SIGBUS"


def test_memory_that_was_read_back_is_silent():
    assert tried(check, attempt("allocate", bytes=64 << 20)) == []


def test_what_other_steps_or_a_hang_came_to_is_not_its_own():
    assert tried(check, attempt("matmul", FULL), attempt("allocate", ended("hung"))) == []
