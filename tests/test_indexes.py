"""Indexes, told by their path."""

import pytest

from envdoctor.indexes import torch_build


@pytest.mark.parametrize(
    ("url", "build"),
    [
        ("https://download.pytorch.org/whl/cu128", "cu128"),
        ("https://m.example/whl/cpu/", "cpu"),
        ("https://m.example/pt/whl/test/cu130", "cu130"),
        ("https://m.example/whl/nightly/rocm6.4/torch/", "rocm6.4"),
        ("https://m.example/whl", ""),
        ("https://m.example/whl/nightly/", ""),
        ("https://m.example/whl/xpu?x=1", "xpu"),
        ("https://index.example/simple", None),
        ("https://whl.example/simple", None),
        ("https://m.example/whl/torch_stable.html", None),
        ("https://m.example/whl/simple", None),
        ("https://m.example/whl/cuda", None),
        ("https://m.example/awhl/cu128", None),
    ],
)
def test_build_of_a_torch_index(url, build):
    assert torch_build(url) == build
