"""In a child that has entered an image, every way to ask Python for a path follows links as a chroot would."""

import glob
import os
from pathlib import Path

import pytest

from envdoctor.system import inside
from envdoctor.system.forked import call
from envdoctor.system.host import LocalHost
from envdoctor.system.reading import head, regular
from envdoctor.system.rooted import is_below, joined


@pytest.fixture
def image(tmp_path):
    """An image with a file, and beside it a file of this machine's that only a link out of the image leads to."""
    (tmp_path / "secret").write_text("of this machine")
    root = tmp_path / "image"
    (root / "usr/lib").mkdir(parents=True)
    (root / "usr/lib/file").write_text("of the image")
    links = {"lib": "usr/lib", "absolute": "/usr/lib/file", "folder": "/usr/lib", "out": str(tmp_path / "secret")}
    links |= {"up": "../../../../../../../../../usr/lib/file", "a": "/b", "b": "/a", "none": "/etc/passwd"}
    for name, leads in links.items():
        (root / name).symlink_to(leads)
    return root


def within(image, what):
    """Return what a function gives in a child that has entered the image."""

    def run():
        inside.enter(str(image))
        return what()

    return call("the test", run, timeout=10)


def text(path):
    return Path(path).read_text()


@pytest.mark.parametrize("name", ["usr/lib/file", "lib/file", "absolute", "folder/file", "up", "lib/../../folder/file"])
@pytest.mark.parametrize(
    "read",
    [
        text,
        lambda path: head(path, 99).decode(),
        lambda path: regular(path, 99).decode(),
        lambda path: open(path).read(),  # noqa: SIM115
        lambda path: open(os.fsencode(path)).read(),  # noqa: SIM115
        lambda path: text(os.path.realpath(path)),
        lambda path: os.stat(path).st_size == 12 and os.path.isfile(path) and os.access(path, os.R_OK) and text(path),
    ],
    ids=["pathlib", "head", "regular", "open", "bytes", "realpath", "stat"],
)
def test_a_file_is_the_images(name, read, image):
    assert within(image, lambda: read(f"{image}/{name}")) == "of the image"


@pytest.mark.parametrize("name", ["out", "none", "a", "lib/../../secret"])
def test_nothing_leads_out(name, image):
    def seen():
        path = f"{image}/{name}"
        return os.path.exists(path), os.access(path, os.R_OK), head(path, 99), os.path.realpath(path)

    exists, access, content, real = within(image, seen)
    assert (exists, access, content) == (False, False, b"")
    assert is_below(str(image), real)


def test_without_entering_they_do_lead_out(image):
    assert text(image / "out") == "of this machine"
    assert os.path.exists(image / "none")


def test_a_link_itself_is_seen_as_it_stands(image):
    def seen():
        return os.readlink(f"{image}/out"), os.path.islink(f"{image}/out"), os.path.lexists(f"{image}/folder/none")

    assert within(image, seen) == (os.readlink(image / "out"), True, False)


def test_folders_are_listed_and_walked(image):
    def seen():
        with os.scandir(f"{image}/folder") as entries:
            (entry,) = entries
        walked = [(folder, names) for folder, _, names in os.walk(f"{image}/folder")]
        found = sorted(glob.glob(f"{image}/f*/*"))
        by_root = glob.glob("folder/f*", root_dir=str(image))
        with os.scandir(image) as entries:
            kinds = {entry.name: (entry.is_symlink(), entry.is_dir(), entry.is_file()) for entry in entries}
        return os.listdir(f"{image}/folder"), entry.path, walked, found, by_root, kinds

    listed, path, walked, found, by_root, kinds = within(image, seen)
    assert listed == ["file"]
    assert path == f"{image}/folder/file"
    assert walked == [(f"{image}/folder", ["file"])]
    assert found == [f"{image}/folder/file"]
    assert by_root == ["folder/file"]
    assert kinds["folder"] == (True, True, False)
    assert kinds["absolute"] == (True, False, True)
    assert kinds["out"] == kinds["none"] == kinds["a"] == (True, False, False)


def test_o_nofollow_is_kept(image):
    def seen():
        try:
            os.close(os.open(f"{image}/absolute", os.O_RDONLY | os.O_NOFOLLOW))
        except OSError:
            return "refused"
        return "followed"

    assert within(image, seen) == "refused"


def test_paths_elsewhere_and_descriptors_are_left_alone(image):
    def seen():
        with open(image.parent / "secret") as stream:
            return (
                os.stat(stream.fileno()).st_size,
                os.listdir(image.parent / "image") != [],
                text("/proc/self/stat") != "",
            )

    assert within(image, seen) == (len("of this machine"), True, True)


def test_this_process_has_entered_nothing(image):
    within(image, lambda: None)
    assert text(image / "out") == "of this machine"
    inside.enter("")
    assert os.path.exists(image / "none")


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("x/y", "/img/opt/site/x/y"),
        ("../../etc", "/img/etc"),
        ("../../../../../etc", "/img/etc"),
        ("/etc", "/img/etc"),
        ("//etc", "/img/etc"),
        (".", "/img/opt/site"),
    ],
)
def test_what_a_file_in_the_image_means_by_a_path(path, meant):
    assert joined("/img", "/img/opt/site", path) == joined("/img/", "/img/opt/site", path) == meant


def test_outside_the_root_a_path_means_what_it_says():
    assert joined("/img", "/image/site", "/etc") == joined("", "/x", "/etc") == "/etc"
    assert joined("", "/opt/site", "../x") == "/opt/x"
    assert [is_below("/img", path) for path in ("/img", "/img/x", "/image", "/")] == [True, True, False, False]


def test_nothing_is_started_below_a_root(tmp_path):
    mark = tmp_path / "mark"
    done = LocalHost(root=str(tmp_path)).run(["/bin/sh", "-c", f"touch {mark}"], timeout=5)
    assert done.problem == "--root: nothing is started"
    assert not mark.exists()
