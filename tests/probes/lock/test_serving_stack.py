"""Serving engines in a lock."""

import pytest
from locked import audited, told

from envdoctor.model import Severity
from envdoctor.policy import Policy
from envdoctor.probes.lock.serving_stack import check

EXTRA = """
version = 1
[[package]]
name = "demo"
source = { virtual = "." }
[package.optional-dependencies]
serve = [{ name = "vllm" }]
[[package]]
name = "vllm"
version = "0.21.0"
source = { registry = "https://index.example/simple" }
"""


def test_one_finding_for_each_engine():
    found = audited(check, "torch==2.11.0\nvllm==0.21.0\nsglang==0.5.9\nxgrammar==0.2.9\n")
    assert {finding.severity for finding in found} == {Severity.WARNING}
    assert told(found) == [("sglang", 3), ("vllm", 2)]
    assert found[1].evidence["stack"] == {"sglang": 3, "xgrammar": 4}


def test_an_extra_that_brings_it_is_named():
    (finding,) = audited(check, EXTRA, "/project/uv.lock")
    assert finding.message.startswith("vllm 0.21.0 is a serving stack, by extra serve alone; ")


@pytest.mark.parametrize(
    "text", ["torch==2.11.0\nflashinfer-python==0.6.6\ntilelang==0.1.15\nxgrammar==0.2.9\noutlines==1.3\n"]
)
def test_what_trainers_use_by_itself(text):
    assert audited(check, text) == []


def test_the_configuration_may_allow_it():
    assert audited(check, "vllm==0.21.0\n", policy=Policy(allow=("vllm",))) == []
