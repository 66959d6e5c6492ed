"""Variants of one library in one environment."""

import pytest
from locked import audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.file_collision import check


def test_two_variants():
    (finding,) = found = audited(check, "opencv-python-headless==4.13.0.90\nsix==1.17.0\nopencv-python==4.13.0.90\n")
    assert (finding.severity, told(found)) == (Severity.WARNING, [("opencv-python", 3)])
    assert "opencv-python and opencv-python-headless both install cv2/__init__.py" in finding.message
    assert finding.evidence["lines"] == [1, 3]


def test_each_group_is_one_finding():
    found = audited(check, "faiss-cpu==1.12\nfaiss-gpu-cu12==1.12\nonnxruntime==1.23\nonnxruntime-gpu==1.23\n")
    assert [finding.subject for finding in found] == ["faiss-gpu-cu12", "onnxruntime-gpu"]


def test_releases_that_share_a_file_alone():
    assert [f.subject for f in audited(check, "flash-attn==2.8.3\nflash-attn-4==4.0.0b36\n")] == ["flash-attn-4"]
    assert audited(check, "flash-attn==2.7.4\nflash-attn-4==4.0.0b36\n") == []


def test_a_package_that_hides_a_module():
    found = audited(check, "attr==0.3.2\nattrs==26.1.0\nnvidia-ml-py==13.610.43\npynvml==11.5.3\n")
    assert told(found) == [("attr", 1), ("nvidia-ml-py", 3)]
    assert found[0].message == "attrs hides attr: `import attr` finds the former's package alone"


@pytest.mark.parametrize(
    "text",
    [
        "opencv-python==4.13.0.90\nopencv-stubs==0.1\n",
        "opencv-python==4.13 ; sys_platform == 'win32'\nopencv-python-headless==4.13 ; sys_platform == 'linux'\n",
        "mlflow==3.6\nmlflow-skinny==3.6\n",
        "pynvml==12.0.0\nnvidia-ml-py==13.610.43\n",
        "nvidia-nccl-cu12==2.27.5\nnvidia-nccl-cu13==2.28.9\n",
    ],
    ids=["one", "systems apart", "same bytes", "no file in common", "lock/cuda-mix"],
)
def test_healthy_neighbours(text):
    assert audited(check, text) == []
