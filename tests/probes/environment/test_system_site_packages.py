"""A venv that reads the system's packages is a warning that names the user site; other prefixes have no such switch."""

import pytest

from envdoctor.facts.interpreter import Interpreter
from envdoctor.model import Severity, Target
from envdoctor.probes.environment.system_site_packages import check

TARGET = Target("/env", "/env/bin/python")


def judge(**changes):
    return list(check(Interpreter(TARGET.python, (), True, None, "3.12.3", None, {}, **changes), TARGET))


def test_overlay_on_the_system_is_a_warning():
    """Case C29."""
    (finding,) = judge(system_site=True, base_prefix="/usr")
    assert (finding.severity, finding.subject) == (Severity.WARNING, "/env/pyvenv.cfg")
    assert "/usr" in finding.message
    assert "user site" in finding.message


@pytest.mark.parametrize(
    "changes", [{}, {"kind": "conda", "system_site": True}, {"kind": "prefix", "system_site": True}]
)
def test_a_plain_venv_and_other_prefixes_are_healthy(changes):
    assert judge(**changes) == []
