"""RECORD files, whatever is in them."""

import contextlib
import csv
import hashlib
import io
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patients import csv_field, digest_of

from envdoctor.facts import records

PATHS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: "\r" not in text)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a.py,sha256=x,1\nb.py,,\n", [["a.py", "sha256=x", "1"], ["b.py", "", ""]]),
        ("a.py,sha256=x,1\r\nb.py,,\r\n", [["a.py", "sha256=x", "1"], ["b.py", "", ""]]),
        ('"a,b.py",,\n"say ""hi"".py",,\n', [["a,b.py", "", ""], ['say "hi".py', "", ""]]),
        ('"two\nlines.py",,\n', [["two\nlines.py", "", ""]]),
        ("nul\0.py,,\n", [["nul\0.py", "", ""]]),
        ("only\n\na,b\na,b,c,d\nx,,\n", [["x", "", ""]]),
        ("", []),
    ],
    ids=["plain", "CRLF", "quoted", "newline", "NUL", "other widths", "empty"],
)
def test_rows_are_read(text, rows):
    assert records.parse(text) == rows


@pytest.mark.parametrize("text", ['"a.py,,\n', '"a"b.py,,\n', "x" * 200_000 + ",,\n"], ids=["open", "junk", "too long"])
def test_what_is_no_csv_is_said(text):
    with pytest.raises(ValueError, match=r"^is not CSV: "):
        records.parse(text)


@given(st.lists(st.tuples(PATHS, st.text("abc=-_"), st.text("0123456789"))))
def test_what_the_csv_module_writes_is_read_back(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    assert records.parse(out.getvalue()) == [list(row) for row in rows]
    ours = "".join(f"{csv_field(path)},{digest},{size}\n" for path, digest, size in rows)
    assert records.parse(ours) == [list(row) for row in rows]


@given(st.text())
def test_no_text_breaks_it(text):
    with contextlib.suppress(ValueError):
        assert all(len(row) == 3 for row in records.parse(text))


def test_bytes_that_are_no_utf8_are_kept(tmp_path):
    (tmp_path / "RECORD").write_bytes(b"caf\xe9.py,,\n")
    ((path, _, _),) = records.read(str(tmp_path / "RECORD"))
    assert os.fsencode(path) == b"caf\xe9.py"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["fifo", "directory"])
def test_what_is_no_file_is_not_opened(make, tmp_path):
    make(tmp_path / "RECORD")
    with pytest.raises(ValueError, match=r"^is not a regular file$"):
        records.read(str(tmp_path / "RECORD"))


@pytest.mark.parametrize(
    ("path", "ours", "outside"),
    [
        ("torch/__init__.py", True, False),
        ("torch/__pycache__/x.cpython-312.pyc", False, False),
        ("torch/old.pyc", False, False),
        ("../../../bin/torchrun", False, True),
        ("../../../share/man/x.1", False, True),
        ("/etc/passwd", False, True),
        ("torch/../../../x", False, True),
        ("torch/..hidden", True, False),
    ],
)
def test_where_a_row_leads(path, ours, outside):
    assert (records.is_ours(path), records.is_outside(path)) == (ours, outside)


WHEEL = [["a/x.py", "sha256=1", "1"], ["a-1.dist-info/METADATA", "sha256=2", "9"]]


@pytest.mark.parametrize(
    "more",
    [
        ["a-1.dist-info/INSTALLER", "sha256=3", "4"],
        ["a-1.dist-info/REQUESTED", "sha256=3", "0"],
        ["a-1.dist-info/RECORD", "", ""],
        ["a-1.dist-info/direct_url.json", "sha256=3", "50"],
        ["a-1.dist-info/uv_cache.json", "sha256=3", "50"],
        ["../../../bin/a", "sha256=3", "200"],
        ["a/__pycache__/x.cpython-312.pyc", "sha256=3", "200"],
    ],
    ids=lambda row: row[0],
)
def test_what_the_installer_adds_does_not_count_as_the_wheels(more):
    assert records.wheel_digest([more, *WHEEL[::-1]]) == records.wheel_digest(WHEEL)


@pytest.mark.parametrize("path", ["a/y.py", "RECORDER.py", "INSTALLER/x.py", "a-1.dist-info/licenses/RECORDS"])
def test_what_the_wheel_holds_counts(path):
    assert records.wheel_digest([*WHEEL, [path, "sha256=3", "1"]]) != records.wheel_digest(WHEEL)


def test_a_name_that_is_no_utf8_counts_too():
    assert records.wheel_digest([["\udce9.py", "sha256=1", "1"]]) != records.wheel_digest([])


@pytest.mark.parametrize(
    ("digest", "verdict"),
    [
        (digest_of(b"x"), True),
        (digest_of(b"x") + "=", True),
        (digest_of(b"y"), False),
        ("sha256=", False),
        ("md5=ndTkYSaMgDT1yFZOFVxnpg", True),
        ("crc32=0", None),
        ("shake_128=0", None),
        ("", None),
    ],
)
def test_a_files_digest_is_compared(digest, verdict, tmp_path):
    (tmp_path / "x").write_bytes(b"x")
    assert records.matches(str(tmp_path / "x"), digest) is verdict


def test_what_cannot_be_read_has_no_digest(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "x").write_bytes(b"x")
    digest = digest_of(b"x")
    assert [records.matches(str(path), digest) for path in (tmp_path / "fifo", tmp_path, tmp_path / "gone")] == [
        None
    ] * 3
    assert records.matches("nul\0", digest) is None

    def forbidden(*_):
        raise ValueError("disabled for FIPS")

    monkeypatch.setattr(hashlib, "file_digest", forbidden)
    assert records.matches(str(tmp_path / "x"), digest) is None
