"""Pins of pre-releases and nightlies."""

import pytest
from locked import audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.pre_release_pin import check

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize("pin", ["torch==2.15.0.dev20261101+cu130", "torch==5.25.0rc1", "torch==3.9.0a1", "torch==1b2"])
def test_a_version_that_is_not_final(pin):
    (finding,) = found = audited(check, f"six==1.17.0\n{pin}\n")
    assert (finding.severity, told(found)) == (Severity.WARNING, [("torch", 2)])
    assert finding.evidence["text"] == pin.partition("==")[2]


@pytest.mark.parametrize(
    "line",
    [
        "torch==2.9.0.post0",
        "sgl==0.2.1.1.post7",
        "torchao==0.17.0+git",
        "wheel===weird_version",
        "flash-attn-4 @ https://x.example/flash_attn_4-4.0.0b5-py3-none-any.whl",
        f"tau2 @ git+https://x.example/tau2@{COMMIT}",
        "opentelemetry-semantic-conventions==0.66b2",
        "opentelemetry-instrumentation-requests==0.60b1",
    ],
)
def test_what_is_final_or_from_no_index_or_never_final(line):
    assert audited(check, f"six==1.17.0\n{line}\n") == []
