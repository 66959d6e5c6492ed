"""Each series of triton looks for libcuda in its own way; what it misses is an error, no driver at all is not."""

import pytest
from values import findings, jit_tools, libcuda

from envdoctor.model import Severity
from envdoctor.probes.cuda.missing_libcuda_link import check

LIB = "/usr/lib/x86_64-linux-gnu"
LINK, LIBRARY = "libcuda.so", "libcuda.so.1"
BARE = libcuda(LIB, "ld.so.cache", LIBRARY)
BARE_LINKER = libcuda(LIB, "linker", LIBRARY)
OLD, NEW = "3.5.1", "3.6.0"


def judge(version, *places):
    return findings(check, jit_tools=jit_tools(version, libcuda=places))


@pytest.mark.parametrize("version", ["2.1.0", "2.3.1", "3.0.0", OLD])
def test_without_the_link_older_releases_cannot_link(version):
    (found,) = judge(version, BARE, BARE_LINKER)
    assert (found.severity, found.subject) == (Severity.ERROR, f"{LIB}/{LIBRARY}")


@pytest.mark.parametrize("version", [NEW, "3.9.0", "3.9.0+git1"])
def test_newer_ones_need_no_link(version):
    assert judge(version, BARE, BARE_LINKER) == []


def test_the_way_out_without_root_comes_first():
    (found,) = judge(OLD, BARE)
    assert found.remedy[2:4] == (
        f"ln -sf {LIB}/{LIBRARY} ~/.local/lib/triton-libcuda/{LIBRARY}",
        "export TRITON_LIBCUDA_PATH=~/.local/lib/triton-libcuda",
    )
    assert found.remedy[4].startswith("or as root")


def test_releases_that_do_not_read_the_variable_are_not_told_to_set_it():
    (found,) = judge("2.1.0", BARE)
    assert not any("TRITON_LIBCUDA_PATH" in step for step in found.remedy)
    assert judge("2.1.0", BARE, libcuda("/mine", "TRITON_LIBCUDA_PATH", LINK)) != []


@pytest.mark.parametrize(
    "place",
    [
        libcuda("/mine", "TRITON_LIBCUDA_PATH", LINK),
        libcuda("/usr/local/cuda/lib64/stubs", "LIBRARY_PATH", LINK),
        libcuda("/usr/local/lib", "linker", LINK),
        libcuda("/usr/lib/wsl/lib", "ld.so.cache", LINK, LIBRARY),
    ],
    ids=lambda place: place.origin,
)
def test_the_link_anywhere_that_the_linker_looks_is_healthy(place):
    assert judge(OLD, BARE, place) == []


@pytest.mark.parametrize(("version", "holds"), [(OLD, (LIBRARY,)), (OLD, ()), (NEW, (LINK,)), (NEW, ())])
def test_a_variable_that_names_a_directory_without_the_file_is_an_error(version, holds):
    (found,) = judge(version, libcuda("/mine", "TRITON_LIBCUDA_PATH", *holds), BARE)
    assert (found.severity, found.subject) == (Severity.ERROR, "/mine")


@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_library_that_the_cache_does_not_list_is_not_found(version):
    (found,) = judge(version, libcuda(LIB, "linker", LINK, LIBRARY))
    assert "not in the linker cache" in found.message
    assert judge(version, libcuda("/opt/driver", "LD_LIBRARY_PATH", LINK, LIBRARY)) == []


def test_ld_library_path_does_not_serve_beside_a_cache_that_lists_one():
    (found,) = judge(OLD, BARE, libcuda("/opt/driver", "LD_LIBRARY_PATH", LINK, LIBRARY))
    assert found.severity == Severity.ERROR


def test_a_cache_that_lists_a_file_which_is_gone_is_said():
    (found,) = judge(NEW, libcuda(LIB, "ld.so.cache"))
    assert "is not there" in found.message


@pytest.mark.parametrize("version", [None, "4.0.0", OLD])
def test_without_driver_or_triton_or_knowledge_of_it_there_is_nothing_to_say(version):
    assert judge(version) == []
    assert judge(version, libcuda("/usr/local/cuda/lib64/stubs", "LIBRARY_PATH", LINK, LIBRARY)) == []
    if version != OLD:
        assert judge(version, BARE) == []
