"""What a wheel puts where is read off the archive, however odd or hostile it is."""

import warnings
import zipfile
from pathlib import Path

import pytest
from installs import DEMO, archive

from envdoctor.installing.contents import leads_out, read, script
from envdoctor.installing.layout import Layout
from envdoctor.wheels import Wheel

LAYOUT = Layout("/srv/env", "lib/python3.12/site-packages", "3.12")
SITE = LAYOUT.site
ODD = Wheel("odd", "1.0", {"odd/__init__.py": "x = 1\n", "odd/data.txt": "data\n"})
INFO = "odd-1.0.dist-info"


def packed(folder, more=(), record=None):
    """Pack ODD with more members, its RECORD changed by a function."""
    entries = ODD.entries()
    if record:
        entries[f"{INFO}/RECORD"] = record(entries[f"{INFO}/RECORD"].decode())
    path = folder / ODD.filename
    with zipfile.ZipFile(path, "w") as wheel, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a name that is in it twice
        for name, data in [*entries.items(), *more]:
            wheel.writestr(name, data)
    return archive(path)


def test_every_member_has_its_place(tmp_path):
    found = read(archive(DEMO.build(tmp_path)), LAYOUT)
    assert found.faults == found.notes == []
    assert found.info == f"{SITE}/demo_pkg-1.0.dist-info"
    assert sorted(found.files) == sorted(
        [f"{SITE}/{path}" for path in DEMO.files]
        + [f"{SITE}/demo_pkg-1.0.dist-info/{name}" for name in ("METADATA", "WHEEL", "entry_points.txt")]
        + ["bin/tool.py", "bin/tool.sh", "share/demo/note.txt", "include/site/python3.12/demo-pkg/demo.h"]
        + [f"{SITE}/demo_pure.py", f"{SITE}/demo_plat.py"]
    )
    assert found.scripts == {"demo": "demo_pkg:main", "demo-app": "demo_pkg.cli:App.run"}
    assert [path for path, member in found.files.items() if member.rewritten] == ["bin/tool.py"]
    assert script(found.archive, found.files["bin/tool.py"].name) == b"print('tool')\n"


@pytest.mark.parametrize("name", ["../up.py", "/abs.py", "a/../../b.py", "a//b.py", "a\\..\\b.py", "./a.py"])
def test_member_that_leads_out_is_a_fault_and_has_no_place(name, tmp_path):
    made = packed(tmp_path, [(name, "")])
    (fault,) = read(made, LAYOUT).faults
    assert fault.how == f"{name!r}: leads out of the environment"
    assert fault.path == made.path
    assert leads_out(made) == name
    assert len(read(made, LAYOUT).files) == 4


def test_healthy_wheel_leads_nowhere(tmp_path):
    assert leads_out(packed(tmp_path, [("odd/empty/", "")])) == ""


OWN = "would replace a file of the environment's own"
NOWHERE = "would be written where no command belongs"


@pytest.mark.parametrize(
    ("name", "data", "what", "how"),
    [
        ("odd-1.0.data/scripts/python3", "", "", OWN),
        ("odd-1.0.data/scripts/activate", "", "", OWN),
        ("odd-1.0.data/data/pyvenv.cfg", "", "", OWN),
        ("odd-1.0.data/other/x", "", "", "is of no kind that wheels have"),
        ("odd/data.txt", "evil", "", "is in the wheel twice, with different bytes"),
        ("odd-1.0.data/platlib/odd/data.txt", "evil", "", "goes where another of its files goes"),
        ("two-1.0.dist-info/METADATA", "", None, "has no dist-info of odd, or several"),
        (f"{INFO}/entry_points.txt", "[console_scripts]\n../x = a:b\n", "entry point '../x'", NOWHERE),
        (f"{INFO}/entry_points.txt", "[console_scripts]\npython = a:b\n", "entry point 'python'", NOWHERE),
        (f"{INFO}/entry_points.txt", "nothing\n", "entry_points.txt", "cannot be read"),
    ],
)
def test_hostile_wheel_is_a_fault(name, data, what, how, tmp_path):
    said = how if what is None else f"{what or repr(name)}: {how}"
    assert [fault.how for fault in read(packed(tmp_path, [(name, data)]), LAYOUT).faults] == [said]


def without(row):
    return lambda text: "".join(line for line in text.splitlines(keepends=True) if not line.startswith(row))


@pytest.mark.parametrize(
    ("record", "note"),
    [
        (without("odd/data.txt"), "its RECORD does not list 'odd/data.txt'; the file's own bytes were compared"),
        (
            lambda text: without("odd/data.txt")(text) + "odd/data.txt,md5=bl0,5\n",
            "its RECORD has a weak digest of 'odd/data.txt'; the file's own bytes were compared",
        ),
        (lambda text: f"{text}a.py,sha256=AA,1\nb.py,,\n", "its RECORD lists 'a.py', which is not in it and 1 more"),
    ],
)
def test_odd_record_is_a_note_and_the_bytes_count(record, note, tmp_path):
    found = read(packed(tmp_path, record=record), LAYOUT)
    assert found.faults == []
    assert found.notes == [f"{ODD.filename}: {note}"]
    healthy = read(archive(ODD.build(tmp_path / "healthy")), LAYOUT)
    assert {path: member.digest for path, member in found.files.items()} == {
        path: member.digest for path, member in healthy.files.items()
    }


def test_wheel_without_record_is_a_fault(tmp_path):
    made = packed(tmp_path)
    with zipfile.ZipFile(made.path, "w") as wheel:
        for name, data in ODD.entries().items():
            if not name.endswith("RECORD"):
                wheel.writestr(name, data)
    assert [fault.how for fault in read(made, LAYOUT).faults] == ["has no RECORD"]


@pytest.mark.parametrize("kept", [slice(0), slice(-30), slice(30)])
def test_file_that_is_no_wheel_is_a_fault(kept, tmp_path):
    made = packed(tmp_path)
    data = Path(made.path).read_bytes()
    Path(made.path).write_bytes(data[kept])
    (fault,) = read(made, LAYOUT).faults
    assert fault.how.startswith("cannot be read as a wheel: ")


def garbled(data):
    """Damage the packed bytes of RECORD, whose header stays whole."""
    at = data.index(f"{INFO}/RECORD".encode()) + len(f"{INFO}/RECORD")
    return data[:at] + bytes(byte ^ 0xFF for byte in data[at : at + 40]) + data[at + 40 :]


def marked(data, headers):
    """Put a byte at its offset in every header of a kind."""
    found = bytearray(data)
    for signature, offset, value in headers:
        at = data.find(signature)
        while at >= 0:
            found[at + offset] = value
            at = data.find(signature, at + 1)
    return bytes(found)


def encrypted(data):
    """Set the lowest bit of the flags, in the local headers and the central ones (APPNOTE.TXT 4.3.7, 4.3.12)."""
    return marked(data, [(b"PK\x03\x04", 6, 1), (b"PK\x01\x02", 8, 1)])


def unknown_way(data):
    """Name a way of packing that nobody has, in the central headers."""
    return marked(data, [(b"PK\x01\x02", 10, 99)])


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("damage", [garbled, encrypted, unknown_way])
def test_a_record_that_cannot_be_unpacked_is_a_fault(damage, method, tmp_path):
    made = packed(tmp_path)
    with zipfile.ZipFile(made.path, "w", method) as wheel:
        for name, data in ODD.entries().items():
            wheel.writestr(name, data)
    Path(made.path).write_bytes(damage(Path(made.path).read_bytes()))
    assert read(made, LAYOUT).faults


def test_installers_own_files_that_were_packed_with_a_wheel_do_not_count(tmp_path):
    found = read(packed(tmp_path, [(f"{INFO}/INSTALLER", "conda"), (f"{INFO}/RECORD.jws", "{}")]), LAYOUT)
    assert found.faults == found.notes == []
    assert f"{SITE}/{INFO}/INSTALLER" not in found.files
    assert f"{SITE}/{INFO}/RECORD.jws" in found.files
