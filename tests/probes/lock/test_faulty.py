"""What could not be read of a lock is said; a lock that was read whole is silent."""

from values import findings, lock

from envdoctor.model import LockProblem, Severity
from envdoctor.probes.lock.faulty import check


def test_lines_not_understood_are_one_warning_a_file_with_the_first_place():
    mine = (LockProblem(7, "is no requirement"), LockProblem(9, "unknown option"))
    problems = (*mine, LockProblem(0, "gone", "/p/b.txt"))
    own, included = findings(check, lock=lock(problems=problems))
    assert (own.severity, own.subject) == (Severity.WARNING, "/project/train.txt")
    assert own.message == "train.txt:7: is no requirement (and 1 more)"
    assert own.evidence["problems"] == ["train.txt:7: is no requirement", "train.txt:9: unknown option"]
    assert (included.subject, included.message) == ("/p/b.txt", "b.txt: gone")


def test_lock_that_was_read_whole_is_silent():
    assert findings(check, lock=lock()) == []
