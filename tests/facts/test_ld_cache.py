"""The loader's cache is read as glibc writes it; a damaged one breaks nothing."""

import os
import shutil
import subprocess

import pytest
from fakes import FakeHost
from hypothesis import given
from hypothesis import strategies as st
from toolboxes import CACHE, ld_cache

from envdoctor.facts.ld_cache import PATH, Cached, parse, read
from envdoctor.system.host import LocalHost

ENTRIES = [("libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1"), ("libz.so.1", "/lib/libz.so.1")]
WANTED = tuple(Cached(*entry) for entry in ENTRIES)
LDCONFIG = shutil.which("ldconfig", path="/sbin:/usr/sbin")


@pytest.mark.parametrize("before", [b"", b"ld.so-1.7.0\0" + bytes(20)])
def test_entries_are_read_in_order_also_behind_the_older_format(before, tmp_path):
    ld_cache(tmp_path, *ENTRIES, before=before)
    assert read(FakeHost(root=str(tmp_path))) == WANTED


def test_a_link_to_it_is_followed_below_the_root(tmp_path):
    ld_cache(tmp_path / "real", *ENTRIES)
    (tmp_path / "etc").symlink_to("/real/etc")
    assert read(FakeHost(root=str(tmp_path))) == WANTED


@pytest.mark.parametrize("make", [lambda _: None, os.mkdir, os.mkfifo, lambda path: path.write_bytes(b"musl")])
def test_none_or_one_in_no_known_format_is_none(make, tmp_path):
    (tmp_path / "etc").mkdir()
    make(tmp_path / CACHE)
    assert read(FakeHost(root=str(tmp_path))) is None


def test_a_cache_cut_short_gives_what_is_whole(tmp_path):
    data = ld_cache(tmp_path, *ENTRIES).read_bytes()
    assert parse(data[:-3]) == WANTED[:1]
    assert parse(data[: 48 + 24]) == ()
    assert parse(data[:40]) is None


@given(st.binary(max_size=200))
def test_no_bytes_break_it(tail):
    parse(b"glibc-ld.so.cache1.1" + tail)


@pytest.mark.skipif(LDCONFIG is None or not os.path.isfile(PATH), reason="no ldconfig or no cache here")
def test_it_is_what_ldconfig_prints():
    lines = subprocess.run([LDCONFIG, "-p"], capture_output=True, text=True, check=True).stdout.splitlines()
    printed = [(line.split()[0], line.split(" => ")[1]) for line in lines if " => " in line]
    assert [(entry.name, entry.path) for entry in read(LocalHost())] == printed
