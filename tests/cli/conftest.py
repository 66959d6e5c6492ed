"""A small locked environment, and the doctor to ask about it."""

import pytest
from doctor import Doctor
from patients import Patient, Wheel

WHEELS = (
    Wheel("numpy", "2.3.5", {"numpy/__init__.py": "pi = 3\n"}),
    Wheel("transformers", "5.6.0", {"transformers/__init__.py": "x = 1\n", "transformers/models.py": ""}, ("numpy",)),
)


@pytest.fixture
def patient(tmp_path):
    """A healthy environment with its lock beside it, found without being named."""
    found = Patient(tmp_path / "project")
    for wheel in WHEELS:
        found.install(wheel, requested=True)
    found.lock(WHEELS)
    return found


@pytest.fixture
def doctor(tmp_path):
    return Doctor(tmp_path)
