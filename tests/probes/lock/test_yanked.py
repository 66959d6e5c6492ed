"""Releases that were taken back."""

import pytest
from locked import OTHER, SHA, audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.yanked import check
from envdoctor.views.lock_online import Listed, ListedFile, LockOnline

WHEEL = ListedFile("numpy-2.4.0-py3-none-any.whl", (SHA,), "Backward  compatibility\nbug")
SDIST = ListedFile("numpy-2.4.0.tar.gz", (OTHER,), "")
FINE = ListedFile("numpy-2.4.0.tar.gz", (OTHER,))


def found(text, *files, version="2.4.0"):
    return audited(check, text, lock_online=LockOnline((), {("numpy", version): Listed(files)}))


def test_a_yanked_release():
    (finding,) = said = found("six==1.17.0\nnumpy==2.4.0\n", WHEEL, SDIST)
    assert (finding.severity, told(said)) == (Severity.WARNING, [("numpy", 2)])
    assert finding.message == "numpy 2.4.0 was yanked from the index: Backward compatibility bug"
    assert finding.evidence["text"] == "2.4.0"
    (finding,) = found("numpy==2.4.0\n", SDIST)
    assert finding.message.endswith("no reason is given")


def test_once_for_all_its_lines():
    text = "numpy==2.4.0 ; sys_platform == 'linux'\nnumpy==2.4.0 ; sys_platform == 'win32'\n"
    assert told(found(text, WHEEL)) == [("numpy", 1)]


@pytest.mark.parametrize("files", [(FINE,), (WHEEL, FINE), ()], ids=["not yanked", "partly yanked", "nothing listed"])
def test_neighbours(files):
    assert found("numpy==2.4.0\n", *files) == []


def test_what_the_digests_admit_counts():
    assert found(f"numpy==2.4.0 --hash={SHA}\n", WHEEL, FINE) != [], "the other file is not admitted"
    assert found(f"numpy==2.4.0 --hash={OTHER}\n", WHEEL, FINE) == []


def test_a_release_that_is_not_known():
    assert audited(check, "numpy==2.4.0\n", lock_online=LockOnline(unknown={("numpy", "2.4.0"): "HTTP 500"})) == []
