"""Packages in ~/.local are an error where they are read, a note where they are not, nothing where there are none."""

import pytest

from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.search_path import SearchPath
from envdoctor.model import Severity
from envdoctor.probes.environment.user_site import check

SITE = "/home/me/.local/lib/python3.12/site-packages"


def judge(kind, *, read, packages=3, site=SITE):
    speaker = Interpreter("/env/bin/python", (), True, None, "3.12.3", None, {}, kind=kind)
    return list(check(speaker, SearchPath((), site, read, packages)))


@pytest.mark.parametrize(("kind", "place"), [("conda", "before"), ("prefix", "before"), ("venv", "after")])
def test_packages_that_are_read_are_an_error(kind, place):
    """Case C31: conda environments and venvs with system site-packages."""
    (finding,) = judge(kind, read=True)
    assert (finding.severity, finding.subject) == (Severity.ERROR, SITE)
    assert f"searched {place} the environment's own" in finding.message


def test_packages_that_a_plain_venv_ignores_are_a_note():
    """Case C31, control."""
    (finding,) = judge("venv", read=False)
    assert finding.severity == Severity.NOTE


@pytest.mark.parametrize("nothing", [{"packages": 0}, {"site": None}])
def test_an_empty_or_missing_user_site_says_nothing(nothing):
    assert judge("conda", read=True, **nothing) == []
