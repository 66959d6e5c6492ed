"""setuptools left out of a hashed lock."""

import pytest
from locked import SHA, audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.bootstrap_missing import check

HASHED = f"tensorboard==2.20.0 --hash={SHA}\n"
WARNED = """
# WARNING: The following packages were not pinned, but pip requires them to be
# pinned when the requirements file includes hashes and the requirement is not
# satisfied by a package already installed. Consider using the --allow-unsafe flag.
"""
UNSAFE = "\n# The following packages are considered to be unsafe in a requirements file:\n"


@pytest.mark.parametrize("comment", [WARNED, UNSAFE])
def test_names_in_a_comment(comment):
    (finding,) = found = audited(check, f"{HASHED}{comment}# setuptools\n# pip\n")
    assert (finding.severity, told(found)) == (Severity.WARNING, [("/project/requirements.txt", 3)])
    assert finding.evidence["packages"] == ["setuptools", "pip"]
    assert finding.evidence["text"] == comment.strip().split("\n")[0]


def test_the_warning_alone():
    assert len(audited(check, WARNED.lstrip() + HASHED)) == 1


@pytest.mark.parametrize(
    "text",
    [
        HASHED,
        f"{HASHED}{UNSAFE}setuptools==80.9.0 --hash={SHA}\n",
        f"tensorboard==2.20.0\n{UNSAFE}# setuptools\n",
        f"{HASHED}setuptools==80.9.0 --hash={SHA}\n{UNSAFE}# setuptools\n",
    ],
    ids=["none", "allowed", "unhashed", "pinned elsewhere"],
)
def test_its_neighbours(text):
    assert audited(check, text) == []
