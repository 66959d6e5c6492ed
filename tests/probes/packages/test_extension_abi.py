"""An extension that misses torch's symbols, its libraries, or its CUDA major cannot be loaded."""

import pytest
from values import (
    PIP,
    distribution,
    distributions,
    extension,
    extensions,
    findings,
    lock,
    nvidia_wheels,
    torch_build,
)

from envdoctor.model import Severity
from envdoctor.probes.packages.extension_abi import check

NEW = "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
OLD = "_ZN3c105ErrorC2ENS_14SourceLocationESs"
TORCH = torch_build("2.6.0+cu124", "12.4")
FLASH = distribution("flash-attn", "2.8.0.post2")


def judge(*items, **facts):
    given = {
        "distributions": distributions(FLASH, "torch==2.6.0", "pip"),
        "nvidia_wheels": nvidia_wheels(),
        "torch_build": TORCH,
    }
    return findings(check, **({"extensions": extensions(*items)} | given | facts))


def missing(*symbols, **fields):
    return extension(uses_torch=True, missing=symbols, missing_count=len(symbols), **fields)


def test_a_symbol_of_the_new_abi_is_an_error_that_says_so():
    (found,) = judge(missing(NEW))
    assert (found.severity, found.subject) == (Severity.ERROR, "flash-attn")
    assert NEW in found.message
    assert "with the new C++11 ABI, torch with the old one" in found.message
    assert found.evidence["objects"][0]["missing"] == [NEW]


def test_the_other_way_round_and_neither():
    assert "with the old C++ ABI" in judge(missing(OLD))[0].message
    assert "ABI" not in judge(missing("_ZN2at5emptyEv"))[0].message


def test_the_version_of_the_lock_is_the_remedy():
    (found,) = judge(missing(NEW), lock=lock("flash-attn==2.7.4.post1"))
    assert found.remedy == (f"{PIP} install --force-reinstall --no-deps flash-attn==2.7.4.post1",)


def test_without_another_version_the_right_build_is():
    (found,) = judge(missing(NEW), lock=lock("flash-attn==2.8.0.post2"))
    wheel, source = found.remedy
    assert "built for torch 2.6.0+cu124 (its file name says so)" in wheel
    assert source.endswith("flash-attn==2.8.0.post2 --no-build-isolation --no-binary flash-attn")


def test_a_library_of_torch_that_is_gone():
    (found,) = judge(extension(uses_torch=True, missing_libraries=("libtorch_cuda_cpp.so",)))
    assert "libtorch_cuda_cpp.so" in found.message


def test_another_cuda_major_than_torchs():
    (found,) = judge(extension(uses_torch=True, cuda=13))
    assert "built for CUDA 13, torch for 12.4" in found.message


def test_one_finding_a_distribution():
    (found,) = judge(missing(NEW, path="a.so"), missing(OLD, path="b.so"))
    assert found.evidence["count"] == 2


def test_what_could_not_be_judged_is_a_note_that_says_why():
    objects = (extension(uses_torch=True), extension("numpy-like"))
    (found,) = judge(extensions=extensions(*objects, unjudged="libtorch_cpu.so is no shared object"))
    assert (found.severity, found.subject) == (Severity.NOTE, "flash-attn")
    assert "libtorch_cpu.so is no shared object" in found.message
    alone = distributions(FLASH, "pip")
    assert judge(extensions=extensions(*objects, unjudged="torch is not installed"), distributions=alone) == []
    assert judge(extensions=extensions(objects[1], unjudged="torch is not installed")) == []


@pytest.mark.parametrize(
    ("item", "facts"),
    [
        (extension(uses_torch=True, cuda=12), {}),
        (extension(uses_torch=False, cuda=13), {}),
        (extension(uses_torch=True, cuda=13), {"nvidia_wheels": nvidia_wheels(("nvidia-cuda-runtime==13.0.96",))}),
        (extension(uses_torch=True, cuda=12), {"torch_build": torch_build("2.6.0+cpu", None)}),
        (extension(problem="x.so is no shared object"), {}),
    ],
    ids=["fits", "no torch extension", "its runtime is there", "CPU torch", "unreadable"],
)
def test_healthy_neighbours(item, facts):
    assert judge(item, **facts) == []
