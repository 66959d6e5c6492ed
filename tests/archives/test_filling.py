"""A wheelhouse is filled; what lies there already is treated with care."""

import os

import pytest

from envdoctor.archives.store import Store
from envdoctor.archives.wheelhouse import SUMS, Filled, fill
from envdoctor.errors import EnvDoctorError
from envdoctor.wheels import Wheel

SIX, IDNA = Wheel("six", "1.17.0", {"six.py": "x"}), Wheel("idna", "3.10", {"idna.py": "y"})
SIZE = len(SIX.archive()) + len(IDNA.archive())


@pytest.fixture
def archives(tmp_path):
    own = Store(str(tmp_path / "store"))
    return [own.put(wheel.build(tmp_path / "built")) for wheel in (SIX, IDNA)]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "far" / "wheels"


def test_all_is_there_with_its_sums_and_again_nothing_is_touched(archives, folder):
    assert fill(str(folder), archives) == Filled((IDNA.filename, SIX.filename), size=SIZE)
    assert (folder / SUMS).read_text() == f"{IDNA.sha256}  {IDNA.filename}\n{SIX.sha256}  {SIX.filename}\n"
    assert (folder / SIX.filename).read_bytes() == SIX.archive()
    assert (folder / SIX.filename).stat().st_mode & 0o777 == 0o644
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert fill(str(folder), archives) == Filled(kept=(IDNA.filename, SIX.filename), size=SIZE)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_link_in_the_way_is_replaced_and_what_it_leads_to_stays(archives, folder, tmp_path):
    folder.mkdir(parents=True)
    (tmp_path / "precious").write_text("precious")
    (folder / SIX.filename).symlink_to(tmp_path / "precious")
    (folder / "other-1-py3-none-any.whl").write_text("mine")
    done = fill(str(folder), archives)
    assert (done.replaced, done.new, done.others) == ((SIX.filename,), (IDNA.filename,), ("other-1-py3-none-any.whl",))
    assert (tmp_path / "precious").read_text() == "precious"
    assert not (folder / SIX.filename).is_symlink()


def test_a_file_that_changes_in_the_store_never_gets_there(archives, folder):
    os.chmod(archives[0].path, 0o600)
    with open(archives[0].path, "ab") as stream:
        stream.write(b"x")
    with pytest.raises(EnvDoctorError, match="is not what it was a moment ago; run it again"):
        fill(str(folder), archives)
    assert not (folder / SIX.filename).exists()


def test_what_cannot_be_filled_is_named(archives, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvDoctorError, match=r"file: File exists"):
        fill(str(tmp_path / "file"), archives)
