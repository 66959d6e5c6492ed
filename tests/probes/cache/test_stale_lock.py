"""Locks by age and holder."""

import pytest
from values import cache, caches, findings

from envdoctor.facts.cache_builds import Lock
from envdoctor.facts.cache_users import User
from envdoctor.model import Severity
from envdoctor.probes.cache.stale_lock import check

PATH = "/x/py311_cu128/my_ext/lock"
NINJA = User(77, "me", "ninja", "/x/py311_cu128/my_ext", "works there")


def judge(age, *holders):
    lock = Lock(PATH, age, holders)
    return findings(check, compile_caches=caches(cache("torch_extensions", locks=(lock,))))


def test_an_old_one_without_a_builder_is_an_error_with_age_and_path():
    (finding,) = judge(6 * 3600)
    assert (finding.severity, finding.subject) == (Severity.ERROR, PATH)
    assert f"{PATH} is 6.0 h old" in finding.message
    assert finding.remedy == (f"rm {PATH}",)


@pytest.mark.parametrize(("age", "holders"), [(20, ()), (-5, ()), (6 * 3600, (NINJA,))])
def test_a_young_one_and_one_with_a_builder_are_notes_without_a_removal(age, holders):
    (finding,) = judge(age, *holders)
    assert (finding.severity, finding.remedy) == (Severity.NOTE, ())
    assert ("pid 77 (ninja of me) is building" in finding.message) == bool(holders)


def test_no_lock_is_silent():
    assert findings(check, compile_caches=caches(cache("torch_extensions"))) == []
