"""Another major is an error only where something compiles, another minor a note; runtime wheels play no part."""

import pytest
from values import (
    DirectUrl,
    distribution,
    distributions,
    editable,
    findings,
    interpreter,
    toolkit,
    toolkits,
    torch_build,
)

from envdoctor.facts.toolkits import Built, Named
from envdoctor.model import Severity
from envdoctor.probes.cuda.toolkit_mismatch import check

OTHER_MAJOR = toolkit("/opt/cuda-12.9", "12.9.41", "12.9")
SDIST = DirectUrl("https://example.org/flash_attn-2.8.1.tar.gz#sha256=0")


def judge(*installed, found=None, torch=("2.11.0+cu130", "13.0"), **facts):
    found = toolkits(OTHER_MAJOR, CUDA_HOME=0) if found is None else found
    return findings(
        check, toolkits=found, torch_build=torch_build(*torch), distributions=distributions(*installed), **facts
    )


@pytest.mark.parametrize(
    ("builder", "severity"),
    [
        (distribution("deepspeed"), Severity.ERROR),
        (distribution("flash-attn", direct_url=SDIST), Severity.ERROR),
        (distribution("flash-attn", direct_url=DirectUrl("https://example.org/x", vcs="git")), Severity.ERROR),
        (distribution("flash-attn", direct_url=editable()), Severity.ERROR),
        (distribution("flash-attn"), Severity.WARNING),
        (distribution("flash-attn", direct_url=DirectUrl("file:///w/flash_attn-2.8.1-cp312.whl")), Severity.WARNING),
        (distribution("nvidia-cuda-nvcc-cu12"), Severity.WARNING),
        (distribution("ninja"), Severity.WARNING),
    ],
)
def test_another_major_is_an_error_only_where_something_here_compiles(builder, severity):
    (found,) = judge(builder)
    assert (found.severity, found.subject) == (severity, "/opt/cuda-12.9/bin/nvcc")
    assert "CUDA 12.9" in found.message
    assert "CUDA 13.0" in found.message


@pytest.mark.parametrize(
    ("built", "severity"),
    [
        (Built("fused", "py312_cu130"), Severity.ERROR),
        (Built("fused", ""), Severity.ERROR),
        (Built("fused", "py312_cu128"), Severity.WARNING),
        (Built("fused", "py311_cu130"), Severity.WARNING),
    ],
)
def test_extensions_that_torch_compiled_count_for_this_interpreter_and_cuda(built, severity):
    (found,) = judge("ninja", found=toolkits(OTHER_MAJOR, built=[built], CUDA_HOME=0))
    assert found.severity == severity
    (found,) = judge("six", found=toolkits(OTHER_MAJOR, built=[built], CUDA_HOME=0))
    assert found.severity == Severity.WARNING, "without ninja nothing can be compiled"


def test_free_threaded_extensions_have_a_folder_of_their_own():
    found = toolkits(OTHER_MAJOR, built=[Built("fused", "py313t_cu130")], CUDA_HOME=0)
    (finding,) = judge("ninja", found=found, interpreter=interpreter(version="3.13.1", free_threaded=True))
    assert finding.severity == Severity.ERROR


def test_another_minor_is_a_note_and_the_same_release_silent():
    (found,) = judge("deepspeed", torch=("2.11.0+cu132", "13.2"), found=toolkits(toolkit(), PATH=0))
    assert (found.severity, found.remedy) == (Severity.NOTE, ())
    assert judge("deepspeed", found=toolkits(toolkit(nvcc="13.0.48"), PATH=0)) == []


@pytest.mark.parametrize("torch", [("2.11.0+cpu", None), ("2.11.0+cu129", "12.9")])
def test_cpu_builds_and_fitting_toolkits_are_silent(torch):
    assert judge("deepspeed", torch=torch) == []


def test_the_toolkit_that_a_build_would_take_is_the_one_that_counts():
    both = toolkit(), OTHER_MAJOR
    assert judge("deepspeed", found=toolkits(*both, CUDA_HOME=0, PATH=1)) == []
    (found,) = judge("deepspeed", found=toolkits(*both, CUDA_HOME=1, PATH=0))
    assert found.remedy[:2] == (
        "export CUDA_HOME=/usr/local/cuda-13.0",
        'export PATH=/usr/local/cuda-13.0/bin:"$PATH"',
    )


def test_without_a_fitting_toolkit_both_ways_out_are_named():
    (found,) = judge("deepspeed")
    assert found.remedy == (
        "install the CUDA 13.0 toolkit, and let CUDA_HOME and PATH name it",
        "or install a torch that is built for CUDA 12",
    )


@pytest.mark.parametrize(
    "found",
    [toolkits(), toolkits(toolkit(nvcc=None), CUDA_HOME=0)],
    ids=["none", "headers alone"],
)
def test_no_nvcc_is_a_note_where_something_may_compile_and_silent_elsewhere(found):
    (finding,) = judge("deepspeed", found=found)
    assert (finding.severity, finding.subject) == (Severity.NOTE, "deepspeed")
    assert judge("six", found=found) == []


def test_a_home_that_does_not_exist_is_left_to_home_conflict():
    assert judge("deepspeed", found=toolkits(CUDA_HOME=Named("CUDA_HOME", "/gone", "/gone", exists=False))) == []


def test_an_nvcc_whose_version_is_unknown_is_said_and_not_guessed():
    silent = toolkit("/opt/cuda", None, "12.9")
    named = Named("CUDA_HOME", "/opt/cuda", "/opt/cuda", nvcc="/opt/cuda/bin/nvcc")
    (found,) = judge("deepspeed", found=toolkits(silent, CUDA_HOME=named))
    assert found.severity == Severity.NOTE
    assert "unknown" in found.message
