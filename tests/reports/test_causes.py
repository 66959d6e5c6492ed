"""One intruder is one block, with all that goes back to it; what has no root stands alone."""

from values import finding, outcome, report

from envdoctor.model import Severity
from envdoctor.reports.causes import blocks

ROOT = finding("sglang", Severity.WARNING, cause="sglang")


def shape(*outcomes):
    found = blocks(report(*outcomes))
    return [(block.head.subject, [finding.subject for _, finding in block.others]) for block in found]


def test_findings_of_one_cause_are_one_block_as_bad_as_its_worst():
    moved = outcome("packages/drifted", finding("torch", cause="sglang"))
    (block,) = blocks(
        report(outcome("packages/foreign", ROOT, finding("six", Severity.WARNING, cause="sglang")), moved)
    )
    assert block.head is ROOT
    assert [probe for probe, _ in block.others] == ["packages/drifted", "packages/foreign"]
    assert block.worst == Severity.ERROR


def test_without_its_root_a_finding_stands_alone():
    assert shape(outcome("packages/drifted", finding("torch", cause="sglang"))) == [("torch", [])]


def test_a_cause_named_by_another_probe_is_no_root():
    assert shape(outcome("packages/drifted", finding("torch", cause="torch"), finding("six", cause="torch"))) == [
        ("torch", []),
        ("six", []),
    ]


def test_worst_first_then_the_larger_block():
    given = [
        outcome("packages/altered-file", finding("numpy")),
        outcome("packages/leftover", finding("/env", Severity.WARNING), finding("pip", Severity.NOTE)),
        outcome("packages/foreign", ROOT, finding("vllm", cause="vllm")),
        outcome("packages/drifted", finding("torch", cause="vllm")),
    ]
    assert shape(*given) == [("vllm", ["torch"]), ("numpy", []), ("sglang", []), ("/env", []), ("pip", [])]


def test_no_findings_are_no_blocks():
    assert shape(outcome("packages/drifted")) == []


def test_what_else_is_wrong_with_a_drifted_package_is_in_its_block():
    drift = finding("transformers", Severity.ERROR, "is 5.8.1")
    broken = finding("transformers", Severity.ERROR, "requires huggingface-hub<2.0")
    apart = finding("numpy", Severity.ERROR, "requires nothing")
    given = report(
        outcome("packages/broken-requirement", broken, apart),
        outcome("packages/drifted", drift),
        outcome("packages/altered-file", finding("transformers")),
    )
    first, *rest = blocks(given)
    assert (first.probe, first.head, [probe for probe, _ in first.others]) == (
        *("packages/drifted", drift),
        ["packages/broken-requirement"],
    )
    assert sorted(block.probe for block in rest) == ["packages/altered-file", "packages/broken-requirement"]
