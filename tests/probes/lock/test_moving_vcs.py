"""Repositories without a full commit."""

import pytest
from locked import audited, read, told

from envdoctor.model import Severity
from envdoctor.probes.lock.moving_vcs import check

COMMIT = "0123456789abcdef0123456789abcdef01234567"
UV = 'version = 1\n[[package]]\nname = "apex"\nsource = {{ git = "https://x.example/apex{}" }}\n'
PYLOCK = """
lock-version = "1.0"
created-by = "x"
[[packages]]
name = "apex"
vcs = {{ type = "git", url = "https://x.example/apex", requested-revision = "main", commit-id = "{}" }}
"""
ENDS = {f"?rev=24.04#{COMMIT}": 0, f"#{COMMIT}": 0, "?branch=main": 1, "": 1}
MOVING = {
    "apex @ git+https://x.example/apex@24.04.01": "24.04.01",
    "apex @ git+https://x.example/apex.git@release_v2.15": "release_v2.15",
    "apex @ git+https://x.example/apex@01234567": "01234567",
    "apex @ git+https://x.example/team/apex.git": "apex.git",
    "apex @ git+ssh://git@x.example/apex.git@main": "main",
    "apex @ git+ssh://git@x.example/apex.git": "apex.git",
    "-e git+https://x.example/apex.git@main#egg=apex": "main",
    "apex @ bzr+https://x.example/apex@12": "12",
    f"apex @ svn+https://x.example/apex@{COMMIT}": COMMIT,
}
FIXED = (
    f"apex @ git+https://x.example/apex.git@{COMMIT}",
    f"apex @ git+https://user@x.example/apex.git@{COMMIT}#subdirectory=a",
    f"apex @ git+https://x.example/apex@{COMMIT}{COMMIT[:24]}",
    f"apex @ hg+https://x.example/apex@{COMMIT}",
    "apex @ svn+https://x.example/apex@1234",
    f"-e git+https://x.example/apex.git@{COMMIT}#egg=apex",
    "apex @ https://x.example/apex@main-1.0.zip",
    "-e ./apex#egg=apex",
)
LOCKS = {line: read(f"six==1.17.0\n{line}\n") for line in (*MOVING, *FIXED)}


@pytest.mark.parametrize(("line", "text"), MOVING.items())
def test_a_revision_that_moves(line, text):
    (finding,) = found = audited(check, LOCKS[line])
    assert (finding.severity, told(found), finding.evidence["text"]) == (Severity.ERROR, [("apex", 2)], text)


@pytest.mark.parametrize("line", FIXED)
def test_a_full_commit_and_what_is_no_repository(line):
    assert audited(check, LOCKS[line]) == []


@pytest.mark.parametrize(("end", "count"), ENDS.items())
def test_a_uv_lock_has_the_commit_in_the_fragment(end, count):
    assert len(audited(check, UV.format(end), "/project/uv.lock")) == count


@pytest.mark.parametrize(("commit", "count"), [(COMMIT, 0), ("main", 1)])
def test_a_pylock_has_a_commit_id(commit, count):
    assert len(audited(check, PYLOCK.format(commit), "/project/pylock.toml")) == count
