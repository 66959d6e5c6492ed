"""Triton's tools, by the errors that they leave."""

from values import attempt, failure, tried

from envdoctor.model import Severity
from envdoctor.probes.smoke.toolchain import check

NO_COMPILER = (
    "RuntimeError: Failed to find C compiler. Please specify via CC environment variable or set "
    "triton.knobs.build.impl."
)


def test_a_missing_tool_is_an_error_with_its_cure():
    (found,) = tried(check, attempt("toolchain", failure(NO_COMPILER)))
    assert (found.severity, found.subject) == (Severity.ERROR, "cuda:0")
    assert found.message == "cuda:0: toolchain failed: triton found no C compiler for its launcher"
    assert found.remedy[0].startswith("install gcc")


def test_a_kernel_and_a_launcher_are_silent():
    assert tried(check, attempt("toolchain", cubin=5000, driver=13000, triton="3.6.0")) == []


def test_without_triton_it_is_silent():
    assert tried(check, attempt("toolchain", state="skipped", reason="triton is not installed")) == []
