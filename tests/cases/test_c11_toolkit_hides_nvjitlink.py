"""LD_LIBRARY_PATH hides the wheel's nvJitLink from its cuSPARSE: infiniflow/ragflow#4466, pytorch/pytorch#141063."""

import pytest
from elves import elf, write
from patients import Patient, Wheel, findings

LINK, SPARSE = "nvidia/nvjitlink/lib/libnvJitLink.so.12", "nvidia/cusparse/lib/libcusparse.so.12"
RPATH = "$ORIGIN/../../nvidia/cusparse/lib:$ORIGIN"
TORCH = Wheel(
    "torch",
    "2.5.1",
    {
        "torch/__init__.py": "",
        "torch/version.py": "__version__ = '2.5.1+cu124'\ncuda = '12.4'\nhip = None\n",
        "torch/_C.cpython-311-x86_64-linux-gnu.so": elf(needed=["libtorch_cuda.so"], rpath="$ORIGIN/lib"),
        "torch/lib/libtorch_cuda.so": elf(needed=["libcusparse.so.12"], rpath=RPATH),
    },
    ("nvidia-nvjitlink-cu12==12.4.127", "nvidia-cusparse-cu12==12.3.1.170"),
    tag="cp311-cp311-manylinux1_x86_64",
)
"""As linked upstream: DT_RPATH names cuSPARSE's directory, not nvJitLink's."""


@pytest.fixture
def patient(tmp_path):
    found = Patient(tmp_path)
    found.install(Wheel("nvidia-nvjitlink-cu12", "12.4.127", {LINK: elf(soname="libnvJitLink.so.12")}))
    sparse = elf(needed=["libnvJitLink.so.12"], runpath="$ORIGIN/../../nvjitlink/lib")
    found.install(Wheel("nvidia-cusparse-cu12", "12.3.1.170", {SPARSE: sparse}))
    found.install(TORCH, requested=True)
    return found


def check(patient, folder):
    return findings(patient.check("cuda/library-shadowed", env={"LD_LIBRARY_PATH": folder}), "cuda/library-shadowed")


def test_toolkit_on_the_path_is_an_error_that_names_the_library_and_both_places(patient, tmp_path):
    write(tmp_path / "cuda-12.1/lib64/libnvJitLink.so.12")
    (found,) = check(patient, f"{tmp_path}/cuda-12.1/lib64")
    assert found.severity.label == "error"
    assert "libnvJitLink.so.12" in found.message
    assert f"{tmp_path}/cuda-12.1/lib64" in found.message
    assert f"{patient.site}/nvidia/nvjitlink/lib" in found.message
    assert found.remedy[0] == "unset LD_LIBRARY_PATH"


def test_it_is_found_by_the_bare_rule_where_torch_cannot_be_followed(tmp_path):
    patient = Patient(tmp_path)
    patient.install(Wheel("nvidia-nvjitlink-cu12", "12.4.127", {LINK: b"any bytes"}))
    (tmp_path / "cuda-12.1/lib64").mkdir(parents=True)
    (tmp_path / "cuda-12.1/lib64/libnvJitLink.so.12").write_bytes(b"other bytes")
    (found,) = check(patient, f"{tmp_path}/cuda-12.1/lib64")
    assert found.severity.label == "error"


def test_the_environments_directory_first_is_the_cure(patient, tmp_path):
    write(tmp_path / "cuda-12.1/lib64/libnvJitLink.so.12")
    (found,) = check(patient, f"{patient.site}/nvidia/nvjitlink/lib:{tmp_path}/cuda-12.1/lib64")
    assert found.severity.label == "warning"


def test_control_unrelated_libraries_are_silent(patient, tmp_path):
    write(tmp_path / "lib/libfoo.so.1")
    write(tmp_path / "lib/libnvJitLink.so.11")
    assert check(patient, f"{tmp_path}/lib") == []
    assert check(patient, f"{tmp_path}/nowhere") == []
