"""Pins of torch that leave the build open."""

import pytest
from locked import SHA, audited, target, told

from envdoctor.model import Severity
from envdoctor.probes.lock.unlabelled_torch import check

INDEX = "--index-url https://download.pytorch.org/whl/cu128\n"


@pytest.mark.parametrize(
    "index", [INDEX, "--extra-index-url https://m.example/pt/whl/nightly/cpu/\n", "-f https://m.example/whl/rocm6.4\n"]
)
def test_beside_an_index_of_builds(index):
    (finding,) = found = audited(check, f"{index}torch==2.11.0\ntorchvision==0.26.0+cu128\n")
    assert (finding.severity, told(found)) == (Severity.WARNING, [("torch", 2)])
    assert finding.evidence["text"] == "2.11.0"


@pytest.mark.parametrize("digest", ["", f" --hash={SHA}"])
def test_beside_a_companion_with_a_label(digest):
    (finding,) = audited(check, f"torch==2.11.0+cu128{digest}\ntorchvision==0.26.0{digest}\n")
    assert (finding.subject, finding.evidence["line"]) == ("torchvision", 2)
    assert "torch is pinned to 2.11.0+cu128" in finding.message


@pytest.mark.parametrize(
    "text",
    [
        f"{INDEX}torch==2.11.0 --hash={SHA}\n",
        f"{INDEX}torch==2.11.0+cu128\n",
        f"{INDEX}torch==2.11.0 ; sys_platform == 'darwin'\n",
        f"{INDEX}triton==3.6.0\ntorchcodec==0.10.0\nnumpy==2.4.6\n",
        "--index-url https://whl.example/simple\ntorch==2.11.0\ntorchvision==0.26.0\n",
        "torch==2.11.0\ntorchao==0.17.0+git\n",
        "torch==2.11.0 ; sys_platform == 'darwin'\ntorchvision==0.26.0+cu128 ; sys_platform == 'linux'\n",
    ],
)
def test_builds_that_are_settled_or_that_there_is_one_of(text):
    assert audited(check, text) == []


def test_a_target_narrows_it():
    text = f"{INDEX}torch==2.11.0 ; platform_machine == 'aarch64'\nsix==1.17.0\n"
    assert audited(check, text) != []
    assert audited(check, text, lock_targets=target()) == []


def test_files_that_are_named_settle_it():
    text = """
    version = 1
    [[package]]
    name = "own"
    source = { virtual = "." }
    dependencies = [{ name = "torch" }, { name = "torchvision" }]
    [[package]]
    name = "torch"
    version = "2.9.1"
    source = { registry = "https://m.example/whl/cpu" }
    [[package]]
    name = "torchvision"
    version = "0.24.1+cpu"
    source = { registry = "https://m.example/whl/cpu" }
    """
    assert audited(check, text, "/project/uv.lock") == []
