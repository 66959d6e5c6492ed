"""`envdoctor demo` as a stranger meets it: nothing prepared, nothing left behind."""

import os
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.venv


@pytest.fixture(scope="module")
def shown(tmp_path_factory, doctor):
    """The demo's answer, the seconds it took, and what it left in its folder for temporary files."""
    scratch = tmp_path_factory.mktemp("scratch")
    began = time.monotonic()
    answer = doctor("demo", env={"TMPDIR": str(scratch)})
    return answer, time.monotonic() - began, os.listdir(scratch)


def test_demo_tells_the_contamination_as_one_block_and_the_edit_as_another(shown):
    answer, _, _ = shown
    assert answer.status == 0
    block = answer.stdout.partition("sglang 0.5.9 is not in train.txt; its install also moved")[2].partition("\n\n")[0]
    assert block.startswith(" transformers 5.6.0 -> 5.8.1 and added ")
    assert "flashinfer-python" in block
    assert "tilelang" in block
    assert "accelerate/__init__.py of accelerate 1.12.0 is not what was installed" in answer.stdout
    assert "accelerate" not in block
    assert "\033" not in answer.stdout


def test_demo_is_quick_and_leaves_nothing(shown, doctor):
    _, seconds, left = shown
    assert seconds < 15
    assert left == []
    assert not list(doctor.home.rglob("*.sqlite")), "no mark of an environment that lives for seconds"


def test_demo_shows_what_readme_says_it_shows(shown):
    answer, _, _ = shown
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (head,) = [line for line in answer.stdout.splitlines() if line.startswith("SICK")]
    assert f"    {head}\n" in readme


def test_kept_demo_can_be_checked_as_it_says(tmp_path, doctor):
    folder = tmp_path / "kept"
    answer = doctor("demo", "--keep", folder)
    assert answer.status == 0
    command = answer.stdout.rpartition("try: envdoctor ")[2].split()
    again = doctor(*command, "--format", "json")
    assert again.status == 1
    assert ("packages/foreign", "sglang") in again.said("error")
    assert again.report["target"]["lock"] == str(folder / "lockfiles/train.txt")


def test_demo_overwrites_nothing(tmp_path, doctor):
    (tmp_path / "mine.txt").write_text("mine")
    answer = doctor("demo", "--keep", tmp_path)
    assert answer.status == 2
    assert answer.stderr.count("\n") == 1
    assert "is there already" in answer.stderr
    assert os.listdir(tmp_path) == ["mine.txt"]
