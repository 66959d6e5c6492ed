"""Builds of a torch index in a lock that names no index."""

import pytest
from locked import SHA, audited, package, told, uv

from envdoctor.model import Severity
from envdoctor.probes.lock.unrecorded_index import check

BOUND = "numpy==2.4.6\ntorch==2.10.0+cu128\ntorchvision==0.25.0+cu128\n"


def test_labelled_pins_are_one_finding_at_the_first():
    (finding,) = found = audited(check, BOUND)
    assert (finding.severity, told(found)) == (Severity.WARNING, [("/project/requirements.txt", 2)])
    assert finding.message == "torch==2.10.0+cu128 and 1 more can come only from a torch index, and the lock names none"
    assert (finding.evidence["text"], finding.evidence["count"], finding.evidence["lines"]) == (
        "2.10.0+cu128",
        2,
        [2, 3],
    )


@pytest.mark.parametrize("label", ["cpu", "rocm6.4", "xpu", "cu130"])
def test_every_label_of_a_torch_index(label):
    assert len(audited(check, f"torch==2.11.0+{label}\n")) == 1


@pytest.mark.parametrize(
    "option", ["--index-url https://a.example/simple", "--extra-index-url https://a.example/whl/cu128", "-f ./wheels"]
)
def test_an_option_that_names_a_place(option):
    assert audited(check, f"{option}\n{BOUND}") == []


@pytest.mark.parametrize(
    "line",
    [
        "torch==2.11.0",
        f"torch==2.11.0+cu128 --hash={SHA}",
        "torchao==0.17.0+git",
        "torch==2.11.0+rhaiv.8",
        "flash-attn==2.8.1+cu13torch2.10",
        "torch @ https://a.example/torch-2.11.0+cu128-cp312-cp312-linux_x86_64.whl",
    ],
)
def test_labels_of_others_and_pins_that_name_a_file(line):
    assert audited(check, f"{line}\n") == []


def test_a_lock_that_records_an_index_of_each_package():
    assert audited(check, uv(package("torch", version='"2.11.0+cu128"')), "/project/uv.lock") == []


PYPI = '{"name": "pypi", "url": "https://index.example/simple", "verify_ssl": true}'
TORCH = '{"name": "torch", "url": "https://download.pytorch.org/whl/cu128", "verify_ssl": true}'
PIPFILE = f"""\
{{"_meta": {{"pipfile-spec": 6, "sources": [{PYPI}, {TORCH}]}}, "default": {{
"six": {{"version": "==1.17.0", "hashes": ["{SHA}"]}},
"torch": {{"version": "==2.9.0+cu128", "hashes": ["{SHA}"], "index": "torch"}},
"triton": {{"version": "==3.5.0"}},
"own": {{"path": "."}}
}}}}
"""


def test_pins_of_a_pipfile_lock_that_name_none_of_its_sources():
    (finding,) = found = audited(check, PIPFILE, "/project/Pipfile.lock")
    assert (finding.severity, told(found)) == (Severity.WARNING, [("/project/Pipfile.lock", 2)])
    assert finding.message == "2 of 3 pins do not say which of the lock's 2 sources they are from"
    assert (finding.evidence["text"], finding.evidence["lines"]) == ("six", [2, 4])


def test_a_pipfile_lock_with_one_source():
    assert audited(check, PIPFILE.replace(f", {TORCH}", ""), "/project/Pipfile.lock") == []
