"""Pins by `===`."""

import pytest
from locked import audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.arbitrary_equality import check


@pytest.mark.parametrize("line", ["torch===2.11.0", "torch===weird_version", "torch === 2.4.06 ; os_name == 'posix'"])
def test_every_use(line):
    (finding,) = found = audited(check, f"six==1.17.0\n{line}\n")
    assert (finding.severity, told(found), finding.evidence["text"]) == (Severity.WARNING, [("torch", 2)], "===")


def test_one_finding_a_package():
    text = "torch===2.11.0 ; os_name == 'posix'\ntorch===2.11.0 ; os_name == 'nt'\nsix===1.17.0\n"
    assert told(audited(check, text)) == [("torch", 1), ("six", 3)]


def test_in_a_marker_it_is_none():
    assert audited(check, "six==1.17.0 ; python_full_version === '3.12.1'\n") == []
