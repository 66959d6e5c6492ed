import pytest

from envdoctor import knowledge
from envdoctor.review.families import family


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch", "torch"),
        ("triton", "torch"),
        ("torchvision", "torch"),
        ("nvidia-cublas", "cuda"),
        ("nvidia-cusolver-cu12", "cuda"),
        ("nvidia-cudnn-cu13", "cuda"),
        ("cuda-toolkit", "cuda"),
        ("cupy-cuda12x", "cuda"),
        ("nvidia-ml-py", None),
        ("nvidia-cutlass-dsl", None),
        ("nvidia-cudnn-frontend", None),
        ("torchmetrics", None),
        ("numpy", None),
    ],
)
def test_family(name, expected):
    assert family(name) == expected


def test_every_companion_of_torch_is_of_its_family():
    companions = {"torch", "torchvision", "torchaudio", "triton"}
    assert companions <= {key for row in knowledge.rows("torch_companions") for key in row}
    assert {family(name) for name in companions} == {"torch"}


def test_the_table_repeats_no_other_one():
    ours = {row["name"] for row in knowledge.rows("families")}
    assert not ours & {row["name"] for row in knowledge.rows("nvidia_families")}
    assert {row["family"] for row in knowledge.rows("families")} == {"torch", "cuda"}
