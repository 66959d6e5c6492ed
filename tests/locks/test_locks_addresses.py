"""Where addresses lead, and which of them are torch indexes."""

import pytest

from envdoctor.locks.addresses import host, is_loopback, scheme
from envdoctor.locks.torch_index import TorchIndex, is_label, recognised


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://a.example/whl/cu128", TorchIndex("/whl/cu128", "", "cu128")),
        ("https://a.example/whl/cu130/torch-2.11.0-py3-none-any.whl", TorchIndex("/whl/cu130", "", "cu130")),
        ("http://1.2.3.4:8080/mirror/whl/test/rocm6.4/", TorchIndex("/whl/test/rocm6.4", "test", "rocm6.4")),
        ("https://a.example/whl/nightly/xpu?x=1", TorchIndex("/whl/nightly/xpu", "nightly", "xpu")),
        ("https://a.example/whl/nightly", TorchIndex("/whl/nightly", "nightly")),
        ("https://a.example/whl/nightly/x-1-py3-none-any.whl", TorchIndex("/whl/nightly", "nightly")),
        ("https://a.example/whl/", TorchIndex("/whl")),
        ("https://****@a.example/whl/CPU", TorchIndex("/whl/cpu", "", "cpu")),
        ("https://a.example/whl/x-1-py3-none-any.whl", None),
        ("https://a.example/whl/cu128x/simple", None),
        ("https://a.example/whl/test-data", None),
        ("https://a.example/test/y", None),
        ("https://a.example/simple?u=/whl/cu128", None),
        ("/opt/whl/cu128", None),
        ("file:///opt/whl/cu128", None),
    ],
)
def test_a_torch_index_is_told_by_its_path(address, expected):
    assert recognised(address) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("cu128", True), ("rocm6.4.2", True), ("cpu", True), ("cu13torch2", False)]
)
def test_labels_of_a_torch_index(text, expected):
    assert is_label(text) is expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://a.Example:8443/x", ("https", "a.example")),
        ("git+http://****@a.example/x@main", ("http", "a.example")),
        ("git+ssh://git@github.example:org/x", ("ssh", "github.example")),
        ("http://[::1]:80/x", ("http", "::1")),
        ("file:///opt/x", ("file", "")),
        ("./wheels", ("", "")),
        ("a.example/x", ("", "")),
    ],
)
def test_scheme_and_host(address, expected):
    assert (scheme(address), host(address)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("localhost", True), ("a.localhost", True), ("127.0.0.1", True), ("::1", True), ("127.0.0.1.example", False)],
)
def test_this_machine_itself(name, expected):
    assert is_loopback(name) is expected
