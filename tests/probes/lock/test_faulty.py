"""What a check says of its lock: one warning, however many rules are broken."""

from values import finding, findings, lock

from envdoctor.model import LockFaults, Severity
from envdoctor.probes.lock.faulty import check

WARNING = {"severity": Severity.WARNING}


def faulty(told=(), **found):
    rules = {f"lock/{rule.replace('_', '-')}": tuple(items) for rule, items in found.items()}
    return findings(check, lock=lock(), lock_faults=LockFaults(rules, frozenset(told)))


def test_one_warning_with_counts_by_rule():
    (found,) = faulty(unpinned=[finding(), finding()], unhashed=[finding(count=294)], extra_index=[])
    assert (found.severity, found.subject) == (Severity.WARNING, "/project/train.txt")
    assert found.message == "the lock /project/train.txt breaks 2 rules: unhashed 294, unpinned 2"
    assert found.remedy == ("envdoctor lock audit /project/train.txt",)


def test_what_another_probe_tells_is_not_repeated():
    found = {"companion_mismatch": [finding()]}
    assert faulty(told=("packages/companion-mismatch",), **found) == []
    assert faulty(told=("packages/foreign",), **found) != []


def test_notes_alone_and_nothing_at_all():
    assert faulty(orphan=[finding(severity=Severity.NOTE)]) == []
    assert faulty() == []
