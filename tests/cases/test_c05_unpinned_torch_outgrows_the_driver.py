"""An unpinned torch moved to CUDA 13 on machines with driver 535, overnight: rapidsai/cugraph-gnn#410."""

from values import driver, findings

from envdoctor.facts.torch_build import parse
from envdoctor.model import Severity
from envdoctor.probes.cuda.driver_too_old import check
from envdoctor.system.nvml import decoded


def judge(cuda):
    torch = parse(f"__version__ = '2.10.0'\ncuda: str | None = '{cuda}'\n", "/env/torch/version.py")
    return findings(check, driver=driver(version="535.183.01", cuda=decoded(12020)), torch_build=torch)


def test_the_wheel_asks_for_a_newer_driver_major():
    (finding,) = judge("13.0")
    assert (finding.severity, finding.subject) == (Severity.ERROR, "torch")
    assert "needs driver 580 or newer; this node has 535.183.01, whose CUDA ends at 12.2" in finding.message
    assert "12020" in finding.message, "the number in torch's own message"
    assert any("cu128" in step for step in finding.remedy)


def test_control_cuda_12_8_runs_by_minor_version_compatibility():
    assert [finding.severity for finding in judge("12.8")] == [Severity.NOTE]
