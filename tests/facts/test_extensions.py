"""Extensions that promise nothing are held against the installed torch, symbol by symbol."""

import pytest
from elves import elf
from fakes import FakeHost
from patients import Patient, Wheel

from envdoctor.facts import distributions, extensions, interpreter, search_path, torch_build
from envdoctor.facts.extensions import cuda_major, newest_glibc
from envdoctor.model import Target

NEW = "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
OLD = "_ZN3c105ErrorC2ENS_14SourceLocationESs"
AT, PYTHON = "_ZN2at5emptyEv", "_Z16THPVariable_WrapN2at6TensorE"
PLAIN = "cp311-cp311-linux_x86_64"
MANYLINUX = "cp311-cp311-manylinux_2_28_x86_64"


def torch(c10=(OLD,), **libraries):
    files = {
        "torch/version.py": "__version__ = '2.6.0+cu124'\ncuda = '12.4'\n",
        "torch/lib/libc10.so": elf(soname="libc10.so", defined=c10),
        "torch/lib/libtorch_cpu.so": elf(soname="libtorch_cpu.so", defined=[AT]),
        "torch/lib/libtorch_python.so": elf(soname="libtorch_python.so", defined=[PYTHON]),
    }
    return Wheel("torch", "2.6.0", files | libraries, tag=PLAIN)


def wheel(*undefined, name="flash-attn", tag=PLAIN, requires=(), files=None, **fields):
    fields = {"needed": ["libc10.so", "libtorch_cpu.so"], "undefined": undefined, "defined": ["PyInit_x"]} | fields
    return Wheel(name, "2.8.0", files or {f"{name}_cuda.so": elf(**fields)}, requires, tag=tag)


def collect(folder, *wheels):
    patient = Patient(folder)
    for item in wheels:
        patient.install(item)
    target, host = Target(str(patient.prefix), str(patient.python)), FakeHost()
    path = search_path.collect(target, host, interpreter.collect(target, patient.host()))
    build = torch_build.collect(target, host, path)
    return extensions.collect(target, host, distributions.collect(target, host, path), build)


def only(folder, *wheels):
    (found,) = collect(folder, *wheels).items
    return found


def test_symbols_of_any_of_torchs_libraries_are_found(tmp_path):
    found = only(tmp_path, torch(), wheel(OLD, AT, PYTHON, "_ZNSt6vectorE", "malloc"))
    assert (found.name, found.path, found.uses_torch) == ("flash-attn", "flash-attn_cuda.so", True)
    assert (found.missing, found.missing_libraries, found.problem) == ((), (), None)


def test_a_symbol_that_torch_has_not_is_missing(tmp_path):
    found = only(tmp_path, torch(), wheel(NEW, AT))
    assert (found.missing, found.missing_count) == ((NEW,), 1)


def test_only_the_first_few_are_kept(tmp_path):
    found = only(tmp_path, torch(), wheel(*(f"_ZN2at{number:03}xEv" for number in range(30))))
    assert (len(found.missing), found.missing_count) == (extensions.SHOWN, 30)


def test_weak_symbols_and_those_of_the_packages_own_objects_are_not_missing(tmp_path):
    own = "_ZN5torch6myown4callEv"
    files = {
        "a.so": elf(undefined=[own], weak=[NEW], defined=["PyInit_a"]),
        "lib/b.so": elf(soname="b.so", defined=[own]),
    }
    assert [item.missing for item in collect(tmp_path, torch(), wheel(files=files)).items] == [(), ()]


@pytest.mark.parametrize(
    "symbol", ["_ZNK3c106x4sizeEv", "_ZTIN2at1xE", "_ZTVN5torch1xE", "_ZNR5torch7LibraryEv", "_Z3THPv"]
)
def test_every_form_of_name_is_looked_for(tmp_path, symbol):
    assert only(tmp_path, torch(), wheel(symbol)).missing == (symbol,)


def test_libraries_of_torch_that_are_not_there_are_named(tmp_path):
    needed = ["libc10.so", "libtorch_cuda_cpp.so", "libtorch_own.so", "libm.so.6"]
    files = {"a.so": elf(needed=needed, defined=["PyInit_a"]), "libs/libtorch_own.so": elf(defined=["x"])}
    found = collect(tmp_path, torch(), wheel(files=files)).items[0]
    assert found.missing_libraries == ("libtorch_cuda_cpp.so",)


@pytest.mark.parametrize(
    ("tag", "name", "requires", "looked_at"),
    [
        (PLAIN, "anything", (), True),
        (MANYLINUX, "anything", (), False),
        (MANYLINUX, "anything", ("torch>=2.0",), True),
        (MANYLINUX, "anything", ("torchvision", "torch-scatter"), False),
        (MANYLINUX, "flash-attn", (), True),
        ("py3-none-any", "anything", ("torch",), False),
    ],
    ids=["plain tag", "manylinux", "requires torch", "requires others", "known", "pure"],
)
def test_what_is_looked_at(tmp_path, tag, name, requires, looked_at):
    found = collect(tmp_path, torch(), wheel(NEW, name=name, tag=tag, requires=requires))
    assert bool(found.items) == looked_at


def test_without_tags_nothing_is_promised(tmp_path):
    patient = Patient(tmp_path / "x")
    info = patient.install(wheel(NEW, name="odd"))
    (info / "WHEEL").unlink()
    patient.install(torch())
    target, host = Target(str(patient.prefix), str(patient.python)), FakeHost()
    path = search_path.collect(target, host, interpreter.collect(target, patient.host()))
    installed = distributions.collect(target, host, path)
    found = extensions.collect(target, host, installed, torch_build.collect(target, host, path))
    assert [item.name for item in found.items] == ["odd"]


def test_glibc_and_cuda_are_read_without_torch(tmp_path):
    needed = ["libcudart.so.12", "libc.so.6"]
    found = collect(tmp_path, wheel(NEW, needed=needed, versions=["GLIBC_2.9", "GLIBC_2.32", "GLIBC_PRIVATE"]))
    assert found.unjudged == "torch is not installed"
    (item,) = found.items
    assert (item.glibc, item.cuda, item.missing) == ("2.32", 12, ())


def test_a_torch_library_that_cannot_be_read_makes_nothing_missing(tmp_path):
    found = collect(tmp_path, torch(**{"torch/lib/libtorch_cpu.so": b"text"}), wheel(NEW))
    assert "libtorch_cpu.so" in found.unjudged
    assert found.items[0].missing == ()


def test_a_torch_without_libraries_is_not_judged_by(tmp_path):
    found = collect(tmp_path, Wheel("torch", "2.6.0", {"torch/version.py": "cuda = '12.4'\n"}), wheel(NEW))
    assert "has no libc10.so" in found.unjudged
    assert found.items[0].missing == ()


def test_an_object_that_is_none_is_a_problem(tmp_path):
    found = only(tmp_path, torch(), wheel(files={"x.so": b"text"}))
    assert "no shared object" in found.problem


@pytest.mark.parametrize(
    ("versions", "newest"),
    [
        (("GLIBC_2.9", "GLIBC_2.17", "GLIBCXX_3.4.30", "GLIBC_ABI_DT_RELR"), "2.17"),
        ((), None),
        (("GLIBC_2.2.5",), "2.2.5"),
    ],
)
def test_newest_glibc(versions, newest):
    assert newest_glibc(versions) == newest


@pytest.mark.parametrize(
    ("needed", "major"), [(["libcudart.so.11.0"], 11), (["libcudart.so.13"], 13), (["libm.so"], None)]
)
def test_cuda_major(needed, major):
    assert cuda_major(needed) == major
