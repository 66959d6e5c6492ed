"""flash-attn built with the new C++11 ABI beside a torch with the old one: huggingface/open-r1#684."""

import pytest
from elves import elf
from patients import Patient, Wheel, findings

NEW = "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
OLD = "_ZN3c105ErrorC2ENS_14SourceLocationESs"
NAME = "flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so"


def torch(*symbols):
    files = {
        "torch/__init__.py": "",
        "torch/version.py": "__version__ = '2.6.0+cu124'\ncuda = '12.4'\nhip = None\n",
        "torch/lib/libc10.so": elf(soname="libc10.so", defined=symbols),
    }
    return Wheel("torch", "2.6.0", files)


def flash(version, symbol):
    return Wheel("flash-attn", version, {NAME: elf(needed=["libc10.so"], undefined=[symbol], defined=["PyInit_x"])})


@pytest.fixture
def patient(tmp_path):
    found = Patient(tmp_path)
    found.install(torch(OLD))
    info = found.install(flash("2.8.0.post2", NEW), requested=True)
    (info / "WHEEL").unlink()
    return found


def check(patient, **options):
    return findings(patient.check("packages/extension-abi", **options), "packages/extension-abi")


def test_a_symbol_of_the_new_abi_is_missed_in_a_torch_with_the_old_one(patient):
    (found,) = check(patient)
    assert (found.severity.label, found.subject) == ("error", "flash-attn")
    assert NEW in found.message
    assert "C++11 ABI" in found.message
    assert any("--no-build-isolation" in step for step in found.remedy)


def test_the_fix_names_the_version_of_the_lock(patient):
    (found,) = check(patient, lock=patient.lock([torch(OLD), flash("2.7.4.post1", OLD)]))
    assert found.remedy[0].endswith("flash-attn==2.7.4.post1")


def test_control_the_matching_build_is_silent(tmp_path):
    patient = Patient(tmp_path)
    patient.install(torch(OLD))
    patient.install(flash("2.7.4.post1", OLD))
    assert check(patient) == []


def test_control_a_torch_with_both_spellings_is_silent(patient):
    patient.install(torch(OLD, NEW))
    assert check(patient) == []
