"""What was installed together is told from times, and not guessed where they prove nothing."""

import pytest
from fakes import FakeHost
from hypothesis import given
from hypothesis import strategies as st
from patients import DAY, JUNE, Patient, Wheel

from envdoctor.facts import distributions, interpreter, search_path
from envdoctor.facts.batches import GAP, Stamp, batches
from envdoctor.model import Target


def stamp(name, ended, started=None, installer="pip", requires=(), *, requested=False):
    return Stamp(name, ended, started, installer, requested, frozenset(requires))


def members(stamps):
    found, timeless = batches(stamps)
    assert timeless is None
    return [batch.members for batch in found]


@pytest.mark.parametrize(
    ("stamps", "expected"),
    [
        ([stamp("a", 0), stamp("b", GAP)], [("a", "b")]),
        ([stamp("a", 0), stamp("b", GAP + 1)], [("a",), ("b",)]),
        ([stamp("b", 300, 5), stamp("a", 0)], [("a", "b")]),
        ([stamp("a", 0), stamp("b", 1, installer="uv")], [("a",), ("b",)]),
        ([stamp("a", 0), stamp("b", 9), stamp("c", 18)], [("a", "b", "c")]),
        ([stamp("a", 5)], [("a",)]),
        ([], []),
    ],
    ids=["together", "pause", "long unpacking is no pause", "another installer", "a chain", "one", "none"],
)
def test_silence_and_another_installer_end_a_batch(stamps, expected):
    assert members(stamps) == expected


def test_one_time_for_all_proves_nothing():
    found, timeless = batches([stamp("a", 7), stamp("b", 7)])
    assert (found, "same time" in timeless) == ((), True)


@pytest.mark.parametrize(
    ("stamps", "roots"),
    [
        ([stamp("dep", 0), stamp("top", 1, requires=["dep", "elsewhere"])], ("top",)),
        ([stamp("dep", 0), stamp("x", 1, requires=["dep"]), stamp("y", 2, requested=True)], ("y",)),
        ([stamp("dep", 0, requested=True), stamp("x", 1, requires=["dep"], requested=True)], ("x",)),
        ([stamp("a", 0, requires=["b"]), stamp("b", 1, requires=["a"], requested=True)], ("b",)),
        ([stamp("a", 0, requires=["b"]), stamp("b", 1, requires=["a"])], ()),
        ([stamp("a", 0, requires=["a"]), stamp("b", 1)], ("a", "b")),
    ],
    ids=["not required", "requested", "requested and not required", "a cycle asked for", "a cycle", "needs itself"],
)
def test_roots_are_what_the_others_came_for(stamps, roots):
    assert batches(stamps)[0][0].roots == roots


def test_a_batch_lasts_from_the_first_file_to_the_last_record():
    (batch,), _ = batches([stamp("a", 20, 3), stamp("b", 25, 21)])
    assert (batch.started, batch.ended, batch.installer) == (3, 25, "pip")


STAMPS = st.lists(
    st.builds(
        Stamp,
        name=st.sampled_from("abcdef"),
        ended=st.floats(0, 100),
        started=st.none() | st.floats(0, 100),
        installer=st.sampled_from(["pip", "uv", None]),
        requested=st.booleans(),
        requires=st.frozensets(st.sampled_from("abcdef")),
    )
)


@given(STAMPS)
def test_everything_is_in_one_batch_and_they_are_in_order(stamps):
    found, timeless = batches(stamps)
    if timeless is None:
        assert sorted(name for batch in found for name in batch.members) == sorted(item.name for item in stamps)
    assert all(batch.started <= batch.ended and set(batch.roots) <= set(batch.members) for batch in found)
    assert [batch.ended for batch in found] == sorted(batch.ended for batch in found)


def collect(patient):
    target, host = Target(str(patient.prefix), str(patient.python)), patient.host()
    speaker = interpreter.collect(target, FakeHost())  # from disk: starting it tells nothing that matters here
    return distributions.collect(target, host, search_path.collect(target, host, speaker))


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_two_installations_on_disk_are_two_batches(installer, tmp_path):
    patient = Patient(tmp_path)
    patient.install(Wheel("leaf", "1", {"leaf.py": ""}), installer=installer, at=JUNE)
    patient.install(
        Wheel("top", "1", {"top.py": ""}, requires=("leaf",)), installer=installer, at=JUNE + 1, requested=True
    )
    patient.install(Wheel("late", "1", {"late.py": ""}, requires=("leaf",)), installer=installer, at=JUNE + DAY)
    assert [(batch.members, batch.roots) for batch in collect(patient).batches] == [
        (("leaf", "top"), ("top",)),
        (("late",), ("late",)),
    ]


def test_a_large_wheel_of_pip_is_no_pause(tmp_path):
    patient = Patient(tmp_path)
    patient.install(Wheel("leaf", "1", {"leaf.py": ""}), at=JUNE)
    patient.install(Wheel("torch", "1", {"torch/x.py": ""}), at=JUNE + 300, took=298)
    assert [batch.members for batch in collect(patient).batches] == [("leaf", "torch")]
    assert collect(patient).batch_of["torch"].started == JUNE


def test_times_flattened_by_an_image_prove_nothing(tmp_path):
    patient = Patient(tmp_path)
    for name in ("a", "b"):
        patient.install(Wheel(name, "1", {f"{name}.py": ""}), at=JUNE)
    found = collect(patient)
    assert (found.batches, found.batch_of, "image layer" in found.timeless) == ((), {}, True)
