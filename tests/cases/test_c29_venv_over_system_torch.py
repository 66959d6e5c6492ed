"""A venv that sees the system's torch hides it by its own: AUTOMATIC1111/stable-diffusion-webui#14994."""

import pytest
from patients import Patient, Wheel, findings


def torch(version):
    return Wheel("torch", version, {"torch/__init__.py": ""})


@pytest.fixture
def system(tmp_path):
    """A system with a torch of its own. Its interpreter does not answer, so that the disk alone says where it is."""
    found = Patient(tmp_path, "system")
    found.install(torch("2.2.0"), installer="debian")
    return found


def venv(tmp_path, system, switch, version):
    found = Patient(tmp_path / "project")
    found.interpreter("exit 1")
    found.configure(home=str(system.bin), include_system_site_packages=switch)
    found.install(torch(version), requested=True)
    return found


def test_switch_is_a_warning_and_the_hidden_torch_an_error(tmp_path, system):
    report = venv(tmp_path, system, "true", "2.2.1").check()
    (switch,) = findings(report, "environment/system-site-packages")
    (shadowed,) = findings(report, "packages/shadowed")
    assert switch.severity.label == "warning"
    assert "user site" in switch.message
    assert (shadowed.subject, shadowed.severity.label) == ("torch", "error")
    copies = [(copy["version"], copy["location"]) for copy in shadowed.evidence["copies"]]
    own = tmp_path / "project/.venv" / system.site.relative_to(system.prefix)
    assert copies == [("2.2.1", str(own)), ("2.2.0", str(system.site))]


def test_same_version_twice_is_no_error(tmp_path, system):
    (found,) = findings(venv(tmp_path, system, "true", "2.2.0").check(), "packages/shadowed")
    assert found.severity.label == "note"


def test_control_an_isolated_venv_is_silent(tmp_path, system):
    report = venv(tmp_path, system, "false", "2.2.1").check(ignore=["environment/dangling-python"])
    assert findings(report) == []
