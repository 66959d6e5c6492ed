"""Files against RECORDs on a real tree: what differs is found, what may differ is silent, the unknown is said."""

import os
import stat as stat_module

import pytest
from patients import DAY, JUNE, Patient, Wheel, digest_of

from envdoctor.errors import EnvDoctorError
from envdoctor.facts import comparison, files, records
from envdoctor.facts.comparison import AlteredFile
from envdoctor.facts.search_path import PathEntry, SearchPath
from envdoctor.model import Target, Unavailable

A = Wheel(
    "a",
    "1.5",
    {"a/__init__.py": "x = 1\n", "a/b.py": "y = 2\n", "top.py": "z = 3\n"},
    console_scripts={"a": "a:main"},
    data={"data/share/a.txt": "shared"},
)
B = Wheel("b", "2.0", {"b.py": "b = 1\n"})


pytestmark = pytest.mark.usefixtures("at_once")


@pytest.fixture
def patient(tmp_path):
    patient = Patient(tmp_path)
    patient.install(A)
    patient.install(B)
    return patient


def collect(patient):
    path = SearchPath((PathEntry(str(patient.site), "site-packages"),), None, user_site_enabled=False)
    return files.collect(Target(str(patient.prefix), str(patient.python)), patient.host(), path, Unavailable("no seal"))


def state(patient):
    (found,) = collect(patient).distributions
    return found


def append(patient, *rows):
    record = patient.info(A) / "RECORD"
    record.write_text(record.read_text() + "".join(f"{row}\n" for row in rows), errors="surrogateescape")
    os.utime(record, (JUNE, JUNE))


@pytest.fixture
def children():
    """Ask for real children."""


def test_children_find_what_one_process_finds(patient, children):
    patient.edit("a/b.py")
    patient.delete("b.py")
    assert [(it.name, it.missing_count, it.altered_count) for it in collect(patient).distributions] == [
        ("a-1.5", 0, 1),
        ("b-2.0", 1, 0),
    ]


def test_a_fresh_installation_is_in_order(patient):
    found = collect(patient)
    assert (found.distributions, found.hashed, found.unverified) == ((), 0, 0)
    assert found.checked == 3 + 1 + 2 * 3 + 1  # modules, METADATA, WHEEL and INSTALLER of each, entry_points.txt


@pytest.mark.parametrize(
    ("damage", "how"),
    [
        (lambda patient: patient.edit("a/b.py"), "size"),
        (lambda patient: patient.edit("a/b.py", keep_time=True), "size"),
        (lambda patient: patient.truncate("a/b.py"), "size"),
        (lambda patient: patient.edit("a/b.py", keep_size=True), "content"),
        (lambda patient: patient.fifo("a/b.py"), "not a file"),
        (lambda patient: (patient.delete("a/b.py"), (patient.site / "a/b.py").mkdir()), "not a file"),
    ],
    ids=["grown", "grown, time kept", "emptied", "same size", "fifo", "directory"],
)
def test_an_altered_file_is_found(damage, how, patient):
    damage(patient)
    found = state(patient)
    assert ([(it.path, it.how) for it in found.altered], found.altered_count, found.missing) == (
        [("a/b.py", how)],
        1,
        (),
    )
    assert (found.name, found.metadata, found.altered[0].recorded_size) == ("a-1.5", str(patient.info(A)), 6)


def test_same_size_and_time_without_a_seal_is_left_to_deep(patient):
    patient.edit("a/b.py", keep_size=True, keep_time=True)
    assert collect(patient).distributions == ()


@pytest.mark.parametrize("touch", [JUNE + DAY, JUNE - DAY], ids=["later", "earlier"])
def test_a_file_that_was_only_touched_is_silent(touch, patient):
    os.utime(patient.site / "a/b.py", (touch, touch))
    assert (collect(patient).distributions, collect(patient).hashed) == ((), int(touch > JUNE))


def test_a_row_without_size_is_judged_by_its_bytes(patient):
    patient.add("a/c.py", "new", at=JUNE)
    append(patient, f"a/c.py,{digest_of(b'old')},")
    assert collect(patient).distributions == ()  # as old as its package: --deep's
    os.utime(patient.site / "a/c.py", (JUNE + DAY, JUNE + DAY))
    assert state(patient).altered == (AlteredFile("a/c.py", "content", None, 3, JUNE + DAY),)


def test_what_cannot_be_hashed_is_counted_and_not_called_good(patient, monkeypatch):
    monkeypatch.setattr(comparison, "HASH_BUDGET", 0)
    patient.edit("a/b.py", keep_size=True)
    found = collect(patient)
    assert (found.distributions, found.hashed, found.unverified) == ((), 0, 1)


@pytest.mark.parametrize("digest", ["crc32=abc", "nonsense"])
def test_an_unknown_algorithm_is_counted_and_not_called_good(digest, patient):
    patient.add("a/c.py", "x", at=JUNE + DAY)
    append(patient, f"a/c.py,{digest},1")
    assert (collect(patient).distributions, collect(patient).unverified) == ((), 1)


def test_a_file_that_cannot_be_opened_is_counted_and_not_called_good(patient, monkeypatch):
    monkeypatch.setattr(records, "matches", lambda *_: None)
    patient.edit("a/b.py", keep_size=True)
    assert collect(patient).unverified == 1


@pytest.mark.parametrize("replacement", [None, "gone", "b.py"], ids=["deleted", "dangling link", "link to itself"])
def test_a_missing_file_is_found(replacement, patient):
    patient.delete("a/b.py")
    if replacement:
        (patient.site / "a/b.py").symlink_to(replacement)
    found = state(patient)
    assert (found.missing_count, found.missing[0].partition(" ")[0], found.altered) == (1, "a/b.py", ())


def test_a_package_directory_that_is_a_loop_is_missing(patient):
    for name in ("__init__.py", "b.py"):
        patient.delete(f"a/{name}")
    patient.site.joinpath("a").rename(patient.folder / "aside")
    (patient.site / "a").symlink_to("a")
    assert state(patient).missing_count == 2


def test_counts_are_of_all_and_examples_of_the_first(patient):
    append(patient, *(f"a/gone{n}.py,{digest_of(b'')},0" for n in range(60)))
    assert (state(patient).missing_count, len(state(patient).missing)) == (60, comparison.SHOWN)


@pytest.mark.parametrize(
    "row",
    [
        "a/__pycache__/gone.cpython-312.pyc,,",
        f"a/__pycache__/old.pyc,{digest_of(b'')},9",
        "a/gone.py,,",
        f"../../../bin/a,{digest_of(b'')},9",
        f"../../../share/gone.txt,{digest_of(b'')},9",
        f"{{site}}/a/x/../../gone.py,{digest_of(b'')},9",
        f"{{prefix}}/etc/gone,{digest_of(b'')},9",
    ],
)
def test_expected_changes_are_silent(row, patient):
    append(patient, row.format(site=patient.site, prefix=patient.prefix))
    assert collect(patient).distributions == ()


@pytest.mark.parametrize("row", ["/etc/passwd", "../../../../../outside.py", "a/../../../../../../outside.py"])
def test_a_row_that_leads_outside_is_named_and_not_touched(row, patient):
    append(patient, f"{row},{digest_of(b'')},0")
    assert (state(patient).outside, state(patient).missing, state(patient).altered) == ((row,), (), ())


@pytest.mark.parametrize("name", ['a/com,ma "q".py', "a/new\nline.py", "a/\udce9.py", "a/üñ.py"])
def test_odd_file_names_are_compared(name, patient):
    patient.install(Wheel("odd", "1", {name: "x"}) if "\udce9" not in name else B)
    if "\udce9" in name:
        (patient.site / os.fsencode(name).decode("utf-8", "surrogateescape")).write_text("x")
        os.utime(patient.site / name, (JUNE, JUNE))
        append(patient, f"{name},{digest_of(b'x')},1")
    assert collect(patient).distributions == ()
    patient.delete(name)
    assert state(patient).missing == (name,)


def test_a_name_that_no_file_can_have_is_missing(patient):
    append(patient, f"a/nul\0.py,{digest_of(b'')},0")
    assert state(patient).missing == ("a/nul\0.py (embedded null byte)",)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda record: record.write_text('"a,b,c\n'), "RECORD is not CSV: unexpected end of data"),
        (lambda record: (record.unlink(), os.mkfifo(record)), "RECORD is not a regular file"),
        (lambda record: (record.unlink(), record.mkdir()), "RECORD is not a regular file"),
        (
            lambda record: (record.unlink(), record.symlink_to("RECORD")),
            "RECORD cannot be read: Too many levels of symbolic links",
        ),
    ],
    ids=["no CSV", "fifo", "directory", "loop"],
)
def test_a_record_that_cannot_be_read_is_said(damage, problem, patient):
    damage(patient.info(A) / "RECORD")
    assert (state(patient).problem, state(patient).rows) == (problem, 0)


def test_without_a_record_there_is_nothing_to_compare(patient):
    (patient.info(A) / "RECORD").unlink()
    assert collect(patient).distributions == ()


@pytest.mark.parametrize(
    ("there", "how"),
    [("the file that uv linked to, patched", ["link"]), ("y = 3\n", ["link"]), ("y = 2\n", [])],
    ids=["another size", "other bytes", "the same"],
)
def test_a_link_is_told_from_an_edit_and_one_to_the_same_bytes_is_in_order(there, how, patient):
    patient.delete("a/b.py")
    (patient.folder / "cache.py").write_text(there)
    (patient.site / "a/b.py").symlink_to(patient.folder / "cache.py")
    found = collect(patient).distributions
    assert [altered.how for item in found for altered in item.altered] == how


def test_sizes_are_numbers_and_not_texts(patient):
    patient.add("a/c.py", "x" * 7, at=JUNE)
    append(patient, f"a/c.py,{digest_of(b'x' * 7)},007", f"b.py,{digest_of(b'')},{'9' * 30}")
    assert [(it.path, it.recorded_size) for it in state(patient).altered] == [("b.py", None)]


def test_byte_code_that_is_the_wheels_own_is_compared(patient):
    wheel = Wheel("c", "1", {"c/only.pyc": b"code", "c/__pycache__/x.cpython-311.pyc": b"made"})
    patient.install(wheel)
    patient.delete("c/__pycache__/x.cpython-311.pyc")
    assert collect(patient).distributions == ()
    patient.delete("c/only.pyc")
    assert state(patient).missing == ("c/only.pyc",)


def test_leftovers_of_a_failed_uninstall_are_not_compared(patient):
    patient.add("~-1.5.dist-info/RECORD", f"gone.py,{digest_of(b'')},0\n")
    assert collect(patient).distributions == ()


def test_a_share_that_fails_fails_the_fact(patient, children, monkeypatch):
    monkeypatch.setattr(files, "_compare", lambda *_, **__: 1 / 0)
    with pytest.raises(EnvDoctorError, match="ZeroDivisionError"):
        collect(patient)


def test_a_dead_mount_fails_the_fact_in_time(patient, children, monkeypatch):
    import time

    monkeypatch.setattr(files, "WITHIN", 0.3)
    monkeypatch.setattr(files, "_compare", lambda *_, **__: time.sleep(60))
    with pytest.raises(EnvDoctorError, match=r"no answer within 0\.3 s"):
        collect(patient)


def test_what_an_edit_keeps_is_really_kept(patient):
    before = (patient.site / "a/b.py").stat()
    patient.edit("a/b.py", keep_size=True, keep_time=True)
    after = (patient.site / "a/b.py").stat()
    assert (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    assert before[stat_module.ST_MTIME] == int(JUNE)
