"""Our start-up hooks on PYTHONPATH: put there, taken off, put back, and what else stands there as it was."""

import os
from pathlib import Path

import pytest

from envdoctor.errors import UsageError
from envdoctor.hooks import COUNTERS, FX_GUARD, first, put_back, without


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, COUNTERS),
        ({"PYTHONPATH": ""}, COUNTERS),
        ({"PYTHONPATH": "/a::/b"}, f"{COUNTERS}:/a::/b"),
        ({"PYTHONPATH": ":"}, f"{COUNTERS}::"),
        ({"PYTHONPATH": f"/a:{COUNTERS}"}, f"{COUNTERS}:/a"),
    ],
    ids=["not set", "empty", "with the current directory", "that alone", "there already, further back"],
)
def test_a_hook_comes_first_and_once(before, after):
    assert first(COUNTERS, {"HOME": "/h", **before}) == {"HOME": "/h", "PYTHONPATH": after}


def test_one_in_a_directory_that_no_entry_can_name_is_refused():
    with pytest.raises(UsageError, match=r"/srv/a:b/counters: PYTHONPATH cannot name it"):
        first("/srv/a:b/counters", {})


@pytest.mark.parametrize("path", ["/a", ":", "/a::/b", ":/a"])
def test_those_that_are_taken_off_come_back_as_they_were_and_so_does_the_rest(path):
    env = {"HOME": "/h", "PYTHONPATH": f"{FX_GUARD}:{COUNTERS}:{path}"}
    found, rest = without(env)
    assert (found, rest) == ([FX_GUARD, COUNTERS], {"HOME": "/h", "PYTHONPATH": path})
    assert put_back(found, rest) == env


def test_nothing_is_left_of_a_path_with_a_hook_alone():
    assert without({"PYTHONPATH": FX_GUARD}) == ([FX_GUARD], {})


def test_one_that_was_put_there_meanwhile_is_not_put_back_twice():
    env = first(FX_GUARD, {})
    assert put_back([COUNTERS, FX_GUARD], env)["PYTHONPATH"] == f"{COUNTERS}:{FX_GUARD}"


@pytest.mark.parametrize("hook", [COUNTERS, FX_GUARD], ids=os.path.basename)
def test_a_hook_is_alone_in_its_directory(hook):
    """Whatever lies beside it could be imported by the job."""
    assert [name for name in os.listdir(hook) if name != "__pycache__"] == ["sitecustomize.py"]


def test_all_hooks_run_what_they_hide_in_the_same_way():
    """Each is a file of its own, for nothing may lie beside it: what they share is written twice."""
    sources = [Path(hook, "sitecustomize.py").read_text(encoding="utf-8") for hook in (COUNTERS, FX_GUARD)]
    chains = {source.partition("def _chain() -> None:")[2].partition("\n\n\n")[0] for source in sources}
    assert len(chains) == 1
    assert "spec.loader.exec_module(module)" in chains.pop()
