"""NumPy 2 under what was built for NumPy 1, where no metadata forbids it."""

import pytest
from values import PIP, distribution, distributions, findings, lock

from envdoctor.model import Severity
from envdoctor.probes.packages.numpy_abi import check


def judge(*items, **facts):
    return findings(check, distributions=distributions(*items, "pip"), **facts)


def test_old_torch_with_numpy_2_is_an_error():
    (found,) = judge("torch==2.2.2", "numpy==2.0.0")
    assert (found.severity, found.subject) == (Severity.ERROR, "torch")
    assert found.evidence["numpy"] == "2.0.0"
    assert found.evidence["source"]
    assert found.remedy == (f"{PIP} install 'numpy<2'", "or install torch 2.3.0 or newer")


def test_a_locked_numpy_1_is_put_back():
    (found,) = judge("torch==2.2.2+cu121", "numpy==2.1.0", lock=lock("numpy==1.26.4"))
    assert found.remedy[0].endswith("numpy==1.26.4")


def test_other_packages_with_compiled_parts_are_judged_too():
    assert [found.subject for found in judge("numexpr==2.9.0", "numpy==2.0.0")] == ["numexpr"]


@pytest.mark.parametrize(
    "items",
    [
        ["torch==2.3.1", "numpy==2.0.0"],
        ["torch==2.3.0", "numpy==2.0.0"],
        ["torch==2.2.2", "numpy==1.26.4"],
        ["torch==2.2.2"],
        ["torch==nightly", "numpy==2.0.0"],
        [distribution("torch", "2.2.2", requires=["numpy<2"]), "numpy==2.0.0"],
        [distribution("accelerate", "0.33.0", tags=("py3-none-any",)), "numpy==2.0.0"],
    ],
    ids=["newer torch", "first", "NumPy 1", "no NumPy", "no version", "forbidden by metadata", "pure Python"],
)
def test_healthy_neighbours(items):
    assert judge(*items) == []
