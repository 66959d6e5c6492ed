"""jhj0517/Whisper-WebUI#653: the same torch from another index starts, says CUDA is there, and cannot run on Pascal."""

import pytest
from fakes import FakeHost
from values import driver, findings, gpu, interpreter

from envdoctor.facts import arch_list
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Severity, Target
from envdoctor.probes.cuda.arch_unsupported import check

PASCAL = driver(gpu(capability=(6, 1), name="NVIDIA GeForce GTX 1080 Ti"), version="560.94", cuda=(12, 6))
SAVED = {
    "2.8.0+cu128": b"sm_70 sm_75 sm_80 sm_86 sm_90 sm_100 sm_120",
    "2.8.0+cu126": b"sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90",
}


def judged(folder, version, *, saved):
    library = folder / "torch/lib/libtorch_python.so"
    library.parent.mkdir(parents=True)
    if saved:
        library.write_bytes(b"\x7fELF\0" + SAVED[version] + b"\0")
    build = TorchBuild(str(folder / "torch/version.py"), version, f"12.{version[-1]}")
    archs = arch_list.collect(Target("/env", ""), FakeHost(), interpreter(), build)
    assert archs.source == ("file" if saved else "knowledge")
    return findings(check, driver=PASCAL, arch_list=archs, torch_build=build)


@pytest.mark.parametrize("saved", [True, False])
def test_the_build_without_pascal_is_an_error_that_names_the_build_with_it(saved, tmp_path):
    (found,) = judged(tmp_path, "2.8.0+cu128", saved=saved)
    assert (found.severity, found.subject) == (Severity.ERROR, "cuda:0")
    assert "2.8.0+cu126" in found.remedy[0]


@pytest.mark.parametrize("saved", [True, False])
def test_control_the_other_index_holds_code_for_6_0_which_6_1_runs(saved, tmp_path):
    assert judged(tmp_path, "2.8.0+cu126", saved=saved) == []
