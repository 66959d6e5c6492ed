"""NVIDIA's wheels are told by directory, suffix and table; the libraries they own are looked for on disk."""

import pytest
from fakes import FakeHost
from patients import Patient, Wheel

from envdoctor.facts import distributions, interpreter, nvidia_wheels, search_path
from envdoctor.facts.nvidia_wheels import Library, NvidiaWheel, NvidiaWheels, family
from envdoctor.model import Target


def collect(patient):
    target, host = Target(str(patient.prefix), str(patient.python)), FakeHost()
    path = search_path.collect(target, host, interpreter.collect(target, patient.host()))
    return nvidia_wheels.collect(target, host, distributions.collect(target, host, path))


@pytest.mark.parametrize(
    ("name", "paths", "cuda"),
    [
        ("nvidia-nccl-cu12", ["nvidia/nccl/lib/libnccl.so.2"], 12),
        ("nvidia-nccl-cu13", ["nvidia/nccl/lib/libnccl.so.2"], 13),
        ("nvidia-cublas", ["nvidia/cu13/lib/libcublas.so.13"], 13),
        ("nvidia-cublas", ["nvidia/cu14/lib/libcublas.so.14"], 14),
        ("nvidia-odd-cu12", ["nvidia/cu13/lib/libodd.so.13"], 13),
        ("nvidia-cublas", [], 13),
        ("nvidia-cudnn-cu11", [], 11),
        ("nvidia-npp-cu12", [], 12),
        ("nvidia-ml-py", ["pynvml.py"], None),
    ],
)
def test_family_is_told_by_directory_then_suffix_then_table(name, paths, cuda):
    assert family(name, paths) == cuda


def test_libraries_are_those_of_the_record_and_missing_ones_are_said(tmp_path):
    patient = Patient(tmp_path)
    there, gone, header = (f"nvidia/nccl/{name}" for name in ("lib/libnccl.so.2", "lib/libx.so", "include/nccl.h"))
    patient.install(Wheel("nvidia-nccl-cu13", "2.28.9", {there: b"\x7fELF", gone: b"", header: b""}))
    patient.install(Wheel("nvidia-ml-py", "13.0", {"pynvml.py": ""}))
    patient.install(Wheel("six", "1.0", {"six.py": ""}))
    patient.delete(gone)
    nccl, ml = sorted(collect(patient).wheels, key=lambda wheel: wheel.name != "nvidia-nccl-cu13")
    assert nccl == NvidiaWheel(
        "nvidia-nccl-cu13",
        "2.28.9",
        13,
        (
            Library("libnccl.so.2", str(patient.site / there)),
            Library("libx.so", str(patient.site / gone), exists=False),
        ),
    )
    assert nccl.library == "nvidia-nccl"
    assert (ml.cuda, ml.libraries) == (None, ())
    assert collect(patient).bundled() == {"libnccl.so.2": str(patient.site / there)}


def test_wheel_without_a_record_owns_nothing_that_is_known(tmp_path):
    patient = Patient(tmp_path)
    info = patient.install(Wheel("nvidia-nccl-cu13", "2.28.9", {"nvidia/nccl/lib/libnccl.so.2": b""}))
    (info / "RECORD").unlink()
    assert collect(patient) == NvidiaWheels((NvidiaWheel("nvidia-nccl-cu13", "2.28.9", 13),))
