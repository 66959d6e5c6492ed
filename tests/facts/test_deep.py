"""A deep check hashes every file with a recorded digest, once; what it remembers is never taken for more than it is."""

import hashlib
import os
import random
import threading
import time
from base64 import urlsafe_b64encode
from dataclasses import replace

import pytest
from patients import JUNE, Patient, Wheel, digest_of

from envdoctor.errors import EnvDoctorError
from envdoctor.facts import deep, files, hash_memory, hashing
from envdoctor.facts.comparison import AlteredFile
from envdoctor.facts.hashing import Fault, Hashed, hash_all
from envdoctor.facts.search_path import PathEntry, SearchPath
from envdoctor.model import Target, Unavailable

A = Wheel("a", "1", {f"a/m{n}.py": f"x = {n}\n" for n in range(6)}, console_scripts={"a": "a.m0:main"})
B = Wheel("b", "2", {"b.py": "y = 2\n"})
ONCE = 9
"""Files with a recorded digest: seven modules, and METADATA and WHEEL of two packages, as `Patient` installs them."""


def at_once(monkeypatch):
    """Let files count as settled at once."""
    monkeypatch.setattr(hashing, "SETTLED", 0.0)
    monkeypatch.setattr(deep, "SETTLED", 0.0)


@pytest.fixture
def patient(tmp_path, monkeypatch):
    at_once(monkeypatch)
    patient = Patient(tmp_path / "project")
    patient.install(A)
    patient.install(B)
    return patient


def collect(patient, *, afresh=False, seal=None):
    path = SearchPath((PathEntry(str(patient.site), "site-packages"),), None, user_site_enabled=False)
    target = Target(str(patient.prefix), str(patient.python), deep=True, afresh=afresh)
    return files.collect(target, patient.host(), path, seal or Unavailable("no seal"))


def counts(found):
    return found.hashed, found.remembered


def place(patient):
    target = Target(str(patient.prefix), str(patient.python))
    return hash_memory.path_of(target, patient.host())


def altered(found):
    return {(item.path, item.how) for state in found.distributions for item in state.altered}


def settle():
    """Let the clock of the file system tick."""
    time.sleep(0.02)


def test_everything_is_hashed_once(patient):
    settle()
    first, second = collect(patient), collect(patient)
    assert (first.deep, first.distributions, first.lost, first.forgotten) == (True, (), None, None)
    assert counts(first) == (first.checked, 0)
    assert counts(second) == (0, first.checked)
    assert second.checked == first.checked >= ONCE


def test_same_size_and_time_is_found(patient):
    settle()
    collect(patient)
    patient.edit("a/m1.py", keep_size=True, keep_time=True)
    for _ in range(2):
        found = collect(patient)
        assert altered(found) == {("a/m1.py", "content")}
        assert found.hashed == 1, "what else there is of a is remembered"


def test_a_script_is_hashed_as_well_where_its_installer_records_it(patient):
    settle()
    collect(patient)
    patient.edit("../../../bin/a", keep_size=True, keep_time=True)
    assert altered(collect(patient)) == {("../../../bin/a", "content")}
    (patient.info(A) / "INSTALLER").write_text("conda\n")
    (patient.info(A) / "RECORD").touch()
    assert ("../../../bin/a", "content") not in altered(collect(patient))


def test_a_file_that_is_mended_is_in_order_again(patient):
    settle()
    before = (patient.site / "a/m1.py").read_bytes()
    patient.edit("a/m1.py", keep_size=True, keep_time=True)
    assert altered(collect(patient))
    (patient.site / "a/m1.py").write_bytes(before)
    settle()
    assert collect(patient).distributions == ()
    assert counts(collect(patient))[0] == 0


@pytest.mark.parametrize("seed", range(3))
def test_every_altered_byte_is_found_and_nothing_else(seed, patient):
    """A random byte of random files is changed, at the same size, and mtime is set back: by round, a few of them."""
    chance = random.Random(seed)  # noqa: S311
    settle()
    collect(patient)
    for _ in range(4):
        chosen = chance.sample(sorted(A.files) + sorted(B.files), chance.randint(1, 4))
        kept = {path: (patient.site / path).read_bytes() for path in chosen}
        for path, data in kept.items():
            mutate(patient.site / path, data, chance)
        assert {path for path, _ in altered(collect(patient))} == set(chosen)
        for path, data in kept.items():
            (patient.site / path).write_bytes(data)
        settle()
        assert altered(collect(patient)) == set()


def mutate(path, data, chance):
    status = path.stat()
    at = chance.randrange(len(data))
    changed = data[:at] + bytes([data[at] ^ chance.randint(1, 255)]) + data[at + 1 :]
    path.write_bytes(changed)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_file_that_was_written_just_now_is_not_remembered(patient, monkeypatch):
    """Whoever writes it again within a tick of the clock leaves size, times and inode as they were."""
    monkeypatch.setattr(hashing, "SETTLED", 3600.0)
    collect(patient)
    again = collect(patient)
    assert counts(again) == (again.checked, 0)


def test_a_record_that_was_written_just_now_is_not_remembered(patient, monkeypatch):
    monkeypatch.setattr(deep, "SETTLED", 3600.0)
    collect(patient)
    again = collect(patient)
    assert counts(again) == (again.checked, 0)


def rewrite(patient, path, content):
    """Make a file and its row agree on other bytes, as a package that is edited on purpose would."""
    record = patient.info(A) / "RECORD"
    old = (patient.site / path).read_bytes()
    record.write_text(record.read_text().replace(digest_of(old), digest_of(content)))
    return record


def test_another_digest_in_the_record_is_another_question(patient):
    settle()
    collect(patient)
    record = rewrite(patient, "a/m1.py", b"x = 9\n")
    os.utime(record, (JUNE, JUNE))
    assert altered(collect(patient)) == {("a/m1.py", "content")}


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-20]),
        lambda path: path.write_bytes(b"\xff" * 1000),
        lambda path: path.write_bytes(path.read_bytes().replace(b'"times"', b'"tames"')),
        lambda path: path.write_bytes(path.read_bytes().replace(b"6,", b"7,", 1)),
        lambda path: path.chmod(0o666),
        lambda path: path.parent.chmod(0o777),
        lambda path: (path.rename(path.parent / "there"), path.symlink_to("there")),
        lambda path: path.unlink(),
    ],
)
def test_a_memory_that_is_not_sound_is_not_believed(damage, patient):
    settle()
    first = collect(patient)
    from pathlib import Path

    damage(Path(place(patient)))
    again = collect(patient)
    assert counts(again) == (first.checked, 0)
    assert again.forgotten is None


def test_what_cannot_be_remembered_is_said_and_judged_all_the_same(patient):
    os.makedirs(os.path.dirname(os.path.dirname(place(patient))))
    with open(os.path.dirname(place(patient)), "w") as file:
        file.write("")
    patient.edit("b.py", keep_size=True, keep_time=True)
    found = collect(patient)
    assert "hashed" in found.forgotten
    assert altered(found) == {("b.py", "content")}


def test_afresh_neither_reads_nor_writes(patient):
    settle()
    collect(patient, afresh=True)
    assert not os.path.exists(place(patient))
    first = collect(patient)
    assert counts(collect(patient, afresh=True)) == counts(first)


def test_what_was_not_reached_is_said_and_the_rest_remembered(patient, monkeypatch):
    settle()
    monkeypatch.setattr(hashing, "MANY", 1)
    real = hashing._hashed

    def over(path, *rest):
        if path.endswith("b.py"):
            raise TimeoutError
        return real(path, *rest)

    monkeypatch.setattr(hashing, "_hashed", over)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    monkeypatch.setattr(hashing, "_portions", lambda jobs: sorted(portions(jobs), key=lambda p: jobs[p[0]][0]))
    found = collect(patient)
    assert "files were not hashed within 86400.0 s; give it more with --deadline" in found.lost
    monkeypatch.undo()
    at_once(monkeypatch)
    rest = collect(patient)
    assert 0 < rest.hashed < rest.checked
    assert rest.lost is None


portions = hashing._portions


def test_a_file_that_cannot_be_read_is_said(patient, monkeypatch):
    def denied(path, **_):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(hashing, "descriptor", denied)
    found = collect(patient)
    assert found.lost.endswith(f"and {found.checked - 1} more cannot be read")
    assert "Permission denied" in found.lost


@pytest.mark.parametrize("digest", ["blake9=xyz", "shake_128=xyz"])
def test_an_unknown_algorithm_is_counted_and_not_called_good(digest, patient):
    record = patient.info(B) / "RECORD"
    record.write_text(record.read_text().replace(digest_of(b"y = 2\n"), digest))
    assert (collect(patient).unverified, altered(collect(patient))) == (1, set())


def test_another_algorithm_is_known(patient):
    right = urlsafe_b64encode(hashlib.sha512(b"y = 2\n").digest()).rstrip(b"=").decode()
    record = patient.info(B) / "RECORD"
    text = record.read_text()
    record.write_text(text.replace(digest_of(b"y = 2\n"), f"sha512={right}"))
    assert altered(collect(patient)) == set()
    record.write_text(text.replace(digest_of(b"y = 2\n"), f"sha512={right[::-1]}"))
    assert altered(collect(patient)) == {("b.py", "content")}


def test_a_link_to_other_bytes_of_one_size_is_told(patient):
    (patient.site / "other").write_bytes(b"y = 3\n")
    patient.delete("b.py")
    (patient.site / "b.py").symlink_to("other")
    assert altered(collect(patient)) == {("b.py", "link")}


@pytest.mark.parametrize("kind", ["fifo", "device"])
def test_what_is_no_file_hangs_nothing(kind, patient):
    if kind == "fifo":
        patient.fifo("b.py")
    else:
        patient.delete("b.py")
        (patient.site / "b.py").symlink_to("/dev/zero")
    assert altered(collect(patient)) == {("b.py", "not a file")}


def test_a_fifo_that_comes_between_looking_and_hashing_is_said(patient, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = hash_all([(str(tmp_path / "pipe"), "sha256=x", 3)], time.monotonic() + 5, 1)
    assert found == Hashed(faults={0: Fault("unreadable", "is not a regular file")})


def test_a_plain_check_neither_reads_nor_writes_the_memory(patient):
    path = SearchPath((PathEntry(str(patient.site), "site-packages"),), None, user_site_enabled=False)
    plain = files.collect(Target(str(patient.prefix), str(patient.python)), patient.host(), path, Unavailable("none"))
    assert (plain.deep, plain.hashed) == (False, 0)
    assert not os.path.exists(place(patient))


def test_a_seal_vouches_for_nothing_here(patient):
    from envdoctor import seals

    settle()
    patient.edit("b.py", keep_size=True, keep_time=True)
    patient.seal(force=True)
    seal = seals.read(str(patient.prefix))
    assert altered(collect(patient, seal=seal)) == {("b.py", "content")}


def test_a_rebuilt_wheel_is_told_against_the_seal_by_memory_as_well(patient):
    from envdoctor import seals

    settle()
    patient.seal()
    collect(patient)
    seal = seals.read(str(patient.prefix))
    other = replace(seal, distributions=tuple(replace(item, record="0" * 64) for item in seal.distributions))
    record = patient.info(B) / "RECORD"
    os.utime(record, (JUNE + 5, JUNE + 5))
    settle()
    assert str(patient.info(B)) in collect(patient, seal=other).rebuilt
    assert str(patient.info(B)) in collect(patient, seal=other).rebuilt


def test_two_at_once_agree_and_leave_a_sound_memory(patient):
    settle()
    found = []
    threads = [threading.Thread(target=lambda: found.append(collect(patient))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [item.distributions for item in found] == [(), ()]
    assert counts(collect(patient)) == (0, found[0].checked)


def test_targets_checked_longest_ago_are_forgotten(patient, monkeypatch):
    monkeypatch.setattr(hash_memory, "KEPT", 2)
    folder = os.path.dirname(place(patient))
    for number in range(4):
        other = os.path.join(folder, f"{number}" * 40)
        hash_memory.write(other, {"a": b"{}"})
        os.utime(other, (JUNE + number, JUNE + number))
    hash_memory.write(place(patient), {})
    assert len(os.listdir(folder)) == 2
    assert os.path.exists(place(patient))


def test_nothing_is_remembered_where_times_prove_nothing(patient, monkeypatch):
    assert not hash_memory.is_sure_of_times("/dev/shm")
    assert hash_memory.is_sure_of_times("/proc")
    (patient.folder / "mounts").write_text("")
    monkeypatch.setattr(hash_memory, "MOUNTS", str(patient.folder / "mounts"))
    assert not hash_memory.is_sure_of_times("/proc"), "nobody says what it is"
    settle()
    monkeypatch.setattr(hash_memory, "is_sure_of_times", lambda _: False)
    first = collect(patient)
    assert counts(collect(patient)) == counts(first)
    assert not os.path.exists(place(patient))


def test_a_file_with_two_digests_of_which_one_is_wrong_is_never_in_order(patient):
    settle()
    record = patient.info(B) / "RECORD"
    record.write_text(f"b.py,sha256={'A' * 43},6\n" + record.read_text())
    settle()
    for _ in range(2):
        assert altered(collect(patient)) == {("b.py", "content")}


def test_what_is_not_ours_is_never_removed(patient, monkeypatch):
    monkeypatch.setattr(hash_memory, "KEPT", 0)
    folder = os.path.dirname(place(patient))
    hash_memory.write(place(patient), {})
    with open(os.path.join(folder, "thesis.tex"), "w") as file:
        file.write("x")
    hash_memory.write(place(patient), {})
    assert os.listdir(folder) == ["thesis.tex"]


def test_a_relative_cache_directory_is_ignored(patient):
    target = Target(str(patient.prefix), str(patient.python))
    assert hash_memory.path_of(target, patient.host(XDG_CACHE_HOME="cache")) == place(patient)
    assert hash_memory.path_of(target, patient.host(XDG_CACHE_HOME="/c")).startswith("/c/envdoctor/hashed/")


def test_the_memory_of_an_image_lies_with_the_caller(patient):
    target = Target(str(patient.prefix), str(patient.python))
    there = replace(patient.host(), root=str(patient.folder)).inhabited(str(patient.prefix))
    assert there.home == "/root"
    folder = os.path.dirname(place(patient))
    assert os.path.dirname(hash_memory.path_of(target, there)) == folder


def test_a_share_that_fails_fails_the_fact(patient, monkeypatch):
    monkeypatch.setattr(deep, "_part", lambda *_: 1 / 0)
    with pytest.raises(EnvDoctorError, match="ZeroDivisionError"):
        collect(patient)


def test_portions_begin_with_the_largest_and_hold_each_file_once():
    jobs = [(str(n), "", size) for n, size in enumerate([5, 40 << 20, 7, 0, 15 << 20, 2 << 20] + [1] * 600)]
    found = hashing._portions(jobs)
    assert found[0] == [1]
    assert sorted(number for portion in found for number in portion) == list(range(len(jobs)))
    assert max(map(len, found)) == hashing.MANY
    assert hashing._portions([]) == []


def test_more_portions_than_any_pipe_holds_are_all_hashed(tmp_path, monkeypatch):
    monkeypatch.setattr(hashing, "MANY", 1)
    monkeypatch.setattr(hashing, "_hashed", lambda *_: None)
    jobs = [(str(n), "", 1) for n in range(40_000)]
    assert len(hash_all(jobs, time.monotonic() + 60, 3).same) == len(jobs)


def test_time_that_is_over_leaves_the_rest(tmp_path):
    (tmp_path / "x").write_bytes(b"x" * 100)
    assert hash_all([(str(tmp_path / "x"), "sha256=x", 100)], time.monotonic() - 1, 2) == Hashed()


def test_an_altered_file_has_its_sizes(patient):
    patient.edit("b.py", keep_size=True, keep_time=True)
    (state,) = collect(patient).distributions
    assert state.altered == (AlteredFile("b.py", "content", 6, 6),)
    assert state.altered_count == 1
