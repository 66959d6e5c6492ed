"""Facts are gathered once, only if needed, each in a child; the table of needs is what the collectors ask for."""

import dataclasses
import os
from importlib import import_module

import pytest
from patients import Patient, Wheel

from envdoctor import registry, snapshot
from envdoctor.errors import LockError
from envdoctor.facts.files import Files
from envdoctor.model import Target, Unavailable
from envdoctor.snapshot import FACTS, NOT_GATHERED, Snapshot
from envdoctor.wiring import needs


@pytest.mark.parametrize("name", FACTS)
def test_the_table_agrees_with_the_collector(name):
    asked = needs(import_module(f"envdoctor.facts.{name}").collect)
    assert [need.name for need in asked] == ["target", "host", *FACTS[name]]


def test_the_table_agrees_with_the_snapshot_and_the_modules():
    fields = {field.name for field in dataclasses.fields(Snapshot)}
    assert fields == FACTS.keys()
    assert {name for needed in FACTS.values() for name in needed} <= FACTS.keys()


@pytest.fixture
def patient(tmp_path):
    patient = Patient(tmp_path)
    patient.install(Wheel("a", "1", {"a.py": ""}))
    return patient


def take(patient, *wanted, lock=None):
    return snapshot.take(
        Target(str(patient.prefix), str(patient.python), lock=lock), patient.host(), wanted, deadline=20
    )


def test_only_what_is_wanted_and_what_it_needs_is_gathered(patient):
    taken = take(patient, "distributions")
    assert {name for name, fact in taken.facts().items() if fact is not NOT_GATHERED} == {
        "distributions",
        "search_path",
        "interpreter",
    }
    assert (taken.known("distributions", "count"), taken.known("files", "checked")) == (1, None)


def test_nothing_wanted_gathers_nothing(patient):
    assert take(patient) == Snapshot()


def no_interpreter(target, host):
    raise PermissionError(13, "Permission denied", "/secret")


def no_search_path(target, host, interpreter):
    no_interpreter(target, host)


REFUSING = {"interpreter": no_interpreter, "search_path": no_search_path}


@pytest.mark.parametrize("broken", ["interpreter", "search_path"])
def test_what_needs_a_failed_fact_has_its_reason(broken, patient, monkeypatch):
    monkeypatch.setattr(import_module(f"envdoctor.facts.{broken}"), "collect", REFUSING[broken])
    taken = take(patient, "distributions", "lock")
    assert taken.distributions == Unavailable("/secret: Permission denied", failed=True)
    assert taken.lock == Unavailable("no lock: none was named and none lies beside the target")


def test_a_fact_that_hangs_is_named_and_the_others_are_there(patient):
    patient.interpreter("sleep 60")
    taken = snapshot.take(
        Target(str(patient.prefix), str(patient.python)), patient.host(), ["interpreter", "seal"], deadline=0.3
    )
    assert (taken.interpreter, taken.seal.failed) == (Unavailable("no answer within 0.3 s", failed=True), False)


def test_a_fact_that_is_not_to_be_looked_at_is_not(patient):
    (patient.prefix / ".envdoctor").mkdir()
    os.mkfifo(patient.prefix / ".envdoctor/seal.json")
    target, reason = Target(str(patient.prefix), str(patient.python)), Unavailable("not looked at")
    taken = snapshot.take(target, patient.host(), ["files"], deadline=20, instead={"seal": reason})
    assert (taken.seal, taken.known("files", "checked")) == (reason, 4)


def test_a_lock_that_is_none_stops_it(patient):
    os.mkfifo(patient.folder / "lock.txt")
    with pytest.raises(LockError, match="is a FIFO"):
        take(patient, "lock", lock=str(patient.folder / "lock.txt"))


def test_loading_imports_every_fact():
    assert len(list(snapshot.load())) == len(FACTS)
    assert list(registry.load())


@pytest.mark.parametrize(
    ("name", "deep", "seconds"),
    [("job_log", False, 300), ("node", False, 10), ("files", False, 10), ("files", True, 300), ("node", True, 10)],
)
def test_a_log_and_a_deep_check_may_take_all_the_time_there_is(name, deep, seconds):
    target = Target("/srv/env", "/srv/env/bin/python", deep=deep)
    assert snapshot._task(name, print, (), snapshot._within(name, target, 300)).timeout == seconds


def test_a_fact_that_is_not_whole_is_a_failure_and_still_judged():
    taken = Snapshot(files=Files((), 10, lost="3 of 10 files were not hashed"), driver=Unavailable("none"))
    assert taken.failed() == {"files": "3 of 10 files were not hashed"}
