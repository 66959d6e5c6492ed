"""Releases that were malicious."""

import pytest
from locked import audited, package, told, uv

from envdoctor.model import Severity
from envdoctor.probes.lock.compromised import check


@pytest.mark.parametrize("line", ["litellm==1.82.8", "litellm==1.82.8 ; sys_platform == 'win32'", "torchtriton==2.0.0"])
def test_a_malicious_release_whatever_its_marker(line):
    (finding,) = found = audited(check, f"six==1.17.0\n{line}\n")
    name, version = line.split(" ")[0].split("==")
    assert (finding.severity, told(found), finding.evidence["text"]) == (Severity.ERROR, [(name, 2)], version)
    assert "malicious" in finding.message or "ran" in finding.message
    assert any("credentials" in step for step in finding.remedy)


def test_each_name_once():
    assert told(audited(check, "litellm==1.82.7\nlitellm==1.82.8\n")) == [("litellm", 1)]


def test_in_a_uv_lock():
    assert told(audited(check, uv(package("lightning", version='"2.6.3"')), "/project/uv.lock")) == [("lightning", 4)]


@pytest.mark.parametrize(
    "line", ["litellm==1.82.6", "litellm-proxy==1.82.8", "pytorch-triton==3.0.0", "lightning==2.6.1"]
)
def test_its_neighbours(line):
    assert audited(check, f"{line}\n") == []
