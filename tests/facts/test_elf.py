"""Shared objects are read by hand: fabricated ones, and what a real linker makes."""

import os
import re
import sys

import pytest
from elves import compiled, elf, write
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.facts.elf import Linkage, defined, linkage, wants
from envdoctor.model import Unavailable

ANY = re.compile(rb".")
NAMES = ["_ZN3c104failEv", "_ZN2at5emptyEv", "other"]


def test_dynamic_section_is_read(tmp_path):
    path = write(tmp_path / "a.so", needed=["libc10.so", "libc.so.6"], soname="a.so.1", runpath="$ORIGIN/lib")
    assert linkage(path) == Linkage(("libc10.so", "libc.so.6"), "a.so.1", None, "$ORIGIN/lib")


def test_rpath_counts_only_without_a_runpath(tmp_path):
    assert linkage(write(tmp_path / "a.so", rpath="/x")).rpath == "/x"
    both = linkage(write(tmp_path / "b.so", rpath="/x", runpath="/y"))
    assert (both.rpath, both.runpath) == (None, "/y")


def test_needed_versions_are_read_and_weak_ones_are_not(tmp_path):
    path = write(tmp_path / "a.so", versions=["GLIBC_2.32", "?GLIBC_2.99", "GLIBC_2.2.5"])
    assert linkage(path).versions == ("GLIBC_2.2.5", "GLIBC_2.32")


@pytest.mark.parametrize("sysv", [False, True], ids=["gnu hash", "sysv hash"])
def test_symbols_are_looked_up_by_hash(tmp_path, sysv):
    path = write(tmp_path / "a.so", defined=NAMES, undefined=["wanted"], sysv=sysv)
    assert defined(path, [*NAMES, "wanted", "absent"]) == set(NAMES)


@pytest.mark.parametrize("sysv", [False, True], ids=["gnu hash", "sysv hash"])
def test_undefined_symbols_are_those_that_match_and_are_not_weak(tmp_path, sysv):
    path = write(tmp_path / "a.so", defined=["_ZN3c103hasEv"], undefined=NAMES, weak=["_ZN3c104weakEv"], sysv=sysv)
    assert wants(path, re.compile(rb"_ZN3c10"))[1] == ("_ZN3c104failEv",)
    assert wants(path, ANY)[1] == tuple(sorted(NAMES))


def test_an_object_that_exports_nothing_and_has_no_sections_cannot_be_counted(tmp_path):
    found = wants(write(tmp_path / "a.so", undefined=NAMES), ANY)
    assert isinstance(found, Unavailable)
    assert "cannot be counted" in found.reason


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("-Wl,--hash-style=sysv",),
        ("-Wl,--hash-style=gnu",),
        ("-Wl,-s",),
        ("-fvisibility=hidden", "-Wl,--hash-style=gnu"),
    ],
    ids=["default", "sysv", "gnu", "stripped", "nothing exported"],
)
def test_what_a_linker_makes_is_read(tmp_path, options):
    source = "void wanted(void); void also_here(void) { wanted(); }"
    extra = ("-Wl,-soname,liba.so.1", "-Wl,-rpath,$ORIGIN/x", "-Wl,--enable-new-dtags", "-nostdlib")
    path = compiled(tmp_path / "a.so", source, *options, *extra)
    said, undefined = wants(path, ANY)
    assert (said.soname, said.runpath, said.rpath) == ("liba.so.1", "$ORIGIN/x", None)
    assert undefined == ("wanted",)
    here = set() if "-fvisibility=hidden" in options else {"also_here"}
    assert defined(path, ["wanted", "also_here"]) == here


def test_old_tags_are_an_rpath(tmp_path):
    path = compiled(tmp_path / "a.so", "int x;", "-Wl,-rpath,/x", "-Wl,--disable-new-dtags")
    assert (linkage(path).rpath, linkage(path).runpath) == ("/x", None)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the test looks at the running process")
def test_the_running_libc_is_read():
    with open("/proc/self/maps") as stream:
        paths = {line.split()[-1] for line in stream if "libc.so.6" in line}
    path = next(iter(paths), None) or pytest.skip("this Python is not linked with glibc")
    assert linkage(path).soname == "libc.so.6"
    assert defined(path, ["malloc", "no_such_function"]) == {"malloc"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"#!/bin/sh\n", "Magic number"),
        (b"\x7fELF", "no shared object"),
        (elf()[:80], "no shared object"),
        (b"\x7fELF\1\1\1" + elf()[7:], "no shared object"),
        (elf()[:120] + bytes(56) + elf()[176:], "no dynamic section"),
    ],
    ids=["empty", "text", "magic only", "cut", "32 bits", "static"],
)
def test_what_cannot_be_read_is_a_reason(tmp_path, content, reason):
    path = tmp_path / "a.so"
    path.write_bytes(content)
    for found in (linkage(str(path)), defined(str(path), ["x"]), wants(str(path), ANY)):
        assert isinstance(found, Unavailable)
        assert not found.failed
        assert str(path) in found.reason
        assert reason in found.reason or reason == "Magic number"


def test_a_pipe_and_nothing_are_reasons(tmp_path):
    os.mkfifo(tmp_path / "pipe.so")
    assert "not a regular file" in linkage(str(tmp_path / "pipe.so")).reason
    assert "No such file" in linkage(str(tmp_path / "none.so")).reason


WHOLE = elf(needed=["libc10.so"], soname="a", defined=NAMES, undefined=["u"], versions=["GLIBC_2.32"])


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=8)), min_size=1, max_size=4))
def test_no_damage_raises(tmp_path_factory, edits):
    damaged = bytearray(WHOLE)
    for place, data in edits:
        damaged[place : place + len(data)] = data
    path = tmp_path_factory.getbasetemp() / "damaged.so"
    path.write_bytes(damaged)
    assert isinstance(linkage(str(path)), Linkage | Unavailable)
    assert isinstance(defined(str(path), NAMES), frozenset | Unavailable)
    assert isinstance(wants(str(path), ANY), tuple | Unavailable)
