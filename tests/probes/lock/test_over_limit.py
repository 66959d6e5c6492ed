"""Files that no lock is like."""

from locked import audited, told

from envdoctor.locks import files
from envdoctor.model import Severity
from envdoctor.probes.lock.over_limit import check

CONFLICT = "<<<<<<< HEAD\ntorch==2.11.0\n=======\ntorch==2.10.0\n>>>>>>> main\n"


def test_an_unresolved_merge_is_one_finding():
    (finding,) = found = audited(check, "six==1.17.0\n" + CONFLICT + CONFLICT)
    assert (finding.severity, told(found)) == (Severity.ERROR, [("/project/requirements.txt", 2)])
    assert finding.message == "the lock holds an unresolved merge conflict"
    assert finding.evidence["text"] == "<<<<<<< HEAD"


def test_too_many_pins(monkeypatch):
    monkeypatch.setattr(files, "PINS", 2)
    assert told(audited(check, "a==1\nb==1\nc==1\n")) == [("/project/requirements.txt", 3)]
    assert audited(check, "a==1\nb==1\n") == []


def test_a_ruler_in_a_comment_is_none():
    assert audited(check, "# =======\n# <<<<<<< HEAD\nsix==1.17.0\n") == []
