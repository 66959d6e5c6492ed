"""The architectures are read from the library's bytes, else looked up; torch is never imported."""

import os
import tempfile

import pytest
from fakes import FakeHost
from hypothesis import given
from hypothesis import strategies as st
from values import interpreter

from envdoctor.facts import arch_list
from envdoctor.facts.arch_list import ArchList, look_up, read
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Target, Unavailable

TEXT = b"sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"
LIST = tuple(TEXT.decode().split())
NOISE = b"\x7fELF" + bytes(900) + b"sm_90 \0xsm_75 sm_80\0sm_ \0at sm_70\n\0"


@pytest.fixture
def library(tmp_path):
    path = tmp_path / "torch/lib/libtorch_python.so"
    path.parent.mkdir(parents=True)
    return path


def collect(library, version="2.11.0+cu130", cuda="13.0", machine="x86_64"):
    build = TorchBuild(str(library.parent.parent / "version.py"), version, cuda)
    python = interpreter(markers={"platform_machine": machine})
    return arch_list.collect(Target("/env", "/env/bin/python"), FakeHost(), python, build)


def test_the_list_is_read_from_the_library_before_any_table(library):
    library.write_bytes(NOISE + b"\0" + TEXT + b"\0/src/x.cpp\0")
    assert collect(library, "2.8.0+cu126") == ArchList(LIST, "file", str(library), ptx=False)


@pytest.mark.parametrize(
    ("text", "ptx"),
    [(b"sm_90a compute_90a", True), (b"sm_100f", False), (b"compute_80 compute_90", True), (b"sm_90", False)],
)
def test_every_way_to_name_an_architecture_is_read(text, ptx, library):
    library.write_bytes(NOISE + b"\0" + text + b"\0")
    found = collect(library)
    assert (found.archs, found.ptx) == (tuple(text.decode().split()), ptx)


def test_the_longest_of_several_is_the_list_and_two_equals_are_none(library):
    library.write_bytes(b"\0sm_90\0" + TEXT + b"\0" + TEXT + b"\0sm_80 sm_90\0")
    assert read(str(library)) == LIST
    library.write_bytes(b"\0sm_90\0sm_80\0")
    assert read(str(library)) == ()


@pytest.mark.parametrize("content", [b"", NOISE, b"\0sm_90", b"\0sm_9x\0"])
def test_a_library_without_a_list_falls_back_to_the_table(content, library):
    library.write_bytes(content)
    found = collect(library)
    assert (found.source, found.archs, found.ptx) == ("knowledge", LIST, False)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda _: None])
def test_no_library_falls_back_too(make, library):
    make(library)
    assert collect(library).source == "knowledge"


@pytest.mark.parametrize(
    ("version", "first", "ptx"),
    [
        ("2.8.0+cu128", "sm_70", False),
        ("2.8.0+cu126", "sm_50", False),
        ("2.8.1+cu129", "sm_70", True),
        ("2.12.0+cu130", "sm_75", None),
    ],
)
def test_builds_are_looked_up_by_release_and_label(version, first, ptx):
    found = look_up(version)
    assert (found.archs[0], found.ptx) == (first, ptx)


def test_the_very_release_comes_before_its_series():
    assert "2.11.0-cp311" in look_up("2.11.0+cu130").detail
    assert look_up("2.11.1+cu130") is None, "only 2.11.0 is known"
    assert "RELEASE.md" in look_up("2.11.1+cu128").detail


@pytest.mark.parametrize("version", ["", "2.8.0", "2.8.0+cu999", "99.0+cu130", "2.8.0+rocm6.3"])
def test_unknown_builds_are_unknown(version, library):
    assert look_up(version) is None
    assert isinstance(collect(library, version), Unavailable)


def test_the_table_is_of_one_machine(library):
    assert isinstance(collect(library, machine="aarch64"), Unavailable)
    library.write_bytes(b"\0" + TEXT + b"\0")
    assert collect(library, machine="aarch64").source == "file"


def test_a_cpu_build_has_none(library):
    assert collect(library, "2.11.0+cpu", None) == Unavailable("torch is built without CUDA")


@given(st.binary(max_size=200))
def test_no_bytes_break_it(tail):
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"\0sm_" + tail)
        file.flush()
        assert isinstance(read(file.name), tuple)
