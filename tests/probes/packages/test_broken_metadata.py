"""Metadata that cannot be read is an error; oddities in it a warning."""

from dataclasses import replace

import pytest
from values import PIP, SITE, distribution, distributions, files, findings, state

from envdoctor.model import Severity
from envdoctor.probes.packages.broken_metadata import check

SIX = distribution("six", "1.16.0")


def judge(item, *states):
    return findings(check, distributions=distributions(item, "pip"), files=files(*states))


def test_metadata_without_a_version_is_an_error():
    gone = distribution("six", None, metadata=f"{SITE}/six-1.16.0.dist-info", problems=("has no METADATA",))
    (finding,) = judge(gone)
    assert (finding.severity, finding.subject) == (Severity.ERROR, "six")
    assert finding.message == "six-1.16.0.dist-info: has no METADATA"
    assert finding.remedy == (f"{PIP} install --force-reinstall --no-deps six",)


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (replace(SIX, problems=("METADATA is not UTF-8 (byte 0xff at 9)",)), "not UTF-8"),
        (distribution("six", "one"), "no version (PEP 440)"),
        (replace(SIX, requires=("torch >> 2",)), "'torch >> 2' is no requirement"),
    ],
    ids=["encoding", "version", "requirement"],
)
def test_what_can_still_be_read_is_a_warning(item, said):
    (finding,) = judge(item)
    assert (finding.severity, finding.subject) == (Severity.WARNING, "six")
    assert said in finding.message


def test_a_record_that_claims_files_of_others_is_a_warning():
    (finding,) = judge(SIX, state(SIX, outside=("../../../../etc/passwd",)))
    assert finding.severity == Severity.WARNING
    assert finding.evidence["outside"] == ["../../../../etc/passwd"]


def test_several_problems_of_one_package_are_one_finding():
    (finding,) = judge(replace(SIX, version="one", requires=("a b", "c d")))
    assert len(finding.evidence["problems"]) == 3
    assert finding.message.endswith(", and 2 more")


@pytest.mark.parametrize("version", ["1.0", "2.11.0+cu128", "1!2.0rc1.post3.dev4"])
def test_sound_metadata_says_nothing(version):
    assert judge(distribution("six", version), state(SIX)) == []
