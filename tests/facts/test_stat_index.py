"""The stat index: nothing is read again while nothing changed, and nothing that changed is missed."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patients import JUNE, Patient, Wheel

from envdoctor import sealing, seals
from envdoctor.facts import distributions, files, owners, records, stat_index
from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.search_path import PathEntry, SearchPath
from envdoctor.facts.stat_index import SealedFiles
from envdoctor.model import Target, Unavailable
from envdoctor.snapshot import Snapshot

A = Wheel("a", "1.5", {"a/__init__.py": "x = 1\n", "a/b.py": "y = 2\n", "a/sub/c.py": ""}, console_scripts={"a": "a:b"})
B = Wheel("b", "2.0", {"b.py": "b = 1\n"})


pytestmark = pytest.mark.usefixtures("at_once")


@pytest.fixture
def patient(tmp_path):
    patient = Patient(tmp_path)
    patient.install(A)
    patient.install(B)
    return sealed(patient)


def around(patient):
    """Return the first arguments of every collector that reads site-packages."""
    path = SearchPath((PathEntry(str(patient.site), "site-packages"),), None, user_site_enabled=False)
    return Target(str(patient.prefix), str(patient.python)), patient.host(), path


def sealed(patient):
    """Seal as `envdoctor seal` does, without the check before it, which is what takes the time."""
    target, host, path = around(patient)
    facts = {
        "interpreter": Interpreter(
            "p", ("p",), answered=False, problem="", version=None, recorded_version=None, markers={}
        ),
        "search_path": path,
        "distributions": distributions.collect(target, host, path),
        "owners": owners.collect(target, host, path, Unavailable("no seal")),
    }
    sealing._write(target, Snapshot(**facts), host)
    return patient


def collect(module, patient):
    return module.collect(*around(patient), seals.read(str(patient.prefix)))


def altered(patient):
    return [(it.path, it.how) for state in collect(files, patient).distributions for it in state.altered]


def index(patient):
    (found,) = (patient.prefix / ".envdoctor").glob("index-*")
    return found


@pytest.fixture
def no_reading(monkeypatch):
    """Make it an error to read a RECORD, in the children too."""

    def refuse(path):
        raise AssertionError(f"read {path} again")

    def forbid():
        monkeypatch.setattr(records, "read", refuse)

    return forbid


def test_nothing_is_read_again_when_nothing_changed(patient, no_reading):
    before = collect(files, patient)
    no_reading()
    assert collect(files, patient) == before
    assert before.checked == 3 + 1 + 2 * 3 + 1
    assert collect(owners, patient).unowned == ()


def test_one_that_changed_is_read_again(patient, no_reading):
    patient.edit("b.py")
    no_reading()
    with pytest.raises(Exception, match=r"read .*b-2\.0\.dist-info/RECORD again"):
        collect(files, patient)


@pytest.mark.parametrize("keep_time", [True, False])
def test_an_edit_of_the_same_size_is_seen_even_with_its_time_set_back(keep_time, patient):
    patient.edit("a/b.py", keep_size=True, keep_time=keep_time)
    assert altered(patient) == [("a/b.py", "content")]


def test_a_touched_file_is_hashed_once_and_silent(patient):
    os.utime(patient.site / "a/b.py", (JUNE, JUNE))
    assert (altered(patient), collect(files, patient).hashed) == ([], 1)


def test_a_copy_of_everything_is_hashed_and_silent(patient):
    for path in patient.site.rglob("*.py"):
        os.utime(path, (JUNE + 5, JUNE + 5))
    assert (altered(patient), collect(files, patient).hashed) == ([], 4)


def test_a_file_sealed_in_no_order_is_judged_as_without_a_seal(tmp_path):
    patient = Patient(tmp_path)
    patient.install(A)
    patient.delete("a/b.py")
    sealed(patient)
    assert [state.missing for state in collect(files, patient).distributions] == [("a/b.py",)]


def test_another_build_of_the_same_version_is_known_from_the_seal(patient):
    patient.uninstall(A)
    info = patient.install(Wheel("a", "1.5", {"a/__init__.py": "x = 2\n"}))
    assert collect(files, patient).rebuilt == (str(info),)


def test_the_same_wheel_by_another_installer_is_the_same_build(patient):
    patient.uninstall(A)
    patient.install(A, installer="uv", requested=True)
    assert collect(files, patient).rebuilt == ()


def test_a_stray_file_is_seen(patient):
    patient.add("stray.py")
    patient.add("a/sub/stray.py")
    assert [(it.owner, it.count) for it in collect(owners, patient).unowned] == [(None, 1), ("a", 1)]


@pytest.mark.parametrize("path", ["stray.py", "a/sub/stray.py"])
def test_a_stray_file_is_seen_with_its_folders_time_set_back(path, patient):
    folder = (patient.site / path).parent
    before = folder.stat()
    patient.add(path)
    os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert len(collect(owners, patient).unowned) == 1


@pytest.mark.parametrize("folder", ["", "a", "a/sub"])
def test_byte_code_does_not_make_it_slow(folder, patient, no_reading):
    patient.add(f"{folder}/__pycache__/x.cpython-399.pyc".lstrip("/"))
    patient.add(f"{folder}/y.pyc".lstrip("/"))
    no_reading()
    assert collect(owners, patient).unowned == ()


def test_a_changed_record_makes_ownership_be_read_again(patient):
    patient.install(Wheel("b", "2.0", {"b.py": "b = 1\n", "a/b.py": "mine"}), at=JUNE + 50)
    assert [it.path for it in collect(owners, patient).collisions] == ["a/b.py"]


def damage_line(path, change):
    head, *rest = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([head, *(line.partition(b"\t")[0] + b"\t" + change for line in rest)]))


@pytest.mark.parametrize(
    "change",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b'{"record": 1}',
        b'{"record": 1, "paths": 3, "times": 3}',
        b'{"record": 1, "paths": [1], "times": [1]}',
        b'{"record": 1, "paths": ["b.py"], "times": []}',
        b'{"record": 1, "paths": ["b.py", "nul\\u0000"], "times": [1, null]}',
        b"[" * 100_000,
        b"\xff",
    ],
    ids=lambda change: repr(change[:40]),
)
def test_damaged_lines_count_as_unsealed(change, patient):
    damage_line(index(patient), change)
    assert altered(patient) == []
    patient.edit("b.py", keep_size=True)
    assert altered(patient) == [("b.py", "content")]


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"folders": {}, "records": {}}',
        b'{"folders": [], "records": []}',
        b'{"folders": {"": 1}, "records": {}}',
        b'{"folders": {}, "records": {}, "owners": {"unowned": 3}}',
        b'{"folders": {}, "records": {}, "owners": null}',
        b"[" * 100_000,
    ],
    ids=lambda head: repr(head[:60]),
)
def test_a_damaged_head_counts_as_unsealed(head, patient):
    path = index(patient)
    path.write_bytes(b"\n".join([head, *path.read_bytes().split(b"\n")[1:]]))
    patient.add("stray.py")
    assert len(collect(owners, patient).unowned) == 1


@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to(path), None], ids=["fifo", "directory", "loop", "gone"]
)
def test_an_index_that_is_no_file_counts_as_none(make, patient):
    path = index(patient)
    path.unlink()
    if make:
        make(path)
    patient.edit("b.py", keep_size=True)
    patient.add("stray.py")
    assert (altered(patient), len(collect(owners, patient).unowned)) == ([("b.py", "content")], 1)


def test_names_with_tabs_newlines_and_odd_bytes_are_indexed(tmp_path):
    patient = Patient(tmp_path)
    info = patient.install(Wheel("odd", "1", {"a\tb.py": "x", "c\nd.py": "y"}))
    (patient.site / "\udce9.py").write_text("z")
    with (info / "RECORD").open("a", errors="surrogateescape") as stream:
        stream.write(f"\udce9.py,{'sha256=WU4CUMbpBU4CgQkxvA3Dva-2hwSdBLOBMzTHTMgQm4s'},1\n")
    target = str(patient.prefix)
    lines = stat_index.build(target, [str(patient.site)], lambda *_: True, None)
    found = stat_index.parse(lines[1].encode("utf-8", "surrogateescape").partition(b"\t")[2])
    assert set(found.paths) >= {"a\tb.py", "c\nd.py", "\udce9.py"}
    assert found.intact(str(patient.site), stat_index.times_of((info / "RECORD").stat()))
    assert found.by_path()["c\nd.py"][0] == 1


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["record", "paths", "times"]), inner),
    )
)
def test_no_line_breaks_it(data):
    found = stat_index.parse(json.dumps(data).encode())
    assert found is None or isinstance(found, SealedFiles)
    if found is not None:
        assert found.intact("/no/such/site", [0, 0, 0]) is False
        assert len(found.by_path()) <= len(found.paths)
