"""torch's build is read from its text, never imported."""

import os
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patients import Patient, Wheel

from envdoctor.facts import interpreter, search_path, torch_build
from envdoctor.facts.torch_build import TorchBuild, parse
from envdoctor.model import Target, Unavailable

CUDA = """\
from typing import Optional

__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'xpu']
__version__ = '2.11.0+cu128'
debug = False
cuda: Optional[str] = '12.8'
git_version = 'abc'
hip: Optional[str] = None
"""


@pytest.mark.parametrize(
    ("text", "expected", "label"),
    [
        (CUDA, TorchBuild("p", "2.11.0+cu128", "12.8", None, "abc"), "cu128"),
        ("__version__ = '2.1.0+cpu'\ncuda = None\ndebug = True", TorchBuild("p", "2.1.0+cpu", debug=True), "cpu"),
        ("__version__ = '2.9.0'\nhip: str = '6.4'", TorchBuild("p", "2.9.0", hip="6.4"), ""),
        (CUDA.replace("\n", "\r\n"), TorchBuild("p", "2.11.0+cu128", "12.8", None, "abc"), "cu128"),
        ("__version__ = compute()\ncuda = 12.8\na = b = '1'\n(cuda) = 3", TorchBuild("p", None), ""),
        ("", TorchBuild("p", None), ""),
        ("__version__ = '1\\d'", TorchBuild("p", "1\\d"), ""),
    ],
    ids=["cuda", "cpu", "hip", "CRLF", "no constants", "empty", "odd escape"],
)
def test_constants_are_read(text, expected, label):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = parse(text, "p")
    assert (found, found.label) == (expected, label)


@pytest.mark.parametrize(
    "text",
    ["version =", "\0", "(" * 5000, "-" * 60_000 + "1", "x = " + "[" * 300, "x." * 30_000 + "x", "1" * 5000 + "=2"],
    ids=["incomplete", "NUL", "parentheses", "minus", "brackets", "dots", "digits"],
)
def test_what_is_no_python_is_said_or_has_no_version(text):
    found = parse(text, "p")
    assert found == Unavailable("p is not Python") or found == TorchBuild("p", None)


@given(st.text() | st.text("()[]'\"=\n:cudahip_version1.+ \\"))
def test_no_text_breaks_it(text):
    assert isinstance(parse(text, "p"), TorchBuild | Unavailable)


@pytest.fixture
def patient(tmp_path):
    return Patient(tmp_path)


def collect(patient, **env):
    target, host = Target(str(patient.prefix), str(patient.python)), patient.host(**env)
    return torch_build.collect(target, host, search_path.collect(target, host, interpreter.collect(target, host)))


def test_torch_is_found_and_not_run(patient, tmp_path):
    touch = f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
    patient.install(Wheel("torch", "2.11.0", {"torch/__init__.py": touch, "torch/version.py": CUDA + touch}))
    assert (collect(patient).version, (tmp_path / "ran").exists()) == ("2.11.0+cu128", False)


def test_the_first_torch_on_the_path_is_the_one(patient, tmp_path):
    patient.install(Wheel("torch", "2.11.0", {"torch/version.py": CUDA}))
    (tmp_path / "own/torch").mkdir(parents=True)
    (tmp_path / "own/torch/version.py").write_bytes(b"\xef\xbb\xbf__version__ = '9' # \xff")
    assert collect(patient, PYTHONPATH=str(tmp_path / "own")).version == "9"


def test_no_torch_is_no_failure(patient):
    assert collect(patient) == Unavailable("torch is not installed")


@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to(path)], ids=["fifo", "directory", "loop"]
)
def test_a_version_file_that_is_no_file_is_said(make, patient):
    patient.add("torch/__init__.py")
    make(patient.site / "torch/version.py")
    assert collect(patient) == Unavailable(f"{patient.site}/torch/version.py is not a regular file")
