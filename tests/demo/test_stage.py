"""The demo's staging: what it leaves is the contamination that it tells of."""

import os
import re
import sys
import time
from importlib.metadata import distributions
from pathlib import Path

import pytest

from envdoctor import demo
from envdoctor.errors import EnvDoctorError, UsageError


@pytest.fixture(params=["pip", "uv"])
def staged(request, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable), prepend=os.pathsep)
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))
    if request.param == "uv":
        monkeypatch.setattr(demo, "find_spec", lambda _: None)
    return demo.stage(str(tmp_path), lambda _: None)


def installed(staged):
    (site,) = Path(staged.prefix).glob("lib/python3*/site-packages")
    return {found.name: found for found in distributions(path=[str(site)])}


@pytest.mark.venv
def test_staged_venv_is_the_training_set_contaminated_by_the_serving_stack(staged):
    found = installed(staged)
    versions = {name: dist.version for name, dist in found.items()}
    locked = dict(pin.split("==") for pin in demo.TRAINING)
    assert {name for name in locked if versions[name] != locked[name]} == {"transformers"}
    assert versions["transformers"] == "5.8.1"
    foreign = versions.keys() - locked.keys()
    assert {"sglang", "flashinfer-python", "tilelang"} <= foreign
    assert len(foreign) >= 18
    assert {name for name, dist in found.items() if is_old(dist)} == locked.keys() - {"transformers"}
    altered = [file for dist in found.values() for file in dist.files if wrong_size(file)]
    assert [str(file.locate()) for file in altered] == [staged.altered]


def is_old(dist):
    (record,) = (file.locate() for file in dist.files if file.name == "RECORD")
    return record.stat().st_mtime < time.time() - demo.AGE / 2


def wrong_size(file):
    return file.size is not None and file.locate().stat().st_size != file.size


def test_without_an_installer_the_demo_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvDoctorError, match=r"pip or uv.*-m ensurepip"):
        demo.stage(str(tmp_path), lambda _: None)


def test_failing_step_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    with pytest.raises(EnvDoctorError, match=r"-m venv .*did not start: No such file"):
        demo.stage(str(tmp_path), lambda _: None)


def test_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "lockfiles").write_text("in the way")
    with pytest.raises(EnvDoctorError, match="lockfiles: cannot be written"):
        demo.stage(str(tmp_path), lambda _: None)


@pytest.mark.parametrize("kind", ["file", "full", "dangling", "loop"])
def test_what_is_there_is_not_kept_into(kind, tmp_path):
    keep = tmp_path / "keep"
    if kind == "file":
        keep.write_text("mine")
    elif kind == "full":
        keep.mkdir()
        (keep / "mine").touch()
    else:
        keep.symlink_to("gone" if kind == "dangling" else keep)
    with pytest.raises(UsageError, match=r"^--keep .*/keep: is there already; name a new or empty directory$"):
        demo.play(str(keep), print, print)


def test_every_stand_in_wheel_is_wanted_by_somebody():
    needed = {re.match(r"[a-z0-9-]+", item)[0] for requires in demo.SERVING.values() for item in requires}
    assert {pin.split("==")[0] for pin in demo.SERVING} - {"sglang"} <= needed
