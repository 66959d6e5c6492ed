"""Another pip on PATH matters where the environment is active; variables that send pip elsewhere always do."""

import pytest

from envdoctor.facts.launchers import Launchers, Tool
from envdoctor.facts.variables import Variables
from envdoctor.model import Severity, Target
from envdoctor.probes.environment.wrong_pip import check

TARGET = Target("/env", "/env/bin/python")
OTHER = Tool("pip", "/usr/bin/pip", "/usr/bin/python3", own=False)
OWN = Tool("pip", "/env/bin/pip", "/env/bin/python", own=True)


def judge(*tools, activated=True, **variables):
    return list(check(Launchers(tools=tools, activated=activated), Variables(variables), TARGET))


@pytest.mark.parametrize("pip", [OTHER, Tool("pip", "/opt/pyenv/shims/pip", None, own=False)])
def test_another_pip_in_an_active_environment_is_a_warning(pip):
    (finding,) = judge(pip)
    assert (finding.severity, finding.subject) == (Severity.WARNING, pip.path)


def test_own_pip_no_pip_or_an_environment_that_is_not_active_are_healthy():
    assert judge(OWN) == []
    assert judge() == []
    assert judge(OTHER, activated=False) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PIP_TARGET", "/data/packages"),
        ("PIP_PREFIX", "/usr/local"),
        ("PIP_ROOT", "/mnt"),
        ("PIP_PYTHON", "/usr/bin/python3"),
        ("PIP_PYTHON", "/env2/bin/python"),
        ("PIP_USER", "1"),
        ("PIP_USER", "Yes"),
        ("PIP_NO_USER", "1"),
    ],
)
@pytest.mark.parametrize("activated", [True, False])
def test_variables_that_send_pip_elsewhere_are_warnings(name, value, activated):
    (finding,) = judge(OWN, activated=activated, **{name: value})
    assert (finding.severity, finding.subject) == (Severity.WARNING, name)
    assert finding.remedy == (f"unset {name}",)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PIP_TARGET", ""),
        ("PIP_PREFIX", "/env/"),
        ("PIP_ROOT", "/"),
        ("PIP_PYTHON", "/env/bin/python3"),
        ("PIP_USER", "0"),
        ("PIP_NO_USER", "false"),
    ],
)
def test_variables_that_change_nothing_are_healthy(name, value):
    assert judge(OWN, **{name: value}) == []
