"""The node as Slurm is told of it: faults of its own drain it, nothing that a user can bring about does."""

import os
import shlex
import subprocess
import sys

import pytest
from values import NOW, driver, finding, gpu, outcome

from envdoctor import judge, knowledge, registry
from envdoctor.cli import health
from envdoctor.errors import EnvDoctorError
from envdoctor.facts.driver_files import DeviceNode, KernelModule, Library
from envdoctor.facts.variables import Variables
from envdoctor.health import node
from envdoctor.model import Severity, Unavailable
from envdoctor.policy import Policy
from envdoctor.reports import slurm
from envdoctor.snapshot import Snapshot

AREAS = ("node/", "cuda/driver-", "cuda/fabric-manager-", "cuda/gpu-", "cuda/compat-")
"""What may be the machine's fault."""
HOST = os.uname().nodename.partition(".")[0]
NODES = tuple(DeviceNode(f"/dev/nvidia{n}", usable=True) for n in range(2))


def judged(seen):
    """Judge a node with this driver, by the real probes."""
    facts = Snapshot(driver=seen, torch_build=node.ANY_TORCH, variables=Variables())
    probes = registry.select(tuple(node.draining()))
    return node.judged(judge.judge(probes, facts, Policy(), node.NOWHERE, NOW))


def test_every_probe_of_the_machine_is_decided_on():
    known = {row["probe"] for row in knowledge.rows("node_faults")}
    assert {probe for probe in registry.ids() if probe.startswith(AREAS)} == known
    assert all(len(row["why"]) > 10 for row in knowledge.rows("node_faults"))


@pytest.mark.parametrize(
    ("seen", "probe"),
    [
        (driver(gpu(0), gpu(1, problem="GPU is lost"), device_nodes=NODES), "node/gpu-errors"),
        (driver(gpu(0, repair_failed=True)), "node/gpu-errors"),
        (driver(device_nodes=NODES), "cuda/gpu-missing"),
        (driver(gpu(0), nvswitch=True, fabric_manager="570.1"), "cuda/fabric-manager-mismatch"),
        (
            driver(
                gpu(0),
                kernel_module=KernelModule("570.1", False),
                libcuda=(Library("/usr/lib/libcuda.so.1", "580.95.05", "ld.so.cache"),),
            ),
            "cuda/driver-library-mismatch",
        ),
    ],
)
def test_a_fault_of_the_nodes_drains_it(seen, probe):
    found = judged(seen)
    assert probe in {name for name, _ in found.faults}
    assert slurm.reason(found.faults).startswith("envdoctor: ")


@pytest.mark.parametrize(
    "seen",
    [
        driver(gpu(0), device_nodes=NODES[:1]),
        driver(gpu(0, ecc_uncorrected=3)),
        Unavailable("no NVIDIA driver on this node"),
        driver(),
    ],
    ids=["healthy", "only a warning", "a login node", "no GPU"],
)
def test_what_does_not_keep_every_job_from_running_drains_nothing(seen):
    assert judged(seen) == node.Judged()


def test_what_is_not_known_drains_nothing_and_is_said():
    found = judged(Unavailable("no answer within 3 s", failed=True))
    assert found == node.Judged((), ("no answer within 3 s",))


@pytest.mark.parametrize("probe", ["cuda/driver-too-old", "node/low-disk", "node/busy-gpu", "packages/foreign"])
def test_errors_of_users_drain_nothing(probe):
    assert node.judged((outcome(probe, finding()),)).faults == ()


def test_a_variable_of_a_job_is_not_the_node():
    lost, hidden = finding("gpu"), finding("CUDA_VISIBLE_DEVICES")
    found = node.judged((outcome("cuda/gpu-missing", lost, hidden, finding("gpu", Severity.WARNING)),))
    assert found.faults == (("cuda/gpu-missing", lost),)


def test_the_reason_is_plain_and_the_command_can_be_run_as_it_stands():
    evil = finding(message='GPU 3: it\'s "lost"; $(reboot) `x`\n& more')
    reason = slurm.reason((("node/gpu-errors", evil),))
    assert reason == "envdoctor: GPU 3: it_s _lost_; _(reboot) _x_ more (node/gpu-errors)"
    first, second = slurm.render(reason, "node7").splitlines()
    assert first == reason
    assert shlex.split(second) == ["scontrol", "update", "NodeName=node7", "State=DRAIN", f"Reason={reason}"]


def test_a_reason_is_short():
    many = tuple(("node/gpu-errors", finding(message=f"GPU {n} is lost")) for n in range(64))
    assert len(slurm.reason(many)) == slurm.LONGEST


def test_a_node_in_order_has_no_reason():
    assert slurm.render(slurm.reason(()), "node7") == ""


@pytest.mark.parametrize(
    ("told", "name"), [("gpu-07", "gpu-07"), ("a b; reboot", HOST), ("", HOST)], ids=["slurm", "evil", "host"]
)
def test_the_name_is_slurms_own_if_it_tells(monkeypatch, told, name):
    monkeypatch.setenv("SLURMD_NODENAME", told)
    assert node.name() == name


def stay(status, *, began):
    """Stands for `leave_in_time`, which would end the tests."""


def nothing(most):
    """A round in which nothing goes wrong."""


@pytest.mark.parametrize("error", [EnvDoctorError("no state"), ZeroDivisionError("oh")], ids=["known", "unforeseen"])
@pytest.mark.parametrize(("faults", "status"), [((("node/gpu-errors", finding(message="GPU 3 is lost")),), 1), ((), 0)])
def test_what_becomes_of_the_round_changes_nothing(monkeypatch, capsys, faults, status, error):
    said = "envdoctor: GPU 3 is lost (node/gpu-errors)" if faults else ""

    def made(most):
        assert most <= node.LIMIT
        assert capsys.readouterr().out.partition("\n")[0] == said  # before anything of the round can fail
        raise error

    monkeypatch.setattr(node, "look", lambda: node.Judged(faults, ("NVML gave no answer",)))
    monkeypatch.setattr(node, "leave_in_time", stay)
    assert health._slurm(made) == status
    assert str(error) in capsys.readouterr().err


def test_a_node_that_cannot_be_looked_at_is_not_drained(monkeypatch, capsys):
    monkeypatch.setattr(node, "look", lambda: 1 / 0)
    monkeypatch.setattr(node, "leave_in_time", stay)
    assert health._slurm(nothing) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "ZeroDivisionError" in said.err


def test_a_run_that_hangs_ends_in_time_with_the_nodes_status():
    code = "import time; from envdoctor.health import node; node.leave_in_time(1, began=time.monotonic() - 99)"
    done = subprocess.run([sys.executable, "-c", f"{code}; time.sleep(60)"], timeout=50, check=False)
    assert done.returncode == 1
