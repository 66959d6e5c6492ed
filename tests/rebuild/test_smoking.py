"""On what a new environment is tried out: what was asked, torch's build and the host's GPUs decide."""

import pytest
from fakes import NOW
from values import gpu

from envdoctor.facts.driver import Driver
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Report, Trial, Unavailable
from envdoctor.rebuild import smoking
from envdoctor.rebuild.smoking import Smoked
from envdoctor.snapshot import Snapshot

CUDA = TorchBuild("version.py", "2.11.0+cu130", "13.0")
CPU = TorchBuild("version.py", "2.13.0+cpu")
ABSENT = Unavailable("torch is not installed")


@pytest.mark.parametrize(
    ("level", "named", "build", "driver", "devices", "said"),
    [
        ("none", None, CUDA, Driver(gpus=(gpu(),)), None, "none, as asked"),
        ("full", "0,1", CUDA, Driver(), "0,1", "full on 0,1, as asked"),
        ("quick", None, CPU, Driver(gpus=(gpu(),)), "cpu", "is built without CUDA"),
        ("quick", None, CUDA, Driver(), "cpu", "there is no GPU on this host"),
        ("quick", None, CUDA, Driver(pci=("0000:17:00.0",)), "cpu", "no GPU is open to this machine or container"),
        ("quick", None, CUDA, Unavailable("no driver"), "cpu", "there is no GPU on this host (no driver)"),
        ("quick", None, CUDA, Driver(gpus=(gpu(),)), None, "the GPUs that no process uses"),
        ("quick", None, CUDA, Unavailable("no answer within 10 s", failed=True), None, "the GPUs that no process uses"),
        ("quick", None, ABSENT, Driver(), None, "none: torch is not installed"),
    ],
)
def test_devices(level, named, build, driver, devices, said):
    chosen = smoking.choose(level, named, Snapshot(torch_build=build, driver=driver))
    assert chosen.devices == devices
    assert said in chosen.said
    assert chosen.wanted == ("none" not in said)


def report(*states, failed=None):
    trials = tuple(Trial(f"smoke/{step}", "cuda:0", state, 1.0, "") for step, state in states)
    return Report(None, None, "node7", NOW, 1.0, (), failed=failed or {}, trials=trials)


def test_what_was_not_tried_is_not_passed():
    assert Smoked("none, as asked").status == 0
    assert Smoked("", report(("compile", "passed"))).status == 0
    assert Smoked("", report(failed={"smoke": "not smoked: every visible GPU is in use"})).status == 3
