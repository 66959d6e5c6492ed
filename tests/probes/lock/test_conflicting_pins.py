"""Two releases of one name where one environment would get both."""

import pytest
from locked import SHA, audited, target, told

from envdoctor.model import Severity
from envdoctor.probes.lock.conflicting_pins import check

SPLIT = """
torch==2.10.0+cu128 ; platform_machine == 'x86_64'
torch==2.10.0+cu130 ; platform_machine == 'aarch64'
"""
OVERLAPPING = """
torch==2.10.0+cu128 ; sys_platform == 'linux'
torch==2.10.0+cu130 ; platform_machine == 'aarch64'
"""


def test_two_releases():
    (finding,) = found = audited(check, "protobuf==6.33.4\nsix==1.17.0\nprotobuf==6.33.5\n")
    assert (finding.severity, told(found)) == (Severity.ERROR, [("protobuf", 3)])
    assert finding.message.startswith("protobuf is locked as 6.33.4 and as 6.33.5 for ")
    assert finding.evidence["lines"] == [1, 3]


def test_markers_that_meet_somewhere():
    (finding,) = audited(check, OVERLAPPING)
    assert "linux aarch64" in finding.message
    assert audited(check, OVERLAPPING, lock_targets=target()) == [], "not on this target"


def test_a_pylock_may_hold_one_entry_a_release_and_environment():
    wheel = f'{{ url = "https://x.example/six-1.17.0-py3-none-any.whl", hashes = {{ sha256 = "{SHA[7:]}" }} }}'
    entry = f'[[packages]]\nname = "six"\nversion = "1.17.0"\nwheels = [{wheel}]\n'
    head = 'lock-version = "1.0"\ncreated-by = "hand"\n'
    (finding,) = audited(check, head + entry + entry, "/project/pylock.toml")
    assert (finding.subject, finding.evidence["lines"]) == ("six", [4, 8])
    assert audited(check, head + entry, "/project/pylock.toml") == []


@pytest.mark.parametrize("text", [SPLIT, "six==1.17\nsix==1.17.0\n", "six==1.17.0\nidna==3.10\n"])
def test_what_never_meets_and_what_is_the_same(text):
    assert audited(check, text) == []
