"""The loader's rules, on fabricated libraries: who is asked first, and whose DT_RPATH counts."""

import os
import struct

import pytest
from elves import write
from fakes import FakeHost

from envdoctor.facts.linking import Linker
from envdoctor.model import Unavailable

NAME = "libdep.so.1"


@pytest.fixture
def place(tmp_path):
    """A program, a library `lib/liba.so` that needs NAME, and copies of NAME wherever a test wants them."""
    return Place(tmp_path)


class Place:
    def __init__(self, folder):
        self.folder = folder
        self.program = write(folder / "bin/python")
        self.root = ""

    def copy(self, *folders, **fields):
        for folder in folders:
            write(self.folder / folder / NAME, **{"soname": NAME} | fields)

    def cache(self, path):
        """Write a loader's cache below the root that holds NAME at a path."""
        strings = NAME.encode() + b"\0" + path.encode() + b"\0"
        head = struct.pack("<20sIIB3xI12x", b"glibc-ld.so.cache1.1", 1, len(strings), 2, 0)
        entry = struct.pack("<iIIIQ", 0x303, 72, 72 + len(NAME) + 1, 0, 0)
        (self.folder / "root/etc").mkdir(parents=True, exist_ok=True)
        (self.folder / "root/etc/ld.so.cache").write_bytes(head + entry + strings)

    def linker(self, *library_path):
        host = FakeHost(root=str(self.folder / "root"))
        return Linker(host, [str(self.folder / entry) for entry in library_path], self.program, bool)

    def resolved(self, *library_path, **fields):
        """Open liba.so and return (folder, rule) of what NAME resolves to."""
        linker = self.linker(*library_path)
        linker.open(write(self.folder / "lib/liba.so", needed=[NAME], **fields))
        found = linker.resolutions[NAME]
        where = os.path.relpath(os.path.dirname(found.path), self.folder) if found.path else None
        return where, found.by


def test_rpath_wins_over_ld_library_path(place):
    place.copy("wheel", "toolkit")
    assert place.resolved("toolkit", rpath="$ORIGIN/../wheel") == ("wheel", "RPATH")


def test_ld_library_path_wins_over_runpath(place):
    place.copy("wheel", "toolkit")
    assert place.resolved("toolkit", runpath="$ORIGIN/../wheel") == ("toolkit", "LD_LIBRARY_PATH")
    assert place.resolved("other", runpath="${ORIGIN}/../wheel") == ("wheel", "RUNPATH")


def test_first_entry_that_has_it_wins(place):
    place.copy("second", "third")
    assert place.resolved("first", "second", "third") == ("second", "LD_LIBRARY_PATH")


def test_rpath_of_the_program_counts_last_of_all_rpaths(place):
    place.program = write(place.folder / "bin/python", rpath="$ORIGIN/../conda")
    place.copy("conda", "toolkit")
    assert place.resolved("toolkit") == ("conda", "RPATH")
    assert place.resolved("toolkit", runpath="/nowhere") == ("toolkit", "LD_LIBRARY_PATH")


def test_then_the_cache_then_the_default_directories(place):
    place.copy("root/opt/driver", "root/usr/lib64")
    place.cache("/opt/driver/" + NAME)
    assert place.resolved() == ("root/opt/driver", "ld.so.cache")
    (place.folder / "root/etc/ld.so.cache").unlink()
    assert place.resolved() == ("root/usr/lib64", "directory")


def test_cache_entry_whose_file_is_gone_is_passed_over(place):
    place.cache("/opt/driver/" + NAME)
    assert place.resolved() == (None, None)


def test_rpath_is_handed_down_unless_there_is_a_runpath(place):
    """liba (DT_RPATH) needs libb, which needs NAME: with a DT_RUNPATH of its own, libb no longer asks liba's."""
    for runpath, expected in ((None, "RPATH"), ("$ORIGIN", "LD_LIBRARY_PATH")):
        place.copy("lib", "toolkit")
        write(place.folder / "lib/libb.so", needed=[NAME], runpath=runpath)
        linker = place.linker("toolkit")
        linker.open(write(place.folder / "lib/liba.so", needed=["libb.so"], rpath="$ORIGIN"))
        assert linker.resolutions[NAME].by == expected
        assert linker.resolutions[NAME].needed_by == "libb.so"


def test_what_is_needed_directly_is_loaded_before_what_that_needs(place):
    """libcublasLt is taken by libtorch_cuda's DT_RPATH, before libcublas asks for it by DT_RUNPATH."""
    place.copy("lib", "toolkit")
    write(place.folder / "lib/libb.so", needed=[NAME], runpath="$ORIGIN")
    assert place.resolved("toolkit", rpath="$ORIGIN")[0] == "lib"
    linker = place.linker("toolkit")
    linker.open(write(place.folder / "lib/liba.so", needed=["libb.so", NAME], rpath="$ORIGIN"))
    assert (linker.resolutions[NAME].by, linker.resolutions[NAME].needed_by) == ("RPATH", "liba.so")


def test_who_comes_first_asks_first(place):
    """Breadth first: libb's need is met before libc's, by libb's DT_RPATH."""
    place.copy("lib", "toolkit")
    write(place.folder / "lib/libb.so", needed=[NAME], rpath="$ORIGIN")
    write(place.folder / "lib/libc.so", needed=[NAME], runpath="$ORIGIN")
    linker = place.linker("toolkit")
    linker.open(write(place.folder / "lib/liba.so", needed=["libb.so", "libc.so"], rpath="$ORIGIN"))
    assert (linker.resolutions[NAME].by, linker.resolutions[NAME].needed_by) == ("RPATH", "libb.so")


def test_what_is_loaded_already_under_that_soname_is_not_looked_for(place):
    place.copy("toolkit")
    early = write(place.folder / "wheel/whatever.so", soname=NAME)
    linker = place.linker("toolkit")
    linker.preload(early, "torch")
    linker.open(write(place.folder / "lib/liba.so", needed=[NAME]))
    assert (linker.resolutions[NAME].path, linker.resolutions[NAME].by) == (early, "torch")


def test_version_is_read_off_the_file_behind_the_link(place):
    write(place.folder / "toolkit/libdep.so.1.4.2")
    (place.folder / "toolkit" / NAME).symlink_to("libdep.so.1.4.2")
    linker = place.linker("toolkit")
    linker.open(write(place.folder / "lib/liba.so", needed=[NAME]))
    assert linker.resolutions[NAME].version == "1.4.2"


def test_entries_with_other_tokens_are_passed_over(place):
    place.copy("lib")
    assert place.resolved(rpath="$LIB/x:$ORIGIN") == ("lib", "RPATH")


def test_what_is_no_library_is_a_reason_and_what_it_hides_is_noted(place):
    assert isinstance(place.linker().open(str(place.folder / "none.so")), Unavailable)
    (place.folder / "toolkit").mkdir()
    (place.folder / "toolkit" / NAME).write_bytes(b"text")
    assert place.resolved("toolkit") == ("toolkit", "LD_LIBRARY_PATH")
