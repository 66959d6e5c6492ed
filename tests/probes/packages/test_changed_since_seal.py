"""Without a lock, what differs from the seal is a warning; with one, the lock judges."""

import pytest
from values import NO_LOCK, distribution, distributions, findings, lock, seal

from envdoctor.model import Severity
from envdoctor.probes.packages.changed_since_seal import check


def judge(sealed, *items, given=NO_LOCK):
    return findings(check, distributions=distributions(*items), seal=seal(*sealed), lock=given)


def test_a_moved_package_is_named_with_both_versions():
    (finding,) = judge(["transformers==5.6.0"], "transformers==5.8.1")
    assert (finding.subject, finding.severity) == ("transformers", Severity.WARNING)
    assert finding.message == "transformers was 5.6.0 when the environment was sealed and is 5.8.1 now"


def test_what_came_and_what_went_are_told_apart():
    came, went = judge(["tqdm==4.0"], "sglang==0.5.9")
    assert came.message == "sglang 0.5.9 was not here when the environment was sealed"
    assert went.message == "tqdm was 4.0 when the environment was sealed and is gone now"
    assert "uninstall sglang" in came.remedy[0]


def test_another_build_label_is_not_the_sealed_one():
    assert judge(["torch==2.1.0+cu121"], "torch==2.1.0+cpu")


def test_what_venv_brings_is_a_note():
    (finding,) = judge(["pip==26.2"], "pip==26.3")
    assert finding.severity == Severity.NOTE


@pytest.mark.parametrize(
    ("sealed", "items", "given"),
    [
        (["torch==2.0.0"], ["torch==2.0"], NO_LOCK),
        (["tqdm==4.0"], ["tqdm==5.0"], lock("tqdm==4.0")),
        (["torch==2.0.0"], [distribution("torch", "2.0.0")], NO_LOCK),
    ],
    ids=["the same version, written otherwise", "a lock judges", "the same"],
)
def test_healthy_neighbours(sealed, items, given):
    assert judge(sealed, *items, given=given) == []
