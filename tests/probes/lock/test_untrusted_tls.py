"""Hosts whose certificate is not checked."""

import pytest
from locked import SHA, audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.untrusted_tls import check


@pytest.mark.parametrize("value", ["pypi.internal.example", "PyPI.internal.example:8443"])
def test_a_trusted_host(value):
    (finding,) = found = audited(check, f"six==1.17.0 --hash={SHA}\n--trusted-host {value}\n")
    assert (finding.severity, told(found)) == (Severity.ERROR, [("pypi.internal.example", 2)])
    assert finding.evidence["text"] == f"--trusted-host {value}"


@pytest.mark.parametrize("value", ["localhost", "127.0.0.1:3141", "[::1]:3141"])
def test_this_machine_itself(value):
    assert audited(check, f"--trusted-host {value}\nsix==1.17.0\n") == []


def test_an_index_with_a_certificate():
    assert audited(check, "--index-url https://index.example/simple\nsix==1.17.0\n") == []
