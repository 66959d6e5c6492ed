"""A second index that may serve any pin."""

from locked import SHA, audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.extra_index import check

TWO = """
--index-url https://pypi.internal.example/simple
--extra-index-url https://index.example/simple
acme-trainer==4.2.0
"""


def test_an_unhashed_pin_may_come_from_either():
    (finding,) = found = audited(check, TWO)
    assert (finding.severity, told(found)) == (Severity.ERROR, [("index.example", 2)])
    assert finding.evidence["text"] == "--extra-index-url https://index.example/simple"
    assert finding.evidence["unhashed"] == {"count": 1, "lines": [3]}


def test_a_torch_index_is_no_exception_and_each_line_counts():
    lines = "--extra-index-url=https://a.example/whl/cu128\n--extra-index-url ./mirror\ntorch==2.11.0\n"
    assert told(audited(check, lines)) == [("a.example", 1), ("./mirror", 2)]


def test_hashes_on_every_pin_from_an_index_shut_a_substitute_out():
    assert audited(check, TWO.replace("4.2.0", f"4.2.0 --hash={SHA}")) == []
    vcs = "apex @ git+https://x.example/apex@0123456789abcdef0123456789abcdef01234567"
    assert audited(check, f"--extra-index-url https://index.example/simple\n{vcs}\nsix==1 --hash={SHA}\n") == []


def test_one_index_alone():
    assert audited(check, "--index-url https://index.example/simple\nsix==1.17.0\n") == []
