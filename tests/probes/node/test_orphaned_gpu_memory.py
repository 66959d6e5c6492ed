"""Memory of the dead is a warning where the dead can be told from the unseen, and skipped elsewhere."""

from values import driver, findings, gpu, gpu_use, judged, on_gpu

from envdoctor.facts.gpu_use import Holder
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.node.orphaned_gpu_memory import check

GB = 1 << 30


def judge(*gpus, holders=()):
    return findings(check, driver=driver(*gpus), gpu_use=gpu_use(*holders))


def test_memory_without_any_process_is_a_warning():
    (finding,) = judge(gpu(used=12 * GB))
    assert (finding.severity, finding.subject) == (Severity.WARNING, gpu().uuid)
    assert finding.message == "GPU 0: 12 GiB are in use and no process holds them"
    assert finding.evidence["unaccounted"] == 12 * GB
    assert finding.evidence["nvml_index"] == 0


def test_processes_that_have_ended_are_named():
    dead = gpu(used=13 * GB, processes=(on_gpu(7, 8 * GB), on_gpu(8, GB), on_gpu(9, 4 * GB)))
    (finding,) = judge(dead, holders=[Holder(7, "gone"), 8, Holder(9, "zombie")])
    assert finding.message == "GPU 0: 12 GiB belong to processes that have ended: 7 (gone), 9 (zombie)"
    assert finding.evidence["dead"] == [{"pid": 7, "state": "gone"}, {"pid": 9, "state": "zombie"}]


def test_idle_and_honestly_used_gpus_are_silent():
    assert judge(gpu(0), gpu(1, used=9 * GB, processes=(on_gpu(8, 9 * GB),)), holders=[8]) == []


def test_it_is_skipped_with_the_reason_where_processes_are_hidden():
    used = gpu_use(hidden="outside the host's PID namespace")
    outcome = judged(check, driver=driver(gpu(used=12 * GB)), gpu_use=used)
    assert outcome.skipped.reason.startswith("outside the host's PID namespace")
    assert not outcome.skipped.failed


def test_it_is_skipped_where_nvml_hangs():
    hung = Unavailable("NVML gave no answer within 3 s", failed=True)
    assert judged(check, driver=driver(problem=hung), gpu_use=hung).skipped == hung
