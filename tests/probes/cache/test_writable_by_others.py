"""Caches that others can change."""

import pytest
from values import cache, caches, findings

from envdoctor.model import Severity
from envdoctor.probes.cache.writable_by_others import check


@pytest.mark.parametrize(
    ("fields", "said", "step"),
    [
        ({"access": {"open_at": "/cache", "open_mode": 0o777}}, "mode 0777", "chmod -R go-w /cache"),
        ({"access": {"open_at": "/", "open_mode": 0o777}}, "/, above the inductor cache /cache", "chmod go-w /"),
        ({"access": {"mode": 0o755}, "open_to_all": 9, "first_open": "/cache/a"}, "9 entries", "chmod -R go-w /cache"),
    ],
    ids=["itself", "above", "below"],
)
def test_it_is_an_error_that_says_what_may_come_of_it(fields, said, step):
    (finding,) = findings(check, compile_caches=caches(cache(**fields)))
    assert (finding.severity, finding.remedy[0]) == (Severity.ERROR, step)
    assert said in finding.message
    assert "runs as you" in finding.message


def test_healthy_neighbours():
    assert findings(check, compile_caches=caches(cache())) == []
    assert findings(check, compile_caches=caches(cache(open_to_all=9))) == [], "nobody comes through its mode 0700"
    gone = cache(exists=False, access={"open_at": "/scratch"})
    assert findings(check, compile_caches=caches(gone)) == []
