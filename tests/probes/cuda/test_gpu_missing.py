"""No GPU for a CUDA torch: how bad that is depends on what the node has and what the job was given."""

import pytest
from values import driver, findings, gpu, torch_build, variables

from envdoctor.facts.driver import DeviceNode, KernelModule, Xid
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.cuda.gpu_missing import check

NODES = tuple(DeviceNode(f"/dev/nvidia{index}", usable=True) for index in range(2))
FORBIDDEN = tuple(DeviceNode(f"/dev/nvidia{index}", usable=False) for index in range(2, 8))
TWO = (gpu(0), gpu(1))
UNLOADED = Unavailable("the NVIDIA driver is not loaded")
UNKNOWN = Unavailable("NVML: Unknown Error", failed=True)


def judge(found, torch=None, **variable):
    torch = torch or torch_build()
    return findings(check, driver=found, torch_build=torch, variables=variables(**variable))


def only(found, **variable):
    (finding,) = judge(found, **variable)
    return finding


def test_a_login_node_is_a_note():
    finding = only(Unavailable("no NVIDIA driver on this node"))
    assert (finding.severity, finding.subject) == (Severity.NOTE, "gpu")
    assert only(driver(problem=UNLOADED, cuda=None)).severity == Severity.NOTE
    assert only(driver()).severity == Severity.NOTE


def test_hardware_without_a_driver_is_a_warning():
    finding = only(driver(pci=("0000:01:00.0",), problem=UNLOADED))
    assert (finding.severity, finding.evidence["pci"]) == (Severity.WARNING, ["0000:01:00.0"])
    assert "the NVIDIA driver is not loaded" in finding.message


def test_device_nodes_without_a_gpu_are_an_error():
    finding = only(driver(device_nodes=NODES, kernel_module=KernelModule("580.95.05")))
    assert finding.severity == Severity.ERROR
    assert finding.evidence["device_nodes"] == ["/dev/nvidia0", "/dev/nvidia1"]


def test_device_nodes_that_the_job_may_not_open_are_not_its_gpus():
    assert only(driver(device_nodes=FORBIDDEN)).severity == Severity.NOTE


def test_a_driver_that_does_not_answer_is_an_error():
    finding = only(driver(problem=UNKNOWN, device_nodes=NODES, xids=(Xid("0000:01:00", 79, "fell off"),)))
    assert (finding.severity, finding.message) == (Severity.ERROR, "the GPUs do not answer: NVML: Unknown Error")
    assert finding.evidence["xids"] == ["0000:01:00: 79, fell off"]


@pytest.mark.parametrize(
    "problem",
    [
        Unavailable("--root: NVML speaks of the running machine alone"),
        Unavailable("NVML gave no answer within 3 s", failed=True),
        Unavailable("NVML: driver/library version mismatch"),
    ],
    ids=["root", "hung", "judged by another probe"],
)
def test_it_leaves_to_others_what_is_theirs(problem):
    assert judge(driver(problem=problem, device_nodes=NODES, pci=("0000:01:00.0",))) == []


def test_fewer_gpus_than_usable_nodes_is_a_warning():
    finding = only(driver(gpu(0), device_nodes=NODES))
    assert (finding.severity, finding.message) == (Severity.WARNING, "1 of 2 GPUs answer")


def test_a_lost_gpu_is_named_with_its_reason():
    finding = only(driver(gpu(0), gpu(1, uuid="", problem="GPU is lost"), device_nodes=NODES))
    assert finding.message == "1 of 2 GPUs answer: GPU is lost"
    assert only(driver(gpu(0, problem="GPU is lost"))).severity == Severity.ERROR


@pytest.mark.parametrize(
    ("value", "severity", "said"),
    [
        ("7", Severity.ERROR, "'7'"),
        ("0,7,1", Severity.ERROR, "ignores 1 after it"),
        ("GPU-ffff", Severity.ERROR, "'GPU-ffff'"),
        ("0,0", Severity.ERROR, "twice"),
        ("", Severity.WARNING, "hides all 2 GPUs"),
        ("-1", Severity.WARNING, "hides all 2 GPUs"),
        ("NoDevFiles", Severity.WARNING, "hides all 2 GPUs"),
    ],
)
def test_the_variable_is_judged_by_what_it_leaves(value, severity, said):
    finding = only(driver(*TWO, device_nodes=NODES), CUDA_VISIBLE_DEVICES=value)
    assert (finding.severity, finding.subject) == (severity, "CUDA_VISIBLE_DEVICES")
    assert said in finding.message
    assert finding.evidence["value"] == value


@pytest.mark.parametrize("value", ["0", "1,0", "0,1,-1", TWO[1].uuid[:12]])
def test_a_valid_selection_is_silent(value):
    assert judge(driver(*TWO, device_nodes=NODES), CUDA_VISIBLE_DEVICES=value) == []


def test_a_job_that_may_use_some_gpus_of_a_node_is_silent():
    assert judge(driver(*TWO, device_nodes=(*NODES, *FORBIDDEN), pci=("0000:01:00.0",) * 8)) == []


@pytest.mark.parametrize(
    "found",
    [Unavailable("no NVIDIA driver on this node"), driver(device_nodes=NODES), driver(problem=UNKNOWN)],
    ids=["nothing", "no gpu", "no answer"],
)
def test_a_cpu_torch_misses_nothing(found):
    assert judge(found, torch_build("2.11.0+cpu", None)) == []


def test_where_the_variables_of_jobs_are_not_known_the_node_is_judged_alone():
    unknown = {"variables": Unavailable("job environment unknown"), "torch_build": torch_build()}
    assert findings(check, driver=driver(*TWO, device_nodes=NODES), **unknown) == []
    (finding,) = findings(check, driver=driver(TWO[0], device_nodes=NODES), **unknown)
    assert finding.severity == Severity.WARNING


def test_a_doctor_that_failed_says_nothing_here():
    assert judge(Unavailable("no answer within 10 s", failed=True)) == []
