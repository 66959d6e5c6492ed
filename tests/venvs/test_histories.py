"""Batches of real pip and real uv, and what both commands tell of them."""

import os
import shutil
import time

import pytest

from envdoctor import demo
from envdoctor.facts import distributions, interpreter, search_path
from envdoctor.model import Target
from envdoctor.system.host import LocalHost
from envdoctor.wheels import Wheel

pytestmark = pytest.mark.venv
WHEELS = (
    Wheel("leaf", "1.0", {"leaf/__init__.py": ""}),
    Wheel("mid", "1.0", {"mid/__init__.py": ""}, ("leaf",)),
    Wheel("top", "1.0", {"top/__init__.py": ""}, ("mid",)),
    Wheel("alone", "1.0", {"alone/__init__.py": ""}),
)


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheelhouse")
    for wheel in WHEELS:
        wheel.build(folder)
    return folder


@pytest.fixture
def venv(tmp_path, wheelhouse, new_venv):
    return new_venv(tmp_path / "project", wheelhouse)


def found(prefix):
    target, host = Target(str(prefix), str(prefix / "bin/python")), LocalHost()
    return distributions.collect(target, host, search_path.collect(target, host, interpreter.collect(target, host)))


def batches(prefix):
    return [sorted(batch.members) for batch in found(prefix).batches]


def test_two_commands_of_pips_in_a_row_are_two(venv):
    venv.pip("install", "top")
    venv.pip("install", "alone")
    assert batches(venv.prefix) == [["leaf", "mid", "top"], ["alone"]]


def test_one_command_of_pips_with_several_roots_is_one(venv):
    venv.pip("install", "top", "alone", "leaf")
    assert batches(venv.prefix) == [["alone", "leaf", "mid", "top"]]


@pytest.mark.parametrize("mode", ["copy", "hardlink", "symlink"])
def test_one_command_of_uvs_is_one(mode, venv):
    began = time.time() - 1
    venv.uv("top", "alone", mode=mode)
    (batch,) = found(venv.prefix).batches
    assert (sorted(batch.members), sorted(batch.roots)) == (["alone", "leaf", "mid", "top"], ["alone", "top"])
    assert began < batch.started <= batch.ended


def test_a_copy_that_lost_its_times_is_unknown(venv, tmp_path):
    venv.pip("install", "top")
    for module in venv.site.glob("*/__init__.py"):
        os.utime(module, (then := module.stat().st_mtime - 3600, then))
    venv.perform(str(venv.python), "-c", "import top, mid, leaf")
    copied = tmp_path / "copied/.venv"
    shutil.copytree(venv.prefix, copied, symlinks=True, copy_function=shutil.copyfile)
    told = found(copied)
    assert told.batches == ()
    assert told.timeless.startswith("3 distributions were copied after they had been installed")


def test_a_copy_without_byte_code_is_unknown(venv, tmp_path):
    """Its pyvenv.cfg is younger than its packages, which no installer can bring about."""
    venv.pip("install", "--no-compile", "top")
    for cached in [*venv.site.rglob("__pycache__")]:
        shutil.rmtree(cached)
    copied = tmp_path / "copied/.venv"
    shutil.copytree(venv.prefix, copied, symlinks=True, copy_function=shutil.copyfile, ignore=lambda *_: ["pyvenv.cfg"])
    shutil.copyfile(venv.prefix / "pyvenv.cfg", copied / "pyvenv.cfg")
    told = found(copied)
    assert told.batches == ()
    assert "were copied after they had been installed" in told.timeless


def test_an_image_layer_with_one_time_is_unknown_and_what_came_later_is_not(venv):
    venv.pip("install", "top")
    for folder, folders, files in os.walk(venv.prefix):
        for name in (*folders, *files):
            os.utime(os.path.join(folder, name), (1_700_000_000,) * 2, follow_symlinks=False)
    assert batches(venv.prefix) == []
    venv.pip("install", "alone")
    told = found(venv.prefix)
    assert ([batch.members for batch in told.batches], told.timeless[:15]) == ([("alone",)], "3 distributions")


def test_both_commands_tell_the_story_of_the_demo(tmp_path, doctor):
    staged = demo.stage(str(tmp_path), lambda _: None)
    told = doctor("timeline", "--target", staged.prefix)
    assert told.status == 0
    first, *_ = told.stdout.splitlines()
    assert first.startswith("repurposed on ")
    story = "pip installed sglang 0.5.9, which added 19 packages and moved transformers 5.6.0 -> 5.8.1"
    assert first.endswith(story)
    assert "pip installed 19 packages, all as the lock has them" in told.stdout
    assert "a file of accelerate changed after the install" in told.stdout
    why = doctor("blame", "transformers", "--target", staged.prefix).stdout
    assert why.startswith("transformers 5.8.1, where the lock has 5.6.0, on account of sglang\n")
    assert "required by  sglang 0.5.9: transformers==5.8.1\n" in why
    assert f"in company   {story}\n" in why
