"""A lock without any hash."""

from locked import SHA, audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.unhashed import check


def test_no_hash_anywhere_is_one_finding():
    (finding,) = found = audited(check, "torch==2.11.0\nnumpy==2.4.6\n")
    assert (finding.severity, told(found)) == (Severity.ERROR, [("/project/requirements.txt", 1)])
    assert (finding.evidence["count"], finding.evidence["lines"]) == (2, [1, 2])


def test_hashes_on_some_or_all_lines_are_not_this_rules():
    assert audited(check, f"six==1.17.0 --hash={SHA}\nidna==3.10\n") == []
    assert audited(check, f"six==1.17.0 --hash={SHA}\n") == []


def test_what_comes_from_no_index_needs_none():
    assert audited(check, "apex @ git+https://x.example/apex@0123456789abcdef0123456789abcdef01234567\n") == []
