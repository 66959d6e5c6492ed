"""Who uses a cache now."""

from values import cache, caches, findings

from envdoctor.facts.cache_users import User
from envdoctor.model import Severity
from envdoctor.probes.cache.in_use import check


def test_users_are_named_in_a_note():
    users = (User(77, "me", "python", "/cache/a.so", "mapped"), User(78, "me", "python", "/cache/a.so", "mapped"))
    (finding,) = findings(check, compile_caches=caches(cache(users=users)))
    assert (finding.severity, finding.evidence["count"]) == (Severity.NOTE, 2)
    assert "in use by pid 77 (python of me) and 1 more" in finding.message


def test_nobody_is_silent():
    assert findings(check, compile_caches=caches(cache())) == []
