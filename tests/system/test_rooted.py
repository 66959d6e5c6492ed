"""Links of an unpacked image lead to places in the image, never out of it."""

import os

import pytest

from envdoctor.system.rooted import below, resolve


@pytest.fixture
def image(tmp_path):
    (tmp_path / "usr/lib").mkdir(parents=True)
    (tmp_path / "usr/lib/libcuda.so.580").write_bytes(b"")
    return tmp_path


def link(image, path, leads):
    place = image / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(leads)


@pytest.mark.parametrize(
    ("links", "asked"),
    [
        ({"usr/lib/libcuda.so.1": "libcuda.so.580"}, "/usr/lib/libcuda.so.1"),
        ({"usr/lib/libcuda.so.1": "/usr/lib/libcuda.so.580"}, "/usr/lib/libcuda.so.1"),
        ({"lib": "usr/lib"}, "/lib/libcuda.so.580"),
        ({"lib": "/usr/lib", "usr/lib/a": "../../../../lib/libcuda.so.580"}, "/lib/a"),
        ({}, "/usr/../usr/./lib/libcuda.so.580"),
    ],
    ids=["relative", "absolute", "a directory", "past the root", "dots"],
)
def test_links_resolve_below_the_root(image, links, asked):
    for path, leads in links.items():
        link(image, path, leads)
    assert resolve(str(image), asked) == "/usr/lib/libcuda.so.580"


def test_a_loop_ends(image):
    link(image, "a", "/b")
    link(image, "b", "/a")
    assert resolve(str(image), "/a") in ("/a", "/b")


def test_what_is_not_there_keeps_its_name(image):
    assert resolve(str(image), "/usr/lib/none/x") == "/usr/lib/none/x"


def test_without_a_root_the_machine_itself_is_meant(tmp_path):
    (tmp_path / "x").symlink_to("/usr")
    assert resolve("", str(tmp_path / "x")) == os.path.realpath("/usr")
    assert below("", "/proc/mounts") == "/proc/mounts"
    assert below("/img/", "/proc/mounts") == "/img/proc/mounts"
