"""Under which key marks are remembered, and that a damaged state is said."""

import os

from fakes import FakeHost
from values import NOW, driver, gpu, jit_tools, torch_build

from envdoctor.facts.cache_marks import collect
from envdoctor.model import Target, Unavailable
from envdoctor.state import marks as state
from envdoctor.state.marks import Key, Mark

TARGET = Target("/env", "/env/bin/python")
KEY = Key("node7", str(os.geteuid()), "/env", "2.11.0+cu130", "3.6.0", "8.0 9.0")
DRIVER = driver(gpu(0), gpu(1), gpu(2, capability=(8, 0)))


def look(folder, **fields):
    host = FakeHost(env={"XDG_STATE_HOME": str(folder)}, **fields)
    return collect(TARGET, host, torch_build(), jit_tools("3.6.0"), DRIVER)


def test_the_key_is_host_user_target_torch_triton_and_gpus(tmp_path):
    found = look(tmp_path)
    assert (found.key, found.marks, found.problem) == (KEY, (), None)
    then = NOW.timestamp()
    state.record(found.path, KEY, [Mark("fxgraph", "", 412, 1, "/c", then, then)], then)
    assert look(tmp_path).of("fxgraph").keys == 412
    assert look(tmp_path).of("fxgraph", "cuda:0") is None


def test_without_gpus_and_triton_parts_of_it_are_empty(tmp_path):
    none = Unavailable("none")
    found = collect(TARGET, FakeHost(env={"XDG_STATE_HOME": str(tmp_path)}), torch_build(), none, none)
    assert (found.key.triton, found.key.arch) == ("", "")


def test_a_damaged_state_is_said(tmp_path):
    (tmp_path / "envdoctor").mkdir()
    (tmp_path / "envdoctor/node7.sqlite").write_text("x" * 4096)
    assert "not a database" in look(tmp_path).problem


def test_below_a_root_there_are_none(tmp_path):
    assert isinstance(look(tmp_path, root="/img"), Unavailable)
