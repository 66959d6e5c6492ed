"""The store: what goes in comes out, or nothing does."""

import hashlib
import multiprocessing
import os
import stat

import pytest

from envdoctor.archives import store
from envdoctor.archives.store import Store, flat
from envdoctor.errors import EnvDoctorError
from envdoctor.wheels import Wheel

SIX = Wheel("six", "1.17.0", {"six.py": "x = 1\n"})
SHA = f"sha256:{SIX.sha256}"


@pytest.fixture
def own(tmp_path):
    return Store(str(tmp_path / "cache" / "envdoctor" / "archives"))


@pytest.fixture
def wheel(tmp_path):
    return SIX.build(tmp_path / "elsewhere")


def bytes_of(path):
    with open(path, "rb") as stream:
        return stream.read()


def test_a_file_is_found_by_its_digest_under_its_own_name(own, wheel):
    put = own.put(wheel)
    found = own.find(("sha256:" + "0" * 64, SHA))
    assert found == put
    assert (put.name, put.version, put.filename, put.sha256) == ("six", "1.17.0", SIX.filename, SIX.sha256)
    assert put.path == os.path.join(own.folder, SIX.sha256[:2], SIX.sha256, SIX.filename)
    assert (bytes_of(put.path), put.size) == (SIX.archive(), len(SIX.archive()))
    assert os.stat(wheel).st_ino != os.stat(put.path).st_ino, "a copy: what is done to one does nothing to the other"


def test_nobody_else_can_look_or_write(own, wheel):
    path = own.put(wheel).path
    assert stat.S_IMODE(os.stat(own.folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o400


@pytest.mark.parametrize(
    "change", [lambda data: data[:-1], lambda data: data + b"\n", lambda data: data[:0], lambda data: b"x" * len(data)]
)
def test_a_file_that_is_not_what_it_is_named_for_is_dropped_and_said(own, wheel, change):
    path = own.put(wheel).path
    os.chmod(path, 0o600)
    with open(path, "r+b") as stream:
        data = change(stream.read())
        stream.seek(0)
        stream.truncate()
        stream.write(data)
    assert own.find((SHA,)) is None
    assert (own.dropped, os.path.exists(path)) == ([SIX.filename], False)
    assert own.put(wheel) == own.find((SHA,)), "it can be put there anew"


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: os.symlink("/dev/zero", path)])
def test_something_else_in_its_place_is_nothing_and_nobody_waits_for_it(own, wheel, make):
    path = own.put(wheel).path
    os.unlink(path)
    make(path)
    assert own.find((SHA,)) is None


def test_other_digests_lead_to_a_file_that_is_checked_by_them(own, wheel):
    put = own.put(wheel)
    good, bad = "sha512:" + hashlib.sha512(SIX.archive()).hexdigest(), "sha512:" + "7" * 128
    assert own.find((good,)) is None
    own.alias(put, good)
    assert own.find((good,)) == put
    os.symlink(put.sha256, os.path.join(own.folder, "sha512", "7" * 128))
    assert own.find((bad,)) is None


@pytest.mark.parametrize(
    "digest", ["", "sha256:", "sha256:../..", "sha256:" + "Z" * 64, "md5:" + "0" * 32, "sha512:../x"]
)
def test_what_is_no_digest_finds_nothing(own, digest):
    assert own.find((digest,)) is None


def test_the_best_of_several_is_taken(own, tmp_path):
    wheels = [
        Wheel("six", "1", {"six.py": tag}, tag=tag) for tag in ("py3-none-any", "cp312-none-any", "cp313-none-any")
    ]
    for each in wheels:
        own.put(each.build(tmp_path / "elsewhere"))
    ranks = {wheels[0].filename: 5, wheels[1].filename: 1, wheels[2].filename: None}
    wanted = [f"sha256:{each.sha256}" for each in wheels]
    assert own.find(wanted, ranks.get).filename == wheels[1].filename
    assert own.find(wanted[2:], ranks.get) is None


@pytest.mark.parametrize(
    "name", ["../six-1-py3-none-any.whl", "a/b-1.tar.gz", "six.txt", ".six-1.tar.gz", "-r-1.tar.gz"]
)
def test_a_name_that_leads_elsewhere_or_is_no_archive_s_is_refused(own, wheel, name):
    with pytest.raises(EnvDoctorError, match="is no file name of a wheel or source archive"):
        own.put(wheel, name)


def test_what_cannot_be_read_is_an_error_and_leaves_nothing(own, tmp_path):
    os.mkfifo(tmp_path / "six-1-py3-none-any.whl")
    for path, said in (
        (tmp_path / "none-1-py3-none-any.whl", "No such file"),
        (tmp_path / "six-1-py3-none-any.whl", "not a regular"),
    ):
        with pytest.raises(EnvDoctorError, match=said):
            own.put(str(path))
    assert os.listdir(own.folder) == ["lock"]


@pytest.mark.parametrize(
    ("mode", "said"), [(0o777, "can be written by everybody"), (0o702, "can be written by everybody")]
)
def test_a_store_that_others_can_write_is_refused(own, mode, said):
    os.chmod(own.folder, mode)
    with pytest.raises(EnvDoctorError, match=f"{said}, so nothing in it can be trusted; remove it"):
        Store(own.folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a directory away")
def test_a_store_of_somebody_else_is_refused(own):
    os.chown(own.folder, 65534, 65534)
    with pytest.raises(EnvDoctorError, match="belongs to user "):
        Store(own.folder)


def test_a_file_where_the_store_should_be_is_refused(tmp_path):
    (tmp_path / "archives").write_text("")
    with pytest.raises(EnvDoctorError, match="cannot be made: File exists"):
        Store(str(tmp_path / "archives"))


def test_its_place_is_the_user_s_cache():
    assert store.place({"HOME": "/home/me"}) == "/home/me/.cache/envdoctor/archives"
    assert store.place({"HOME": "/home/me", "XDG_CACHE_HOME": "/scratch/me"}) == "/scratch/me/envdoctor/archives"
    assert store.place({"HOME": "/home/me", "XDG_CACHE_HOME": "cache"}) == "/home/me/.cache/envdoctor/archives"


def test_what_is_on_its_way_is_moved_and_its_directory_goes(own):
    with own.incoming() as folder:
        path = SIX.build(folder)
        inode = os.stat(path).st_ino
        put = own.put(path)
        assert (os.stat(put.path).st_ino, os.path.exists(path)) == (inode, False)
    assert not os.path.exists(folder)


def killed(folder, ready):
    """Begin to fetch and never end."""
    with Store(folder).incoming() as incoming:
        SIX.build(incoming)
        ready.put(incoming)
        ready.close()
        ready.join_thread()
        os.kill(os.getpid(), 9)


def test_what_a_killed_doctor_left_does_not_count_and_is_swept_up_while_that_of_a_running_one_stays(own):
    context = multiprocessing.get_context("fork")
    ready = context.Queue()
    process = context.Process(target=killed, args=(own.folder, ready))
    process.start()
    left = ready.get(timeout=20)
    process.join(20)
    assert os.listdir(left) == [SIX.filename]
    assert own.find((SHA,)) is None
    with own.incoming() as mine, Store(own.folder).incoming() as other:
        assert (os.path.exists(left), os.path.isdir(mine), os.path.isdir(other)) == (False, True, True)


def put_many(folder, wheels):
    own = Store(folder)
    for path in wheels * 5:
        archive = own.put(path)
        assert own.find((f"sha256:{archive.sha256}",)) == archive


def test_two_at_once_do_each_other_no_harm(own, tmp_path):
    wheels = [Wheel("six", f"1.{n}", {"six.py": "x" * 50000 * n}).build(tmp_path / "elsewhere") for n in range(1, 6)]
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=put_many, args=(own.folder, wheels)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert own.dropped == []
    assert not [name for name in os.listdir(own.folder) if name.startswith("incoming-")]


def test_a_flat_directory_holds_links_under_the_true_names(own, wheel, tmp_path):
    archive = own.put(wheel)
    flat([archive], str(tmp_path / "flat"))
    link = tmp_path / "flat" / SIX.filename
    assert (link.is_symlink(), link.read_bytes()) == (True, SIX.archive())
    link.unlink()
    assert own.find((SHA,)) == archive
    with pytest.raises(EnvDoctorError, match="File exists"):
        flat([archive, archive], str(tmp_path / "flat"))
