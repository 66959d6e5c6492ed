"""The metadata of a wheelhouse: of real wheels, and of what only looks like one."""

import os
import zipfile

import pytest
from doctor import Doctor

from envdoctor.audit.wheelhouse import read
from envdoctor.errors import UsageError
from envdoctor.wheels import Wheel

TOOLS = Wheel("lab-tools", "1.1", {"lab_tools.py": ""}, ("lab-core>=3",))
CORE = Wheel("lab-core", "3.0", {"lab_core.py": ""})
NAME = "broken-1.0-py3-none-any.whl"


def flipped(path):
    """Damage the deflated bytes of a member, not the directory of the archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("broken-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nVersion: 1.0\n" * 200)
    data = bytearray(path.read_bytes())
    data[60:80] = bytes(20)
    path.write_bytes(data)


def with_flag(flag, method=0):
    """Say of a member that it is encrypted, or packed by an unknown method: in its head and in the directory."""

    def make(path):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("broken-1.0.dist-info/METADATA", "Version: 1.0\n")
        data = bytearray(path.read_bytes())
        for start, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            place = data.index(start) + at
            data[place : place + 4] = flag.to_bytes(2, "little") + method.to_bytes(2, "little")
        path.write_bytes(data)

    return make


BROKEN = {
    "no archive": lambda path: path.write_bytes(b"no archive"),
    "empty": lambda path: path.write_bytes(b""),
    "damaged": flipped,
    "encrypted": with_flag(1),
    "unknown method": with_flag(0, 99),
    "no metadata": lambda path: zipfile.ZipFile(path, "w").close(),
    "directory": lambda path: path.mkdir(),
    "FIFO": os.mkfifo,
    "dangling": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_no_wheel_hides_no_other(tmp_path, make):
    TOOLS.build(tmp_path)
    make(tmp_path / NAME)
    found = read(str(tmp_path))
    assert found.of("lab-tools", "1.1").requires == ("lab-core>=3",)
    assert found.of("broken", "1.0") is None
    assert found.source == f"the wheelhouse {tmp_path}"


def test_what_holds_no_wheel_is_usage(tmp_path):
    with pytest.raises(UsageError, match="holds no wheel"):
        read(str(tmp_path))
    with pytest.raises(UsageError, match="No such file"):
        read(str(tmp_path / "nothing"))


def test_it_tells_what_a_lock_lacks_and_what_is_not_known(tmp_path):
    doctor, house = Doctor(tmp_path), tmp_path / "house"
    TOOLS.build(house)
    lock = tmp_path / "lock.txt"
    stated = ("--python", "3.12", "--platform", "manylinux_2_28_x86_64", "--wheelhouse", "house", "--format", "json")
    lock.write_text("lab-tools==1.1\n")
    (finding,) = doctor("lock", "audit", "lock.txt", *stated).findings("lock/incomplete")
    assert finding["subject"] == "lab-core"
    lock.write_text("lab-tools==1.1\nlab-core==3.0\n")
    reasons = {item["probe"]: item["reason"] for item in doctor("lock", "audit", "lock.txt", *stated).report["skipped"]}
    assert reasons["lock/incomplete"] == "no metadata at hand of lab-core"
    CORE.build(house)
    assert {"lock/incomplete", "lock/broken-requirement"} <= set(
        doctor("lock", "audit", "lock.txt", *stated).report["passed"]
    )
