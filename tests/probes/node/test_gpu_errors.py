"""Hardware errors that a GPU reports, one finding a GPU."""

import pytest
from values import driver, findings, gpu, judged, variables

from envdoctor import knowledge
from envdoctor.facts.driver import Xid
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.node.gpu_errors import check


def judge(*gpus, **fields):
    return findings(check, driver=driver(*gpus, **fields))


@pytest.mark.parametrize(
    ("fields", "severity", "said"),
    [
        ({"ecc_uncorrected": 3}, Severity.WARNING, "3 uncorrected memory errors"),
        ({"repair_pending": True}, Severity.WARNING, "a memory repair waits for a reset"),
        ({"repair_failed": True}, Severity.ERROR, "could not be remapped"),
        ({"problem": "GPU is lost"}, Severity.ERROR, "GPU is lost"),
    ],
)
def test_each_complaint_is_a_finding_of_its_gpu(fields, severity, said):
    (finding,) = judge(gpu(0), gpu(1, **fields))
    assert (finding.severity, finding.subject) == (severity, gpu(1).uuid)
    assert said in finding.message
    assert finding.evidence["nvml_index"] == 1


def test_complaints_of_one_gpu_are_one_finding():
    (finding,) = judge(gpu(ecc_uncorrected=1, repair_failed=True, repair_pending=True))
    assert finding.severity == Severity.ERROR
    assert finding.message.count(";") == 2


def test_xids_are_told_by_their_pci_address():
    xids = (Xid("0000:02:00", 95, "uncontained"), Xid("0000:02:00", 95, "again"), Xid("0000:02:00", 31, "a program's"))
    (finding,) = judge(gpu(0), gpu(1), xids=xids, log="/var/log/kern.log")
    assert (finding.severity, finding.subject) == (Severity.WARNING, gpu(1).uuid)
    assert finding.message == "GPU 1: Xid 95 (memory error that was not contained) 2 times"
    assert finding.evidence["log"] == "/var/log/kern.log"
    assert finding.evidence["xids"][-1] == "31, a program's"


def test_a_gpu_that_is_no_longer_there_is_named_by_its_address():
    (finding,) = judge(gpu(0), xids=(Xid("0000:65:00", 79, "GPU has fallen off the bus."),))
    assert (finding.subject, finding.severity) == ("0000:65:00", Severity.WARNING)
    assert finding.message == "the GPU at 0000:65:00: Xid 79 (the GPU fell off the PCI bus)"


def test_an_error_that_needs_no_reset_is_a_note():
    (finding,) = judge(gpu(0), xids=(Xid("0000:01:00", 94, "contained"),))
    assert finding.severity == Severity.NOTE


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"ecc_uncorrected_ever": 12},
        {"ecc": False, "ecc_uncorrected": None, "repair_pending": None, "repair_failed": None},
    ],
    ids=["well", "errors of the past", "not told"],
)
def test_healthy_gpus_are_silent(fields):
    assert judge(gpu(**fields)) == []


@pytest.mark.parametrize("code", [13, 31, 43, 45, 63])
def test_what_a_program_causes_or_what_is_repaired_is_silent(code):
    assert judge(gpu(0), xids=(Xid("0000:01:00", code, "x"),)) == []


def test_it_is_skipped_where_nvml_could_not_be_read():
    hung = Unavailable("NVML gave no answer within 3 s", failed=True)
    assert judged(check, driver=driver(problem=hung), variables=variables()).skipped == hung


def test_the_table_says_for_each_code_whether_a_reset_is_asked_for():
    assert all(type(row["reset"]) is bool and row["what"] for row in knowledge.rows("xids"))
