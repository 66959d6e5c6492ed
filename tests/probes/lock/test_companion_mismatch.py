"""Releases of torch's companions that were made for another torch."""

import pytest
from locked import audited, target, told

from envdoctor.model import Severity
from envdoctor.probes.lock.companion_mismatch import check

MIXED = """
torch==2.11.0
torchvision==0.25.0
torchaudio==2.9.1
triton==3.5.1
"""
FORKS = """
torch==2.10.0 ; sys_platform == 'darwin'
torch==2.11.0 ; sys_platform != 'darwin'
torchvision==0.25.0 ; sys_platform == 'darwin'
torchvision==0.26.0 ; sys_platform != 'darwin'
"""


def test_each_companion_of_another_torch():
    found = audited(check, MIXED)
    assert {finding.severity for finding in found} == {Severity.ERROR}
    assert told(found) == [("torchvision", 2), ("torchaudio", 3), ("triton", 4)]
    assert found[0].message == ("torchvision 0.25.0 does not belong to torch 2.11.0 (line 1): 0.26.0 does")
    assert found[0].remedy == ("lock torchvision 0.26.0, or the torch that 0.25.0 belongs to",)


def test_one_that_asks_for_no_torch_beside_a_later_one():
    (finding,) = found = audited(check, "torch==2.14.1\ntorchaudio==2.11.0\n")
    assert (finding.severity, told(found)) == (Severity.WARNING, [("torchaudio", 2)])
    assert finding.message == "torchaudio 2.11.0 names no torch; it was made with 2.11, not torch 2.14.1 (line 1)"


def test_markers_decide_whether_they_meet():
    assert audited(check, FORKS) == []
    met = audited(check, FORKS.replace("0.26.0", "0.25.0"), lock_targets=target())
    assert told(met) == [("torchvision", 4)]


@pytest.mark.parametrize(
    "text",
    [
        "torch==2.11.0+cu128\ntorchvision==0.26.0+cu128\ntorchaudio==2.11.0\ntriton==3.6.0\n",
        "torch==2.14.1\ntorchaudio==2.11.1\n",
        "torch==2.11.0\ntorchaudio==2.11.0\n",
        "torch==2.11.0\ntorchvision==0.99.0\n",
        "torch==9.9.9\ntorchvision==0.25.0\ntriton==3.5.1\n",
        "torch==2.11.0+cu128\ntorchvision==0.26.0+cu126\n",
        "torch==2.11.0+cpu\ntriton==3.5.1\n",
        "torch==2.11.0\ntriton==3.5.1 ; sys_platform == 'win32'\n",
        "torchvision==0.25.0\ntriton==3.5.1\n",
    ],
    ids=[
        "together",
        "bound from below",
        "unbound, its own torch",
        "release unknown",
        "torch unknown",
        "builds",
        "CPU",
        "triton on Windows",
        "no torch",
    ],
)
def test_healthy_neighbours(text):
    assert audited(check, text) == []
