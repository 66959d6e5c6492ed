"""When a distribution was installed: read where times are the installer's own, doubted where a copy gave them."""

import os
import struct

import pytest
from patients import DAY, JUNE, Patient, Wheel

from envdoctor.facts import install_times

SIX = Wheel("six", "1.0", {"six/__init__.py": "x = 1\n", "six/more.py": ""})


@pytest.fixture
def patient(tmp_path):
    return Patient(tmp_path)


def read(patient, installer="pip", wheel=SIX):
    return install_times.read(str(patient.info(wheel)), str(patient.site), installer)


def byte_code(patient, when, flags=0):
    """Write byte code of the first module, made when its source had that time."""
    path = patient.site / "six/__pycache__/__init__.cpython-312.pyc"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"\xcb\r\r\n" + struct.pack("<III", flags, int(when), 6) + b"code")


def dated(path, when):
    os.utime(path, (when, when))


def test_the_first_file_is_the_packages_and_not_installer(patient):
    """RECORD's rows are sorted, and `six-1.0.dist-info/INSTALLER`, written last but one, comes before `six/`."""
    info = patient.install(SIX, at=JUNE, took=90, compiled=False)
    rows = sorted((info / "RECORD").read_text().splitlines())
    (info / "RECORD").write_text("\n".join([*rows, ""]))
    dated(info / "RECORD", JUNE)
    dated(info / "INSTALLER", JUNE)
    assert rows[0].startswith("six-1.0.dist-info/INSTALLER")
    assert read(patient) == install_times.Times(JUNE, JUNE - 90)


def test_a_hard_link_has_the_time_of_the_cache(patient, tmp_path):
    info = patient.install(SIX, installer="uv", at=JUNE)
    for path in (info / "METADATA", patient.site / "six/__init__.py"):
        (tmp_path / path.name).hardlink_to(path)
    assert read(patient, "uv") == install_times.Times(JUNE, None)


def test_a_hard_link_whose_cache_is_gone_has_it_too(patient):
    patient.install(SIX, installer="uv", at=JUNE)
    assert read(patient, "uv").started is None, "ctime is now and mtime is not"


def test_a_copy_of_uvs_begins_with_its_first_file(patient):
    info = patient.install(SIX, installer="uv", at=JUNE)
    first = patient.site / "six/__init__.py"
    first.write_text("x = 1\n")
    wrote = first.stat().st_mtime
    dated(info / "RECORD", wrote + 40)
    assert read(patient, "uv") == install_times.Times(wrote + 40, wrote)


@pytest.mark.parametrize(
    ("remembered", "worth"), [(JUNE - DAY, "copied"), (JUNE, "flat"), (JUNE + DAY, "copied"), (JUNE - 3, "flat")]
)
def test_byte_code_remembers_when_its_source_was_written(remembered, worth, patient):
    patient.install(SIX, compiled=False)
    byte_code(patient, remembered)
    assert read(patient).worth == worth


def test_byte_code_that_is_checked_by_hash_remembers_nothing(patient):
    patient.install(SIX, compiled=False)
    byte_code(patient, JUNE - DAY, flags=1)
    assert read(patient).worth == "flat"


@pytest.mark.parametrize("content", [b"", b"short", None])
def test_byte_code_that_is_none_tells_nothing(content, patient):
    patient.install(SIX, compiled=False)
    byte_code(patient, JUNE - DAY)
    path = patient.site / "six/__pycache__/__init__.cpython-312.pyc"
    path.unlink()
    if content is None:
        os.mkfifo(path)
    else:
        path.write_bytes(content)
    assert read(patient).worth == "flat"


def test_an_edit_is_no_copy(patient):
    patient.install(SIX, compiled=False)
    byte_code(patient, JUNE)
    patient.edit("six/__init__.py", at=JUNE + 30)
    assert read(patient).worth == "own"


def test_parts_of_seconds_are_no_layers(patient):
    patient.install(SIX, at=JUNE + 0.25)
    assert read(patient).worth == "own"


def test_without_a_record_metadata_tells(patient):
    info = patient.install(SIX)
    (info / "RECORD").unlink()
    assert read(patient) == install_times.Times(JUNE, JUNE)
    (info / "METADATA").unlink()
    assert read(patient) == install_times.Times(None, None)


class TestChanged:
    def test_is_when_a_name_came_or_went(self, patient):
        dated(patient.site, JUNE)
        assert install_times.changed(str(patient.site)) == JUNE

    def test_is_unknown_where_the_folder_of_byte_code_may_have_come(self, patient):
        (patient.site / "__pycache__").mkdir()
        path = patient.site / "__pycache__/six.cpython-312.pyc"
        path.write_bytes(b"")
        dated(path, JUNE)
        dated(patient.site, JUNE + 1)
        assert install_times.changed(str(patient.site)) is None
        dated(patient.site, JUNE + DAY)
        assert install_times.changed(str(patient.site)) == JUNE + DAY

    def test_of_what_is_not_there_is_unknown(self, patient):
        assert install_times.changed(str(patient.site / "gone")) is None
