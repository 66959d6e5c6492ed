"""Packages of which markers leave no pin."""

import pytest
from locked import audited, target, told

from envdoctor.facts.lock_source import Input, LockSource, Wanted
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.lock.marker_drops_package import check

DROPPED = """
torch==2.11.0 ; sys_platform == 'win32'
triton==3.6.0 ; platform_machine == 'aarch64'
numpy==2.4.6 ; python_version < '3.11'
"""
EXTRA = """
lock-version = "1.0"
created-by = "demo"
extras = ["gpu"]
[[packages]]
name = "torch"
version = "2.11.0"
marker = "'gpu' in extras"
sdist = { url = "https://x.example/torch-2.11.0.tar.gz", hashes = { sha256 = "%s" } }
"""


def judge(text=DROPPED, *wanted, path="/project/requirements.txt", where=None):
    source = LockSource((Input("in.txt", "", tuple(Wanted(name, line, 1, *group) for name, line, *group in wanted)),))
    given = source if wanted else Unavailable("not at hand")
    return audited(check, text, path, lock_targets=where or target(), lock_source=given)


def test_torch_is_always_needed():
    (finding,) = found = judge()
    assert (finding.severity, told(found)) == (Severity.ERROR, [("torch", 1)])
    assert finding.message == (
        'no pin of torch applies to Python 3.12 on manylinux_2_28_x86_64: its marker is sys_platform == "win32"'
    )


def test_what_the_source_asks_for_here():
    wanted = [("numpy", "numpy>=2"), ("triton", "triton ; sys_platform == 'linux'")]
    assert [finding.subject for finding in judge(DROPPED, *wanted)] == ["numpy", "torch", "triton"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("torch==2.11.0 ; sys_platform == 'linux'\ntorch==2.11.0+cpu ; sys_platform == 'win32'\n", []),
        ("six==1.17.0\ncolorama==0.4.6 ; sys_platform == 'win32'\n", [("click", "click")]),
        ("six==1.17.0\ntomli==2.3.0 ; python_version < '3.11'\n", [("tomli", "tomli ; python_version < '3.11'")]),
        ("torch==2.11.0 ; python_full_version >= '3.12.4'\n", []),
        ("six==1.17.0\n", [("torch", "torch")]),
        ("six==1.17.0\nruff==0.9 ; sys_platform == 'win32'\n", [("ruff", "ruff", "group:dev")]),
    ],
    ids=["one applies", "nobody asks", "asked for elsewhere", "not known", "no pin", "a group's"],
)
def test_healthy_neighbours(text, wanted):
    assert judge(text, *wanted) == []


def test_an_extra_that_was_not_asked_for_is_a_choice():
    assert judge(EXTRA % ("1" * 64), path="/project/pylock.toml") == []
