"""Pins outside what other pins require."""

import pytest
from locked import audited, metadata, target, told

from envdoctor.model import Severity
from envdoctor.probes.lock.broken_requirement import check

TORCH = metadata(torch=("2.11.0", "nvidia-cudnn-cu13==9.19.0.56", "triton==3.6.0 ; platform_system == 'Linux'"))
LOCK = "torch==2.11.0\nnvidia-cudnn-cu13==9.20.0.48\ntriton==3.6.0\n"
MEMBER = """
version = 1
[manifest]
overrides = [{{ name = "{}" }}]
[[package]]
name = "demo"
version = "1.0"
source = {{ editable = "." }}
dependencies = [{{ name = "numpy" }}]
[package.metadata]
requires-dist = [{{ name = "numpy", specifier = ">=3"{} }}]
[[package]]
name = "numpy"
version = "2.4.6"
source = {{ registry = "https://index.example/simple" }}
"""


def judge(text, known=TORCH, **given):
    return audited(check, text, lock_targets=target(), lock_metadata=known, **given)


def test_a_pin_that_another_does_not_admit():
    (finding,) = found = judge(LOCK)
    assert (finding.severity, told(found)) == (Severity.ERROR, [("torch", 1)])
    assert finding.message == (
        "torch 2.11.0 requires nvidia-cudnn-cu13==9.19.0.56, and the lock has nvidia-cudnn-cu13 9.20.0.48 (line 2)"
    )
    assert finding.evidence["requirements"] == {"nvidia-cudnn-cu13": "nvidia-cudnn-cu13==9.19.0.56"}


def test_a_uv_lock_tells_it_of_its_members_without_metadata():
    (finding,) = audited(check, MEMBER.format("six", ""), "/project/uv.lock")
    assert finding.message == "demo 1.0 requires numpy>=3, and the lock has numpy 2.4.6 (line 12)"


@pytest.mark.parametrize(
    ("override", "marker"),
    [("numpy", ""), ("six", ", marker = \"sys_platform == 'darwin'\"")],
    ids=["lifted", "marker"],
)
def test_what_a_uv_lock_overrides_or_asks_for_elsewhere(override, marker):
    assert audited(check, MEMBER.format(override, marker), "/project/uv.lock") == []


@pytest.mark.parametrize(
    "text",
    [
        LOCK.replace("9.20.0.48", "9.19.0.56"),
        "torch==2.11.0\n",
        "torch==2.10.0\nnvidia-cudnn-cu13==9.20.0.48\n",
        "torch==2.11.0\ntriton==3.5.1\n",
        "torch==2.11.0\nnvidia-cudnn-cu13 @ git+https://x.example/y@0123456789abcdef0123456789abcdef01234567\n",
    ],
    ids=["admitted", "missing", "metadata of another release", "lock/companion-mismatch", "no version"],
)
def test_healthy_neighbours(text):
    assert judge(text) == []
