"""Marks of compile caches are raised, reached, accepted and expire."""

import os
from dataclasses import replace

import pytest

from envdoctor.state.marks import Key, Mark, read, record

NOW = 1_780_000_000.0
DAY = 86_400.0
KEY = Key("node7", "1000", "/env", "2.11.0+cu130", "3.6.0", "9.0")


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "state" / "envdoctor" / "node7.sqlite")


def mark(keys, kind="fxgraph", device="", **fields):
    return Mark(kind, device, keys, fields.pop("size", 1000 * keys), "/cache", NOW, fields.pop("reached_at", NOW))


def kept(path, now=NOW, key=KEY):
    return {(found.kind, found.device): found.keys for found in read(path, key, now)}


def test_marks_are_raised_and_never_lowered(path):
    assert read(path, KEY, NOW) == ()
    record(path, KEY, [mark(412), mark(206, device="cuda:0")], NOW)
    record(path, KEY, [mark(6), mark(300, device="cuda:0"), mark(5, "triton")], NOW + DAY)
    assert kept(path) == {("fxgraph", ""): 412, ("fxgraph", "cuda:0"): 300, ("triton", ""): 5}
    assert [found.set_at for found in read(path, KEY, NOW)] == [NOW, NOW + DAY, NOW + DAY]


def test_a_mark_that_is_reached_again_lives_on_and_one_that_is_not_expires(path):
    record(path, KEY, [mark(412), mark(9, "triton")], NOW)
    record(path, KEY, [mark(412), mark(8, "triton")], NOW + 20 * DAY)
    assert kept(path, NOW + 29 * DAY) == {("fxgraph", ""): 412, ("triton", ""): 9}
    assert kept(path, NOW + 31 * DAY) == {("fxgraph", ""): 412}
    record(path, KEY, [mark(8, "triton")], NOW + 31 * DAY)
    assert kept(path, NOW + 31 * DAY) == {("fxgraph", ""): 412, ("triton", ""): 8}


def test_to_accept_makes_the_present_counts_the_marks_of_this_key_alone(path):
    other = replace(KEY, torch="2.12.0")
    for key in (KEY, other):
        record(path, key, [mark(412), mark(9, "triton")], NOW)
    record(path, KEY, [mark(6)], NOW, accept=True)
    assert kept(path) == {("fxgraph", ""): 6}
    assert kept(path, key=other) == {("fxgraph", ""): 412, ("triton", ""): 9}


@pytest.mark.parametrize("field", ["host", "user", "target", "torch", "triton", "arch"])
def test_each_part_of_the_key_counts(path, field):
    record(path, KEY, [mark(412)], NOW)
    assert kept(path, key=replace(KEY, **{field: "other"})) == {}


def test_a_path_that_is_no_utf_8_is_remembered(path):
    key = replace(KEY, target="/env/\udcff")
    record(path, key, [replace(mark(412), path="/c/\udcfe")], NOW)
    assert kept(path, key=key) == {("fxgraph", ""): 412}


def test_an_empty_file_is_as_good_as_none(path):
    os.makedirs(os.path.dirname(path))
    with open(path, "wb"):
        pass
    assert record(path, KEY, [mark(412)], NOW) is None
    assert kept(path) == {("fxgraph", ""): 412}
