"""What torch would load from where, on an environment laid out as NVIDIA's wheels and torch's are."""

import os

import pytest
from elves import elf, write
from fakes import FakeHost
from patients import Patient, Wheel

from envdoctor.facts import distributions, interpreter, loader, nvidia_wheels, search_path, torch_build
from envdoctor.facts.loader import parse_preloads
from envdoctor.model import Target

RPATH = "$ORIGIN/../../nvidia/cusparse/lib:$ORIGIN/../../nvidia/cuda_runtime/lib:$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN"
WITHOUT = "def _load_global_deps() -> None:\n    try:\n        load()\n    except OSError as err:\n        pass\n"
WITH = """
def _preload_cuda_deps(err=None):
    cuda_libs: list[tuple[str, str]] = [
        ("cudnn", "libcudnn.so.*[0-9]"),
        ("nvjitlink", "libnvJitLink.so.*[0-9]"),
    ]


def _load_global_deps() -> None:
    try:
        load()
        if "libcudart.so" not in _maps:
            return
        _preload_cuda_deps()
    except OSError as err:
        _preload_cuda_deps(err)
"""
SINGLE = """
def _load_global_deps() -> None:
    try:
        if "nvidia/cuda_runtime/lib/libcudart.so" not in _maps:
            return
        _preload_cuda_deps("cuda_nvrtc", "libnvrtc.so.*[0-9]")
        _preload_cuda_deps("nvjitlink", "libnvJitLink.so.*[0-9]")
    except OSError as err:
        cuda_libs = {"cublas": "libcublas.so.*[0-9]"}
"""


def torch(source=WITHOUT, cuda="12.4"):
    """torch as its CUDA 12 wheels are linked: DT_RPATH to the NVIDIA wheels, nvJitLink left to cuSPARSE."""
    needed = ["libcusparse.so.12", "libcudart.so.12", "libcudnn.so.9", "libtorch_cpu.so"]
    files = {
        "torch/__init__.py": "\n" + source,
        "torch/version.py": f"__version__ = '2.5.1'\ncuda = {cuda!r}\n",
        "torch/_C.cpython-311-x86_64-linux-gnu.so": elf(needed=["libtorch_python.so"], runpath="$ORIGIN/lib"),
        "torch/lib/libtorch_python.so": elf(needed=["libtorch_cuda.so"], rpath=RPATH, soname="libtorch_python.so"),
        "torch/lib/libtorch_cuda.so": elf(needed=needed, rpath=RPATH, soname="libtorch_cuda.so"),
        "torch/lib/libtorch_cpu.so": elf(rpath=RPATH, soname="libtorch_cpu.so"),
        "torch/lib/libtorch_global_deps.so": elf(needed=["libcudart.so.12"], rpath=RPATH),
    }
    return Wheel("torch", "2.5.1", files)


def nvidia(name, folder, *sonames, **fields):
    files = {f"nvidia/{folder}/lib/{soname}": elf(soname=soname, **fields) for soname in sonames}
    return Wheel(f"nvidia-{name}-cu12", "12.4.5", files)


@pytest.fixture
def patient(tmp_path):
    found = Patient(tmp_path)
    found.install(torch())
    found.install(nvidia("cuda-runtime", "cuda_runtime", "libcudart.so.12"))
    link = {"needed": ["libnvJitLink.so.12"], "runpath": "$ORIGIN/../../nvjitlink/lib"}
    found.install(nvidia("cusparse", "cusparse", "libcusparse.so.12", **link))
    found.install(nvidia("nvjitlink", "nvjitlink", "libnvJitLink.so.12"))
    found.install(nvidia("cudnn", "cudnn", "libcudnn.so.9", "libcudnn_ops.so.9", runpath="$ORIGIN"))
    return found


def collect(patient, root="", **env):
    target, host = Target(str(patient.prefix), str(patient.python)), FakeHost(env=env, root=root)
    python = interpreter.collect(target, patient.host())
    path = search_path.collect(target, host, python)
    wheels = nvidia_wheels.collect(target, host, distributions.collect(target, host, path))
    return loader.collect(target, host, python, path, wheels, torch_build.collect(target, host, path))


def taken(found, soname):
    item = found.resolution(soname)
    return (os.path.dirname(item.path).removesuffix("/lib").rpartition("/")[2], item.by) if item else None


def test_untouched_machine_takes_everything_from_the_wheels(patient):
    found = collect(patient)
    assert found.unknown is None
    assert {item.soname: item.by for item in found.resolutions} == {
        "libcudart.so.12": "RPATH",
        "libcusparse.so.12": "RPATH",
        "libcudnn.so.9": "RPATH",
        "libnvJitLink.so.12": "RUNPATH",
        "libcudnn_ops.so.9": "RUNPATH",
    }
    assert all(item.path.startswith(str(patient.site)) for item in found.resolutions)


def test_toolkit_on_the_path_gives_what_wheels_ask_by_runpath(patient, tmp_path):
    names = ("libnvJitLink.so.12", "libcusparse.so.12", "libcudnn_ops.so.9", "libother.so.1")
    for name in names:
        write(tmp_path / "cuda-12.1/lib64" / name)
    found = collect(patient, LD_LIBRARY_PATH=f"{tmp_path}/cuda-12.1/lib64")
    assert taken(found, "libnvJitLink.so.12") == ("lib64", "LD_LIBRARY_PATH")
    assert taken(found, "libcudnn_ops.so.9") == ("lib64", "LD_LIBRARY_PATH")
    assert taken(found, "libcusparse.so.12") == ("cusparse", "RPATH")
    (folder,) = found.folders
    assert [copy.soname for copy in folder.libraries] == sorted(names[:3])
    assert folder.libraries[2].bundled == str(patient.site / "nvidia/nvjitlink/lib/libnvJitLink.so.12")


def test_what_torch_loads_by_its_path_is_safe(patient, tmp_path):
    patient.install(torch(WITH))
    write(tmp_path / "toolkit/libnvJitLink.so.12")
    found = collect(patient, LD_LIBRARY_PATH=f"{tmp_path}/toolkit")
    assert taken(found, "libnvJitLink.so.12") == ("nvjitlink", "torch")


def test_torch_gives_up_preloading_at_the_first_library_that_is_not_there(patient, tmp_path):
    patient.install(torch(WITH))
    patient.delete("nvidia/cudnn/lib/libcudnn.so.9")
    write(tmp_path / "toolkit/libnvJitLink.so.12")
    found = collect(patient, LD_LIBRARY_PATH=f"{tmp_path}/toolkit")
    assert taken(found, "libnvJitLink.so.12") == ("toolkit", "LD_LIBRARY_PATH")


def test_it_preloads_nothing_where_its_condition_on_libcudart_fails(patient, tmp_path):
    write(tmp_path / "toolkit/libnvJitLink.so.12")
    for place, expected in (("nvidia/cuda_runtime", "nvjitlink"), ("nvidia/elsewhere", "toolkit")):
        patient.install(torch(WITH.replace("libcudart.so", f"{place}/lib/libcudart.so")))
        found = collect(patient, LD_LIBRARY_PATH=f"{tmp_path}/toolkit")
        assert taken(found, "libnvJitLink.so.12")[0] == expected


def test_a_source_of_torch_that_is_a_fifo_preloads_nothing_and_is_not_waited_for(patient, tmp_path):
    patient.fifo("torch/__init__.py")
    write(tmp_path / "toolkit/libnvJitLink.so.12")
    found = collect(patient, LD_LIBRARY_PATH=f"{tmp_path}/toolkit")
    assert taken(found, "libnvJitLink.so.12") == ("toolkit", "LD_LIBRARY_PATH")


def test_ld_preload_comes_first(patient, tmp_path):
    path = write(tmp_path / "mine/libcudart.so.12", soname="libcudart.so.12")
    found = collect(patient, LD_PRELOAD=f"{path} libnot.so")
    assert found.preload == (path, "libnot.so")
    assert found.resolution("libcudart.so.12").by == "LD_PRELOAD"


def test_entries_are_described(patient, tmp_path):
    write(tmp_path / "cuda/lib64/stubs/libcuda.so")
    write(tmp_path / "cuda-12.8/compat/libcuda.so.570.1")
    (tmp_path / "cuda-12.8/compat/libcuda.so.1").symlink_to("libcuda.so.570.1")
    entries = [f"{tmp_path}/cuda/lib64/stubs", f"{tmp_path}/cuda-12.8/compat", f"{tmp_path}/gone", ""]
    found = collect(patient, LD_LIBRARY_PATH=":".join(entries)).folders
    assert [(folder.kind, folder.exists) for folder in found] == [
        ("stub", True),
        ("compat", True),
        ("native", False),
        ("native", False),
    ]
    assert [copy.soname for copy in found[0].libraries] == ["libcuda.so"]
    assert [(copy.soname, copy.version) for copy in found[1].libraries] == [
        ("libcuda.so.1", "570.1"),
        ("libcuda.so.570.1", "570.1"),
    ]
    assert found[3].path == FakeHost().cwd


def test_the_wheels_own_directory_hides_nothing(patient, tmp_path):
    (tmp_path / "link").symlink_to(patient.site / "nvidia/nvjitlink/lib")
    found = collect(patient, LD_LIBRARY_PATH=f"{tmp_path}/link")
    assert [copy.bundled for copy in found.folders[0].libraries] == [None]


def test_entries_lie_below_the_root(patient, tmp_path):
    write(tmp_path / "image/opt/cuda/lib64/libnvJitLink.so.12")
    (tmp_path / "image/usr").mkdir()
    (tmp_path / "image/usr/cuda").symlink_to("/opt/cuda")
    (folder,) = collect(patient, root=f"{tmp_path}/image", LD_LIBRARY_PATH="/usr/cuda/lib64").folders
    assert (folder.path, folder.exists, len(folder.libraries)) == ("/usr/cuda/lib64", True, 1)


def test_cpu_torch_and_no_torch_and_a_torch_without_its_libraries_are_said(tmp_path):
    patient = Patient(tmp_path)
    assert collect(patient).unknown == "torch is not installed"
    patient.install(torch(cuda=None))
    assert collect(patient).unknown == "torch is not built for CUDA"
    patient.install(torch())
    patient.delete("torch/lib/libtorch_cuda.so")
    assert "has no libtorch_cuda.so" in collect(patient).unknown


def test_preloads_are_read_off_the_source():
    assert parse_preloads("\n" + WITHOUT) == ("", ())
    pairs = (("cudnn", "libcudnn.so.*[0-9]"), ("nvjitlink", "libnvJitLink.so.*[0-9]"))
    assert parse_preloads(WITH) == ("libcudart.so", pairs)
    pairs = (("cuda_nvrtc", "libnvrtc.so.*[0-9]"), ("nvjitlink", "libnvJitLink.so.*[0-9]"))
    assert parse_preloads(SINGLE) == ("nvidia/cuda_runtime/lib/libcudart.so", pairs)
    assert parse_preloads("") == ("", ())
