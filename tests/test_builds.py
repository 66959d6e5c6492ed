"""Labels and indexes of builds."""

import pytest
from values import pin

from envdoctor import builds
from envdoctor.model import Artifact

DIGITS = "9" * 5000


@pytest.mark.parametrize(
    ("label", "cuda", "torch"),
    [
        ("cu128", (12, 8), set()),
        ("cu13", (13, None), set()),
        ("cu102", (10, 2), set()),
        ("cu1281", (12, None), set()),
        ("cu12torch2.4cxx11abifalse", (12, None), {(2, 4)}),
        ("cu128torch2.11.0", (12, 8), {(2, 11)}),
        ("20260318.cu128torch2100cxx11abitrue.8afc61", (12, 8), {(2, 10), (2, 100)}),
        ("pt26cu124", (12, 4), {(2, 6)}),
        ("pt112cu113", (11, 3), {(1, 12), (1, 1)}),
        ("git02105d46c", None, set()),
        ("torch2", None, set()),
        ("gpu", None, set()),
        (f"cu{DIGITS}torch2.{DIGITS}", None, set()),
        (f"torch2{DIGITS}", None, set()),
        ("", None, set()),
    ],
)
def test_what_a_label_says(label, cuda, torch):
    assert (builds.cuda(label), builds.torch(label)) == (cuda, frozenset(torch))


def test_every_spelling_of_the_table_is_read():
    import re

    from envdoctor import knowledge

    labels = {"cu12torch2.6cxx11abitrue", "cu124torch2.6cxx11abifalse", "pt26cu124", "cu124"}
    for row in knowledge.rows("extension_wheels"):
        fitting = [match for label in labels if (match := re.fullmatch(row["pattern"], label))]
        assert fitting, row["name"]
        for match in fitting:
            said = match.groupdict()
            assert builds.cuda(match[0])[0] == 12
            assert bool(builds.torch(match[0])) == ("torch" in said)
            assert builds.old_abi(match[0]) == (said.get("abi") == "false")


def test_the_label_is_the_versions_else_that_of_all_files():
    files = ("x-1.0+cu128-cp312-cp312-linux_x86_64.whl", "x-1.0+cu128-cp311-cp311-linux_x86_64.whl")
    assert builds.label_of(pin("x==1.0+CU126", artifacts=tuple(map(Artifact, files)))) == "cu126"
    assert builds.label_of(pin("x==1.0", artifacts=tuple(map(Artifact, files)))) == "cu128"
    assert builds.label_of(pin("x==1.0", artifacts=(Artifact(files[0]), Artifact("x-1.0.tar.gz")))) == ""


@pytest.mark.parametrize(
    ("url", "build"),
    [
        ("https://x.example/whl/cu128", "cu128"),
        ("https://x.example/whl/nightly/rocm6.4/", "rocm6.4"),
        ("https://x.example/whl/test/cpu/torch-2.9.1.whl", "cpu"),
        ("https://x.example/whl", ""),
        ("https://x.example/whl/cpu-old", ""),
        ("https://x.example/simple", ""),
    ],
)
def test_an_index_is_known_by_its_path(url, build):
    assert builds.index_build(url) == build
