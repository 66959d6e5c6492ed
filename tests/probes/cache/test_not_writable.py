"""Caches without the right to write."""

import pytest
from values import cache, caches, findings, judged

from envdoctor.model import Severity
from envdoctor.probes.cache.not_writable import check

REFUSED = {"owner": 4711, "mode": 0o555, "writable": False, "refuses": "/cache"}


@pytest.mark.parametrize(
    ("kind", "severity"),
    [
        ("inductor", Severity.ERROR),
        ("triton", Severity.ERROR),
        ("torch_extensions", Severity.WARNING),
        ("cuda", Severity.NOTE),
    ],
)
def test_owner_and_mode_are_named(kind, severity):
    (finding,) = findings(check, compile_caches=caches(cache(kind, access=REFUSED)))
    assert (finding.severity, finding.subject) == (severity, "/cache")
    assert "belongs to user 4711 and has mode 0555" in finding.message


@pytest.mark.parametrize(
    ("kind", "chosen", "severities"),
    [
        ("inductor", False, [Severity.ERROR]),
        ("triton", True, [Severity.ERROR]),
        ("triton", False, []),
        ("torch_extensions", False, []),
    ],
)
def test_one_that_cannot_be_made_counts_where_a_compile_needs_it(kind, chosen, severities):
    access = {"owner": None, "mode": None, "writable": False, "refuses": "/"}
    found = findings(check, compile_caches=caches(cache(kind, chosen=chosen, exists=False, access=access)))
    assert [f.severity for f in found] == severities


def test_my_own_is_silent_and_below_a_root_it_is_skipped():
    assert findings(check, compile_caches=caches(cache())) == []
    outcome = judged(check, compile_caches=caches(cache(access=REFUSED), uid=None))
    assert outcome.skipped.reason.startswith("--root")
