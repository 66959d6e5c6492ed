"""Hosts that are not listed, and channels that delete their releases."""

import pytest
from locked import SHA, audited, files, package, told, uv

from envdoctor.model import Severity
from envdoctor.policy import Policy
from envdoctor.probes.lock.unlisted_host import check
from envdoctor.views.lock_hosts import LockHosts

UV = "/project/uv.lock"
TEST = "https://a.example/whl/test/cu128"
REPOSITORY = '{ git = "https://git.example/x#0123456789abcdef0123456789abcdef01234567" }'
LOCK = uv(
    package("six", wheels=files("https://files.example/six-1.0-py3-none-any.whl")),
    package("torch", "https://a.example/whl/cu128"),
    package("apex", source=REPOSITORY),
)


def listed(*hosts):
    return {"policy": Policy("/project/envdoctor.toml", hosts=hosts)}


def test_a_test_channel_is_reported_once_at_its_index():
    wheel = files("https://b.example/whl/test/cu128/flash_attn_3-3.0.0-cp39-abi3-linux_x86_64.whl")
    (finding,) = found = audited(check, uv(package("flash-attn-3", TEST, wheels=wheel)), UV)
    assert (finding.severity, told(found), finding.evidence["text"]) == (Severity.WARNING, [("flash-attn-3", 4)], TEST)
    assert finding.evidence["count"] == 1


def test_a_channel_of_several_packages_and_an_option_line():
    (finding,) = audited(check, uv(package("torch", TEST), package("triton", TEST)), UV)
    assert (finding.subject, finding.evidence["count"]) == ("/whl/test/cu128", 2)
    line = "--index-url https://a.example/whl/nightly/cu130"
    (finding,) = found = audited(check, f"torch==2.15.0.dev1\n{line}\n")
    assert (told(found), finding.evidence["text"]) == ([("/whl/nightly/cu130", 2)], line)


@pytest.mark.parametrize(
    "line",
    ["--index-url https://a.example/whl/cu128", "-i https://a.example/test/simple", "-f https://a.example/whl/test-x"],
)
def test_other_paths(line):
    assert audited(check, f"{line}\ntorch==2.11.0\n") == []
    assert audited(check, LOCK, UV) == []


def test_the_policy_lists_hosts_of_indexes_files_and_repositories():
    found = audited(check, LOCK, UV, **listed("index.example"))
    assert told(found) == [("files.example", 4), ("a.example", 10), ("git.example", 15)]
    assert {finding.severity for finding in found} == {Severity.WARNING}
    assert (
        found[0].message == "the lock takes packages from files.example, which is not listed in /project/envdoctor.toml"
    )
    assert (found[0].evidence["text"], found[0].evidence["listed_in"]) == ("files.example", "/project/envdoctor.toml")
    assert audited(check, LOCK, UV, **listed("*.example")) == []


def test_an_option_names_a_host_that_is_not_listed():
    lines = "--index-url https://u.example/simple\n-f ./wheels\n-i http://localhost/s\nsix==1 --hash=" + SHA
    assert told(audited(check, lines, **listed("index.example"))) == [("u.example", 1)]


def test_an_installers_configuration_says_nothing_of_files_and_repositories():
    hosts = LockHosts(("index.example",), "/project/uv.toml", indexes_only=True)
    (finding,) = found = audited(check, LOCK, UV, lock_hosts=hosts)
    assert (finding.severity, told(found)) == (Severity.WARNING, [("a.example", 10)])


def test_that_of_this_machine_is_a_note():
    hosts = LockHosts(("index.example",), "PIP_INDEX_URL", indexes_only=True, local=True)
    (finding,) = audited(check, LOCK, UV, lock_hosts=hosts)
    assert (finding.severity, finding.evidence["listed_in"]) == (Severity.NOTE, "PIP_INDEX_URL")


def test_a_channel_of_a_listed_host_stays_one_and_of_another_is_not_said_twice():
    lock = uv(package("torch", TEST))
    assert told(audited(check, lock, UV, **listed("a.example"))) == [("torch", 4)]
    assert told(audited(check, lock, UV, **listed("b.example"))) == [("a.example", 4)]
