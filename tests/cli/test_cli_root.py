"""`check --root DIR`: files below DIR are read, nothing below DIR is run, no link leads out."""

import pytest
from patients import Patient, Wheel


@pytest.fixture
def image(tmp_path):
    """An unpacked image with a venv whose python, if it were run, would leave a mark."""
    root = tmp_path / "image"
    patient = Patient(root / "opt", "venv", minor="3.12", base=root / "usr/bin/python3.12")
    patient.install(Wheel("numpy", "2.3.5", {"numpy/__init__.py": "pi = 3\n"}))
    mark = tmp_path / "was-run"
    (root / "usr/bin").mkdir(parents=True, exist_ok=True)
    (root / "usr/bin/python3.12").write_text(f"#!/bin/sh\ntouch {mark}\n")
    (root / "usr/bin/python3.12").chmod(0o755)
    patient.python.unlink()
    patient.python.symlink_to("/usr/bin/python3.12")
    patient.configure(home="/usr/bin", version="3.12.3")
    return root, patient, mark


def test_a_python_of_the_image_is_found_and_not_run(image, doctor):
    root, patient, mark = image
    answer = doctor.check(patient.prefix, "--root", root)
    assert not mark.exists()
    assert answer.report["target"]["python"] == "3.12.3"
    assert answer.findings("environment/dangling-python") == []
    assert answer.status == 0


def test_a_link_to_what_the_image_has_not_is_dangling_though_this_machine_has_it(image, doctor):
    root, patient, _ = image
    patient.python.unlink()
    patient.python.symlink_to("/bin/sh")
    (finding,) = doctor.check(patient.prefix, "--root", root).findings("environment/dangling-python")
    assert "leads to nothing" in finding["message"]


def test_damage_in_an_image_is_seen(image, doctor):
    root, patient, _ = image
    patient.delete("numpy/__init__.py")
    answer = doctor.check(patient.prefix, "--root", root)
    assert ("packages/missing-file", "numpy") in answer.said("error")


def test_a_root_that_is_no_directory_is_usage(patient, doctor, tmp_path):
    answer = doctor("check", "--target", patient.prefix, "--root", tmp_path / "none")
    assert answer.status == 2
    assert "is not a directory" in answer.stderr
