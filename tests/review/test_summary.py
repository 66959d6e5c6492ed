"""What one lock holds."""

import os

import pytest

from envdoctor import locks
from envdoctor.review.summary import Download, Hashed, summary

H1, H2 = ("sha256:" + digit * 64 for digit in "12")
MD5 = "md5:" + "1" * 32
FORKS = """\
[[package]]
name = "trainer"
source = {{ virtual = "." }}
[[package]]
name = "torch"
version = "2.11.0"
source = {{ registry = "https://index.example/simple" }}
sdist = {{ url = "https://files.example/torch-2.11.0.tar.gz", hash = "{0}", size = 1 }}
wheels = [
  {{ url = "https://files.example/torch-2.11.0-cp312-cp312-linux_x86_64.whl", hash = "{0}", size = 700 }},
  {{ url = "https://files.example/torch-2.11.0-cp312-cp312-macosx_11_0_arm64.whl", hash = "{0}", size = 70 }},
]
[[package]]
name = "torch"
version = "2.11.0+cpu"
source = {{ registry = "https://cpu.example/simple" }}
wheels = [{{ url = "https://files.example/torch-2.11.0%2Bcpu-cp312-cp312-linux_x86_64.whl", size = 200 }}]
[[package]]
name = "antlr4"
version = "4.9"
source = {{ registry = "https://index.example/simple" }}
sdist = {{ url = "https://files.example/antlr4-4.9.tar.gz", hash = "{0}", size = 5 }}
[[package]]
name = "ninja"
version = "1.0"
source = {{ registry = "https://index.example/simple" }}
wheels = [
  {{ url = "https://files.example/ninja-1.0-py3-none-linux_x86_64.whl", hash = "{0}", size = 9 }},
  {{ url = "https://files.example/ninja-1.0-py3-none-any.whl" }},
]
"""


@pytest.fixture
def forks(uv_lock):
    return summary(uv_lock(FORKS.format(H1)))


def test_pins_are_counted_by_source_and_index(forks):
    assert (forks.pins, forks.names, forks.forked) == (5, 4, ("torch",))
    assert forks.sources == {"index": 4, "virtual": 1}
    assert forks.indexes == {"https://index.example/simple": 3, "https://cpu.example/simple": 1}


def test_download_is_one_file_of_each_name(forks):
    """The smallest file of torch is of one fork, the largest of another; an sdist counts only where it is all."""
    assert forks.download == Download(least=70 + 5, most=700 + 5, known=2, unknown=1)
    sizes = {(entry.pin.name, entry.pin.version): entry.size for entry in forks.entries}
    assert sizes == {
        ("antlr4", "4.9"): (5, 5),
        ("ninja", "1.0"): None,
        ("torch", "2.11.0"): (70, 700),
        ("torch", "2.11.0+cpu"): (200, 200),
        ("trainer", None): None,
    }


def test_hashed_pins_are_told_from_those_hashed_in_part(forks):
    assert forks.hashed == Hashed(pins=4, whole=2, partly=1, algorithms={"sha256": 3})


def test_hashes_of_a_requirements_lock(read):
    found = summary(
        read(f"a==1 --hash={H1} --hash={H2}\nb==1 --hash={MD5} --hash={H1}\nc==1\n-e git+https://h.example/d#egg=d\n")
    )
    assert found.hashed == Hashed(pins=3, whole=2, partly=0, algorithms={"sha256": 2, "md5": 1})
    assert found.download is None


def test_indexes_of_options_come_first_and_have_no_count(read):
    text = "--index-url https://a.example/simple\n--extra-index-url https://b.example/simple\nc==1\n"
    assert summary(read(text)).indexes == {"https://a.example/simple": None, "https://b.example/simple": None}
    noted = text + "    # from https://b.example/simple\n"
    assert summary(read(noted)).indexes == {"https://a.example/simple": 0, "https://b.example/simple": 1}


FOLDER = os.environ.get("ENVDOCTOR_REAL_LOCKS")


@pytest.mark.skipif(not FOLDER, reason="ENVDOCTOR_REAL_LOCKS names no directory of real locks")
@pytest.mark.parametrize(
    ("name", "pins", "hashed"),
    [
        ("gcm.requirements.txt", 37, 37),
        ("open-instruct.requirements.txt", 367, 0),
        ("nanochat.uv.lock", 105, 104),
        ("odh-notebooks.pylock.cuda.toml", 314, 314),
    ],
)
def test_real_locks(name, pins, hashed):
    found = summary(locks.read(os.path.join(FOLDER, name)))
    assert (found.pins, found.hashed.whole) == (pins, hashed)
