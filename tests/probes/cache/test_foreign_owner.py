"""Caches in other hands."""

import pytest
from values import ME, cache, caches, findings

from envdoctor.model import Severity
from envdoctor.probes.cache.foreign_owner import check


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"access": {"owner": 4711}}, "belongs to user 4711"),
        ({"access": {"link": "/home/eve/c", "link_owner": 4711}}, "user 4711 has put a link to /home/eve/c"),
        (
            {"foreign": 3, "first_foreign": "/cache/ab/x.py"},
            "3 entries of the inductor cache /cache belong to other users",
        ),
    ],
)
def test_it_is_an_error_that_says_what_may_come_of_it(fields, said):
    (finding,) = findings(check, compile_caches=caches(cache(**fields)))
    assert (finding.severity, finding.subject) == (Severity.ERROR, "/cache")
    assert said in finding.message
    assert "runs as you" in finding.message


@pytest.mark.parametrize(
    "access", [{}, {"owner": 0}, {"owner": None}, {"link": "/scratch/me", "link_owner": ME}], ids=str
)
def test_mine_root_s_and_none_are_silent(access):
    assert findings(check, compile_caches=caches(cache(access=access))) == []


def test_root_does_not_trust_a_user_s():
    assert findings(check, compile_caches=caches(cache(), uid=0))
