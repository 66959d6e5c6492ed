"""What was installed together is told from times, and not guessed where they prove nothing."""

import pytest
from fakes import FakeHost
from hypothesis import given
from hypothesis import strategies as st
from patients import DAY, JUNE, Patient, Wheel

from envdoctor.facts import distributions, interpreter, search_path
from envdoctor.facts.batches import GAP, Stamp, batches
from envdoctor.model import Target


def stamp(name, ended, started=None, installer="pip", requires=(), *, requested=False, times="own"):
    return Stamp(name, ended, started, installer, requested, frozenset(requires), times, frozenset(requires))


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


def asked(name, ended, requires=(), **fields):
    """Return what pip was asked for by name and wrote in a tenth of a second."""
    return stamp(name, ended, ended - 0.1, requires=requires, requested=True, **fields)


def brought(name, ended, requires=()):
    return stamp(name, ended, ended - 0.1, requires=requires)


TOP = (brought("leaf", 0), brought("mid", 0.1, ["leaf"]), asked("top", 0.2, ["mid"]))


@pytest.mark.parametrize(
    ("stamps", "expected"),
    [
        ([*TOP, asked("alone", 0.7)], [("leaf", "mid", "top"), ("alone",)]),
        ([*TOP, brought("zleaf", 0.7), asked("new", 0.8, ["zleaf"])], [("leaf", "mid", "top"), ("zleaf", "new")]),
        ([asked("a", 0), asked("b", 0.5)], [("a",), ("b",)]),
        ([asked("pip", 0), asked("numpy", 0.5)], [("pip",), ("numpy",)]),
        ([asked("b", 0), asked("a", 0.5)], [("b", "a")]),
        ([*TOP, asked("alone", 0.35)], [("leaf", "mid", "top", "alone")]),
        ([*TOP, asked("zenith", 0.7, ["top"])], [("leaf", "mid", "top", "zenith")]),
        ([*TOP[:2], asked("alone", 0.7), asked("top", 0.8, ["mid"])], [("leaf", "mid", "top", "alone")]),
        ([brought("a", 0), asked("b", 0.5)], [("a", "b")]),
        ([asked("c", 0, ["b"]), asked("b", 0.6)], [("b", "c")]),
        ([asked("a", 0, installer="uv"), asked("b", 0.5, installer="uv")], [("a", "b")]),
    ],
    ids=[
        "a leaf after a top",
        "a whole closure after another",
        "from a to z",
        "pip renewed first",
        "from z to a",
        "no pause",
        "what needs it comes after it",
        "not complete before the pause",
        "nobody asked for the first",
        "from z to a as without dependencies",
        "uv keeps no order",
    ],
)
def test_two_commands_of_pips_are_told_apart_where_one_would_have_kept_another_order(stamps, expected):
    assert sorted(map(sorted, members(stamps))) == sorted(map(sorted, expected))


def falling(*names, at, step, requires=()):
    """Return what `pip install --no-deps -r` writes: all asked for, from z to a, with a pause before each."""
    return [asked(name, at + step * n, requires.get(name, ()) if requires else ()) for n, name in enumerate(names)]


def test_a_command_without_dependencies_that_takes_its_time_is_one():
    """Seen in an image: 120 packages from z to a, wheels of seconds between them, after smaller commands."""
    first = [
        asked("m", 0),
        brought("t", 0.2),
        asked("u", 0.3, ["t"]),
        asked("torchaudio", 1),
        asked("jax-x", 2),
        asked("xx", 3),
    ]
    needs = {
        "transformers": ["tokenizers", "numpy"],
        "torchvision": ["numpy"],
        "pandas": ["numpy"],
        "timm": ["aiohttp"],
    }
    names = ("transformers", "torchvision", "tokenizers", "timm", "scipy", "pandas", "numpy", "jax", "flax", "aiohttp")
    long = falling(*names, at=6, step=2, requires=needs)
    assert members([*first, *long])[-1][-len(names) :] == names


def test_what_was_removed_since_splits_no_command():
    """`pip install alone bulk mm waist`, of which mm and waist need bulk; then bulk and waist were uninstalled."""
    assert members([asked("alone", 0), asked("mm", 0.5, ["bulk"])]) == [("alone", "mm")]
    assert members([asked("alone", 0), asked("mm", 0.5)]) == [("alone",), ("mm",)], "nothing is gone"


def test_what_is_needed_comes_first_in_a_command():
    stamps = [asked("numpy", 0), asked("zarr", 0.1, ["numpy"]), asked("abc", 0.5, ["tqdm"]), asked("tqdm", 1)]
    assert members(stamps) == [("numpy", "zarr", "abc"), ("tqdm",)]


def test_another_pip_may_have_had_another_order():
    stamps = [asked("a", 0), asked("b", 0.5)]
    assert members(stamps) == [("a",), ("b",)]
    assert [batch.members for batch in batches(stamps, ordered=False)[0]] == [("a", "b")]
    assert members([*stamps, asked("pip", 100)]) == [("a", "b"), ("pip",)]


def test_packages_older_than_their_environment_were_copied():
    """`cp -r` writes pyvenv.cfg after lib; venv writes it first, virtualenv once more after its seeds."""
    run = [stamp("numpy", 10), stamp("torch", 10.4)]
    found, timeless = batches(run, 10.5)
    assert found == ()
    assert timeless.startswith("2 distributions were copied after they had been installed: byte code, or the order")
    assert len(batches(run, 9.0)[0]) == 1
    assert len(batches([stamp("pip", 10), stamp("setuptools", 10.1)], 10.5)[0]) == 1
    later = [*run, stamp("sglang", 500)]
    assert [batch.members for batch in batches(later, 10.5)[0]] == [("sglang",)]


def test_what_lies_between_copied_ones_was_copied():
    run = [stamp("a", 1, times="copied"), stamp("b", 2), stamp("c", 3, times="copied"), stamp("d", 4, times="copied")]
    assert batches(run)[0] == ()
    assert [batch.members for batch in batches([*run, stamp("e", 8)])[0]] == [("e",)]


def test_a_ring_has_no_order_that_could_be_broken():
    ring = [asked("a", 0, ["b"]), asked("b", 0.5, ["a"])]
    assert members(ring) == [("a", "b")]


def test_a_base_layer_with_one_time_does_not_hide_what_came_later():
    base = [stamp(name, 0, times="flat") for name in "abc"]
    later = [stamp("x", 900.25), stamp("y", 901.5)]
    found, timeless = batches([*base, *later])
    assert [batch.members for batch in found] == [("x", "y")]
    assert timeless == "3 distributions carry one and the same time, as in an image layer that flattened them"


def test_a_layer_with_whole_seconds_is_told_all_the_same():
    found, timeless = batches([stamp("a", 1, times="flat"), stamp("b", 1, times="flat"), stamp("c", 3, times="flat")])
    assert ([batch.members for batch in found], timeless) == ([("a", "b", "c")], None)


@pytest.mark.parametrize(
    ("count", "said"),
    [(1, "1 distribution was copied after it had been installed"), (2, "2 distributions were copied after they had")],
)
def test_what_was_copied_is_in_no_batch(count, said):
    copied = [stamp(name, n, times="copied") for n, name in enumerate("ab"[:count])]
    found, timeless = batches([*copied, stamp("x", 5)])
    assert [batch.members for batch in found] == [("x",)]
    assert timeless.startswith(said)


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
        times=st.sampled_from(["own", "flat", "copied"]),
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
