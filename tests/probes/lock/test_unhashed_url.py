"""Addresses without a digest."""

import pytest
from locked import SHA, audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.unhashed_url import check

WHEEL = "https://x.example/w/flash_attn-2.8.3%2Bcu128-cp312-cp312-linux_x86_64.whl"
UV = """
version = 1
[[package]]
name = "far"
version = "1"
source = {{ url = "{0}" }}
wheels = [{{ url = "{0}"{1} }}]
"""


@pytest.mark.parametrize("url", [WHEEL, "https://x.example/flash-attn-1.0.tar.gz", "https://x.example/a/v1.zip"])
def test_a_file_that_nothing_holds(url):
    (finding,) = found = audited(check, f"six==1.17.0\nflash-attn @ {url}\n")
    assert (finding.severity, told(found), finding.evidence["text"]) == (Severity.ERROR, [("flash-attn", 2)], url)


def test_md5_alone_is_told():
    (finding,) = audited(check, f"q @ https://x.example/q-1.0-py3-none-any.whl#md5={'0' * 32}\n")
    assert "with no digest but md5" in finding.message


def test_a_uv_lock():
    assert told(audited(check, UV.format(WHEEL, ""), "/project/uv.lock")) == [("far", 3)]
    assert audited(check, UV.format(WHEEL, f', hash = "{SHA}"'), "/project/uv.lock") == []


@pytest.mark.parametrize(
    "line",
    [
        f"a @ {WHEEL}#{SHA.replace(':', '=')}",
        f"a @ {WHEEL} --hash={SHA}",
        f"a @ https://x.example/a-1.zip#sha512={'1' * 128}",
        "a @ file:///srv/a-1.0.zip",
        "a @ git+https://x.example/a@main",
        "a==1.0",
    ],
)
def test_a_digest_and_what_is_no_address(line):
    assert audited(check, f"six==1.17.0\n{line}\n") == []


def test_a_password_is_not_told():
    (finding,) = audited(check, "a @ https://me:hunter2@x.example/a-1.zip\n")
    assert "hunter2" not in str(finding)
