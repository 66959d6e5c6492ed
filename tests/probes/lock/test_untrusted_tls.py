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


PIPFILE = """\
{"_meta": {"pipfile-spec": 6, "sources": [
    {"name": "own", "url": "https://pypi.internal.example/simple",
     "verify_ssl": %s}]},
 "default": {"six": {"version": "==1.17.0"}}}
"""


def test_a_source_of_pipenv_that_is_not_verified():
    (finding,) = found = audited(check, PIPFILE % "false", "/project/Pipfile.lock")
    assert told(found) == [("pypi.internal.example", 3)]
    assert finding.message == ("verify_ssl = false turns off the check of the certificate of pypi.internal.example")
    assert audited(check, PIPFILE % "true", "/project/Pipfile.lock") == []
