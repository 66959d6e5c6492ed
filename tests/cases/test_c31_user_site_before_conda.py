"""A package in ~/.local is imported before a conda environment's own: openwpm/OpenWPM#689, conda/conda#7173."""

import pytest
from patients import MINOR, Patient, Wheel, findings

TORCH = Wheel("torch", "2.6.0", {"torch/__init__.py": ""})


@pytest.fixture
def patient(tmp_path):
    """An environment with torch, and another torch in the user's ~/.local."""
    found = Patient(tmp_path)
    found.install(TORCH, requested=True)
    info = tmp_path / f"home/.local/lib/python{MINOR}/site-packages/torch-2.5.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.5.1\n")
    return found


def as_conda(patient):
    (patient.prefix / "pyvenv.cfg").unlink()
    (patient.prefix / "conda-meta").mkdir()


def with_system_site(patient):
    patient.configure(include_system_site_packages="true")


@pytest.mark.parametrize(("make", "place"), [(as_conda, "before"), (with_system_site, "after")])
def test_user_site_that_is_read_is_an_error_with_its_place(make, place, patient):
    make(patient)
    (found,) = findings(patient.check("environment/user-site"), "environment/user-site")
    assert found.severity.label == "error"
    assert f"searched {place} the environment's own" in found.message
    assert found.remedy[0] == "export PYTHONNOUSERSITE=1"


def test_torch_of_the_user_site_hides_conda_s(patient):
    as_conda(patient)
    (found,) = findings(patient.check("packages/shadowed"), "packages/shadowed")
    assert [copy["version"] for copy in found.evidence["copies"]] == ["2.5.1", "2.6.0"]


def test_pythonnousersite_switches_it_off(patient):
    as_conda(patient)
    report = patient.check(env={"PYTHONNOUSERSITE": "1"})
    assert [f.severity.label for f in findings(report, "environment/user-site")] == ["note"]
    assert findings(report, "packages/shadowed") == []


def test_control_a_plain_venv_ignores_the_user_site(patient):
    report = patient.check()
    assert [f.severity.label for f in findings(report, "environment/user-site")] == ["note"]
    assert report.verdict == "healthy"
