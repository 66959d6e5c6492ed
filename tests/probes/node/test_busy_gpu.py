"""A living compute process on a visible GPU is a warning; what cannot be seen is said."""

import pytest
from values import driver, findings, gpu, gpu_use, judged, on_gpu, variables

from envdoctor.facts.gpu_use import Holder
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.node.busy_gpu import check

GB = 1 << 30
HIDDEN = "outside the host's PID namespace"


def judge(*gpus, use=None, **variable):
    return findings(check, driver=driver(*gpus), gpu_use=use or gpu_use(), variables=variables(**variable))


def busy(index=0, *processes):
    used = sum(process.used or 0 for process in processes)
    return gpu(index, used=used, processes=processes)


def test_another_process_is_a_warning_with_its_name():
    (finding,) = judge(busy(0, on_gpu(4242, 8 * GB)), use=gpu_use(Holder(4242, "alive", "ann", "python")))
    assert (finding.severity, finding.subject) == (Severity.WARNING, gpu().uuid)
    assert finding.message == ("GPU 0, which would be cuda:0, is used by pid 4242 (python of ann) with 8 GiB")
    assert finding.evidence["processes"] == [{"pid": 4242, "user": "ann", "command": "python", "bytes": 8 * GB}]
    assert finding.evidence["device"] == "cuda:0"


def test_more_than_one_is_counted():
    (finding,) = judge(busy(0, on_gpu(1), on_gpu(2), on_gpu(3)), use=gpu_use(1, 2, 3))
    assert finding.message.endswith("and 2 more")


def test_two_slices_of_one_gpu_are_one_finding():
    sliced = gpu(mig=True, mig_devices=("MIG-a", "MIG-b"), processes=(on_gpu(1),))
    assert len(judge(sliced, use=gpu_use(1), CUDA_VISIBLE_DEVICES="MIG-a,MIG-b")) == 1


def test_a_process_that_nvml_lists_and_proc_hides_is_named_by_its_number():
    (finding,) = judge(busy(0, on_gpu(7)), use=gpu_use(Holder(7, "gone"), hidden=HIDDEN))
    assert "is used by pid 7 with 8 GiB" in finding.message


def test_memory_of_processes_that_cannot_be_seen_is_said():
    (finding,) = judge(gpu(used=20 * GB), use=gpu_use(hidden=HIDDEN))
    assert finding.message == f"GPU 0: 20 GiB are in use by processes that cannot be seen: {HIDDEN}"
    assert finding.evidence["unseen"] == 20 * GB


@pytest.mark.parametrize(
    ("gpus", "use", "variable"),
    [
        ([gpu()], gpu_use(), {}),
        ([gpu(used=100 << 20)], gpu_use(hidden=HIDDEN), {}),
        ([busy(0, on_gpu(9, GB, "graphics"))], gpu_use(9), {}),
        ([busy(0, on_gpu(7)), gpu(1)], gpu_use(7), {"CUDA_VISIBLE_DEVICES": "1"}),
        ([busy(0, on_gpu(7))], gpu_use(Holder(7, "gone")), {}),
        ([gpu(used=20 * GB)], gpu_use(), {}),
    ],
    ids=["idle", "little", "a desktop", "another gpu", "dead: orphaned", "no process: orphaned"],
)
def test_healthy_neighbours(gpus, use, variable):
    assert judge(*gpus, use=use, **variable) == []


def test_it_is_skipped_where_nvml_hangs():
    hung = Unavailable("NVML gave no answer within 3 s", failed=True)
    assert judged(check, driver=driver(problem=hung), gpu_use=hung, variables=variables()).skipped == hung
