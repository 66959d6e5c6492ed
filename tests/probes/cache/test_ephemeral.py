"""Caches that do not stay."""

import pytest
from values import cache, caches, findings

from envdoctor.facts.cache_cleaners import Cleaner
from envdoctor.facts.node import Mount, Node
from envdoctor.model import Severity
from envdoctor.probes.cache.ephemeral import check

RULE = Cleaner("/tmp", 10 * 86400.0, "/usr/lib/tmpfiles.d/tmp.conf", "q /tmp 1777 root root 10d")


def judge(*args, **fields):
    return findings(check, compile_caches=caches(cache(*args, **fields)), node=Node())


@pytest.mark.parametrize(("kind", "said"), [("tmpfs", "memory"), ("overlay", "a container's own layer")])
def test_a_mount_that_goes_is_a_note(kind, said):
    (finding,) = judge(mount=Mount("/", kind), files=9)
    assert finding.severity == Severity.NOTE
    assert said in finding.message


@pytest.mark.parametrize(("files", "severity"), [(9, Severity.WARNING), (0, Severity.NOTE)])
def test_a_cleaner_is_a_warning_where_it_has_something_to_take(files, severity):
    (finding,) = judge(cleaner=RULE, files=files)
    assert finding.severity == severity
    assert "/usr/lib/tmpfiles.d/tmp.conf removes what is older than 10 days from /tmp" in finding.message


def test_a_disk_without_a_cleaner_is_silent():
    assert judge(mount=Mount("/", "ext4"), files=9) == []
    assert judge("torch_extensions", mount=Mount("/", "overlay")) == []
