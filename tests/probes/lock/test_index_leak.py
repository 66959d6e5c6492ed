"""Ordinary packages from a torch index."""

from dataclasses import replace

import pytest
from locked import SHA, audited, files, package, read, told, uv
from values import findings

from envdoctor.model import Severity
from envdoctor.probes.lock.index_leak import check

TORCH = "https://a.example/whl/cu128"
PYLOCK = """
lock-version = "1.0"
created-by = "test"
[[packages]]
name = "numpy"
version = "2.4.6"
wheels = [{{ url = "{url}/numpy-2.4.6-py3-none-any.whl", hashes = {{ sha256 = "{digest}" }} }}]
"""


def test_an_ordinary_package_once():
    lock = uv(package("torch", TORCH), package("numpy", TORCH), package("numpy", TORCH, version='"2.0"'))
    (finding,) = found = audited(check, lock, "/project/uv.lock")
    assert (finding.severity, told(found)) == (Severity.WARNING, [("numpy", 9)])
    assert finding.message == "numpy 1.0 is locked from a torch index (/whl/cu128)"
    assert finding.evidence["text"] == TORCH


@pytest.mark.parametrize("url", [TORCH, "https://b.example/whl/nightly/cpu", "https://c.example/whl/test/rocm6.4"])
def test_a_file_of_one(url):
    text = PYLOCK.format(url=url, digest="1" * 64)
    (finding,) = audited(check, text, "/project/pylock.toml")
    assert finding.evidence["text"] == f"{url}/numpy-2.4.6-py3-none-any.whl"


def test_a_direct_address_of_a_file():
    assert told(audited(check, f"numpy @ {TORCH}/numpy-2.4.6-py3-none-any.whl\n")) == [("numpy", 1)]


def test_an_index_that_a_comment_records():
    lock = read("sympy==1.14.0\n")
    noted = replace(lock, packages=(replace(lock.packages[0], url=TORCH),))
    assert told(findings(check, lock=noted)) == [("sympy", 1)]


@pytest.mark.parametrize(
    "name", ["torch", "torchvision", "triton", "nvidia-cublas-cu12", "cuda-bindings", "xformers", "mkl"]
)
def test_what_is_at_home_there(name):
    assert audited(check, uv(package(name, TORCH)), "/project/uv.lock") == []


def test_other_indexes():
    vendor = uv(package("flashinfer-python", "https://v.example/whl/cu128/torch2.9"))
    assert audited(check, vendor, "/project/uv.lock") == [], "a vendor's own package on an index laid out alike"
    wheel = files("https://files.example/numpy-1.0-py3-none-any.whl")
    assert audited(check, uv(package("numpy", wheels=wheel)), "/project/uv.lock") == []
    assert audited(check, f"--index-url {TORCH}\nnumpy==2.4.6 --hash={SHA}\n") == []
