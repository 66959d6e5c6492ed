"""Toolkits are compared with the seal: the one that a build takes counts most."""

import pytest
from values import findings, seal, toolkit, toolkits

from envdoctor.model import Severity
from envdoctor.probes.cuda.toolkit_changed import check

OLD, NEW = toolkit("/usr/local/cuda-12.8", "12.8.93", "12.8"), toolkit()
SEALED = dict(toolkits(OLD, NEW, CUDA_HOME=0).record())


def judge(now, **sealed):
    return [(f.severity, f.subject) for f in findings(check, toolkits=now, seal=seal(**sealed))]


def test_nothing_changed_is_silent():
    assert judge(toolkits(OLD, NEW, CUDA_HOME=0), toolkits=SEALED) == []


def test_a_link_that_moved_to_another_release_is_a_warning():
    (found,) = findings(check, toolkits=toolkits(OLD, NEW, CUDA_HOME=1), seal=seal(toolkits=SEALED))
    assert (found.severity, found.subject) == (Severity.WARNING, NEW.prefix)
    assert found.remedy == ("export CUDA_HOME=/usr/local/cuda-12.8",)


def test_the_same_release_elsewhere_is_a_note():
    moved = toolkit("/opt/cuda", "12.8.61", "12.8")
    assert judge(toolkits(OLD, NEW, moved, CUDA_HOME=2), toolkits=SEALED) == [
        (Severity.NOTE, "/opt/cuda"),
        (Severity.NOTE, "/opt/cuda"),
    ]


@pytest.mark.parametrize(("nvcc", "severity"), [("12.9.41", Severity.WARNING), ("12.8.61", Severity.NOTE)])
def test_the_toolkit_in_use_replaced_by_another_release_is_a_warning(nvcc, severity):
    replaced = toolkit(OLD.prefix, nvcc, nvcc[:4])
    assert judge(toolkits(replaced, NEW, CUDA_HOME=0), toolkits=SEALED) == [(severity, OLD.prefix)]


def test_toolkits_that_no_build_takes_are_notes():
    assert judge(toolkits(OLD, CUDA_HOME=0), toolkits=SEALED) == [(Severity.NOTE, NEW.prefix)]
    added = toolkit("/usr/local/cuda-13.1", "13.1.80", "13.1")
    assert judge(toolkits(OLD, NEW, added, CUDA_HOME=0), toolkits=SEALED) == [(Severity.NOTE, added.prefix)]


def test_the_toolkit_in_use_that_is_gone_is_a_warning():
    assert (Severity.WARNING, OLD.prefix) in judge(toolkits(NEW), toolkits=SEALED)


def test_a_seal_without_toolkits_says_nothing():
    assert judge(toolkits(OLD, CUDA_HOME=0)) == []


def test_a_seal_that_names_no_choice_is_judged_by_the_rest():
    assert judge(toolkits(OLD, NEW, CUDA_HOME=1), toolkits={OLD.prefix: "12.8.93", NEW.prefix: "13.0.88"}) == []
