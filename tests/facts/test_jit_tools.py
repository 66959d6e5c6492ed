"""What compiling at run time takes is found as triton and inductor look for it."""

import os
import shutil
import subprocess

import pytest
from fakes import FakeHost
from patients import MINOR, Patient, Wheel
from toolboxes import elf, ld_cache, stub, touch
from values import interpreter

from envdoctor.facts import interpreter as interpreters
from envdoctor.facts import jit_tools
from envdoctor.facts.jit_tools import Compiler, Place, Ptxas, toolchain
from envdoctor.facts.search_path import PathEntry, SearchPath, collect
from envdoctor.model import Target

LIB = "/usr/lib/x86_64-linux-gnu"
OWN = "triton/backends/nvidia/bin"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def below(root, python=None, **env):
    """Collect below a root, with site-packages at `<root>/site`."""
    host = FakeHost(env={"PATH": "/usr/bin", **env}, root=str(root))
    path = SearchPath((PathEntry(str(root / "site"), "site-packages"),), None, user_site_enabled=False)
    return jit_tools.collect(Target(str(root), ""), host, python or interpreter(include=None), path)


def triton(root, version="3.6.0", text="__version__ = '{}'\n"):
    touch(root / "site/triton/__init__.py").write_text('"""isort:skip_file"""\n' + text.format(version))
    return root / "site"


# triton


@pytest.mark.parametrize(
    ("version", "known", "blackwell"),
    [
        ("3.6.0", True, 100),
        ("3.9.0+gitabc", True, 90),
        ("3.4.0", True, None),
        ("2.3.1", True, None),
        ("9.9.0", False, None),
        ("3.60.0", False, None),
    ],
)
def test_triton_and_what_is_known_of_its_release(version, known, blackwell, root):
    triton(root, version)
    found = below(root).triton
    assert (found.version, found.known, found.blackwell) == (version, known, blackwell)


def test_the_metadata_tells_the_version_where_the_package_does_not(root):
    triton(root, text="")
    assert below(root).triton.version is None
    (root / "site/pytorch_triton-3.5.1.dist-info").mkdir()
    assert below(root).triton.version == "3.5.1"


def test_no_triton(root):
    (root / "site/triton_kernels-1.0.dist-info").mkdir(parents=True)
    found = below(root, TRITON_PTXAS_PATH="/usr/bin/ptxas")
    assert (found.triton, found.ptxas) == (None, ())


def test_series_are_told_apart_from_longer_numbers():
    assert toolchain("3.6")["triton"] == "3.6"
    assert toolchain("3.60.0") == toolchain("3") == toolchain(None) == toolchain("nightly") == {}


# ptxas


def test_the_bundled_ptxas_is_known_by_triton_s_release(root):
    site = triton(root)
    touch(site / OWN / "ptxas")
    touch(site / OWN / "ptxas-blackwell")
    assert below(root).ptxas == (
        Ptxas("ptxas", f"{site}/{OWN}/ptxas", "12.8.93"),
        Ptxas("ptxas-blackwell", f"{site}/{OWN}/ptxas-blackwell", "12.9.86"),
    )


def test_one_that_is_not_in_the_table_or_was_replaced_by_a_link_is_read(root):
    site = triton(root, "3.6.9")
    elf(site / OWN / "ptxas", "12.7")
    assert [item.version for item in below(root).ptxas] == ["12.7.0"]
    triton(root)
    assert [item.version for item in below(root).ptxas] == ["12.8.93"]
    (site / OWN / "ptxas").rename(site / "other")
    (site / OWN / "ptxas").symlink_to(site / "other")
    assert [item.version for item in below(root).ptxas] == ["12.7.0"]


def test_the_table_is_of_one_machine(root):
    touch(triton(root) / OWN / "ptxas")
    arm = interpreter(markers={"platform_machine": "aarch64"})
    (item,) = below(root, arm).ptxas
    assert item.version is None
    assert item.problem


def test_which_ptxas_serves_a_gpu(root):
    site = triton(root)
    for name in ("ptxas", "ptxas-blackwell"):
        touch(site / OWN / name)
    found = below(root, TRITON_PTXAS_PATH="/gone/ptxas")
    assert [item.path for item in found.ptxas_for(90)] == ["/gone/ptxas", f"{site}/{OWN}/ptxas"]
    assert [item.name for item in found.ptxas_for(100)] == ["ptxas-blackwell"]
    triton(root, "9.9.0")
    assert below(root).ptxas_for(90) == ()


def test_a_variable_names_another_one_that_is_asked_for_its_version(tmp_path):
    patient = Patient(tmp_path)
    patient.install(Wheel("triton", "3.6.0", {"triton/__init__.py": "__version__ = '3.6.0'"}))
    named = stub(tmp_path / "bin/ptxas", "12.4")
    (found,) = on_disk(patient, TRITON_PTXAS_PATH=str(named), TRITON_PTXAS_BLACKWELL_PATH="").ptxas
    assert found == Ptxas("ptxas", str(named), "12.4.0", "TRITON_PTXAS_PATH")
    (found,) = on_disk(patient, TRITON_PTXAS_BLACKWELL_PATH="gone").ptxas
    assert (found.name, found.exists, found.variable) == ("ptxas-blackwell", False, "TRITON_PTXAS_BLACKWELL_PATH")


def on_disk(patient, **env):
    target, host = Target(str(patient.prefix), str(patient.python)), patient.host(**env)
    python = interpreters.collect(target, host)
    return jit_tools.collect(target, host, python, collect(target, host, python))


# Compilers


@pytest.mark.parametrize(
    ("programs", "env", "c", "cxx"),
    [
        (["gcc", "clang", "g++"], {}, Compiler("gcc", "/usr/bin/gcc"), Compiler("g++", "/usr/bin/g++")),
        (["clang", "clang++"], {}, Compiler("clang", "/usr/bin/clang"), Compiler("", None)),
        (["cc", "c++"], {}, Compiler("", None), Compiler("", None)),
        (["gcc"], {"CC": "gcc-13"}, Compiler("gcc-13", None, "CC"), Compiler("", None)),
        (["gcc"], {"CC": "/usr/bin/gcc"}, Compiler("/usr/bin/gcc", "/usr/bin/gcc", "CC"), Compiler("", None)),
        (["gcc", "ccache"], {"CC": "ccache gcc"}, Compiler("ccache gcc", None, "CC"), Compiler("", None)),
        (["gcc"], {"CC": ""}, Compiler("", None, "CC"), Compiler("", None)),
        (["g++-12"], {"CXX": "g++-12"}, Compiler("", None), Compiler("g++-12", "/usr/bin/g++-12", "CXX")),
    ],
)
def test_compilers_are_looked_for_as_triton_and_inductor_do(programs, env, c, cxx, root):
    for program in programs:
        stub(root / f"usr/bin/{program}", "1.0")
    found = below(root, **env)
    assert (found.c, found.cxx) == (c, cxx)


def test_a_compiler_that_is_no_program_is_not_there(root):
    touch(root / "usr/bin/gcc")
    (root / "usr/bin/clang").mkdir()
    assert below(root).c == Compiler("", None)


# Python.h


def test_headers_of_exactly_this_version_count(root):
    python = interpreter(include="/usr/include/python3.12")
    touch(root / "usr/include/python3.11/Python.h")
    header = below(root, python).header
    assert (header.expected, header.found) == ("/usr/include/python3.12/Python.h", None)
    assert header.others == ("/usr/include/python3.11/Python.h",)
    touch(root / "usr/include/python3.12/Python.h")
    assert below(root, python).header.found == "/usr/include/python3.12/Python.h"


def test_debian_s_local_scheme_is_no_fault(root):
    touch(root / "usr/include/python3.12/Python.h")
    python = interpreter(include="/usr/local/include/python3.12")
    assert below(root, python).header.found == "/usr/include/python3.12/Python.h"


@pytest.mark.parametrize("variable", ["CPATH", "C_INCLUDE_PATH"])
@pytest.mark.parametrize(("minor", "counts"), [("12", True), ("11", False)])
def test_headers_named_by_a_variable_count_if_they_are_of_this_version(variable, minor, counts, root):
    touch(root / "mine/Python.h")
    (root / "mine/patchlevel.h").write_text(f"#define PY_MAJOR_VERSION\t3\n#define PY_MINOR_VERSION\t{minor}\n")
    python = interpreter(include="/usr/include/python3.12")
    assert (below(root, python, **{variable: "/none:/mine"}).header.found is not None) == counts


@pytest.mark.parametrize(
    ("python", "expected"),
    [
        ({"base_prefix": "/usr"}, "/usr/include/python3.12/Python.h"),
        ({"base_prefix": "/usr", "free_threaded": True}, "/usr/include/python3.12t/Python.h"),
        ({}, None),
        ({"base_prefix": "/usr", "version": None}, None),
    ],
)
def test_the_place_is_worked_out_where_the_interpreter_does_not_speak(python, expected, root):
    assert below(root, interpreter(include=None, **python)).header.expected == expected


def test_the_interpreter_that_runs_the_tests_names_its_own_place(tmp_path):
    header = on_disk(Patient(tmp_path)).header
    assert header.expected.endswith(f"/python{MINOR}/Python.h")
    assert header.found == (header.expected if os.path.isfile(header.expected) else None)


# libcuda


def test_every_place_that_holds_or_lists_libcuda_is_told(root):
    ld_cache(root, ("libcuda.so.1", f"{LIB}/libcuda.so.1"), ("libcudart.so.12", "/opt/cuda/lib64/libcudart.so.12"))
    touch(root / LIB[1:] / "libcuda.so.1.580").with_name("libcuda.so.1").symlink_to("libcuda.so.1.580")
    touch(root / "mine/libcuda.so")
    touch(root / "stubs/libcuda.so")
    found = below(root, TRITON_LIBCUDA_PATH="/gone", LD_LIBRARY_PATH="/none:/mine", LIBRARY_PATH="/stubs:")
    assert found.libcuda == (
        Place("/gone", "TRITON_LIBCUDA_PATH", ()),
        Place(LIB, "ld.so.cache", ("libcuda.so.1",), ("libcuda.so.1",)),
        Place("/mine", "LD_LIBRARY_PATH", ("libcuda.so",)),
        Place("/stubs", "LIBRARY_PATH", ("libcuda.so",)),
        Place(LIB, "linker", ("libcuda.so.1",)),
    )


def test_no_driver_is_no_place(root):
    ld_cache(root, ("libc.so.6", "/lib/libc.so.6"))
    assert below(root).libcuda == ()


@pytest.mark.skipif(shutil.which("ld") is None, reason="no linker here")
def test_the_linker_s_own_directories_are_those_that_it_names():
    script = subprocess.run(["ld", "--verbose"], capture_output=True, text=True, check=True).stdout
    named = {part.partition('"')[0].lstrip("=") for part in script.split('SEARCH_DIR("')[1:]}
    assert {path for path in jit_tools.LINKER if "aarch64" not in path} - named == set()
