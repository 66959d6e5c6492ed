"""How a lock's summary is written down."""

import json

from envdoctor.model import Artifact, Lock, LockedPackage, LockHeader, LockProblem
from envdoctor.reports import lock_show
from envdoctor.reports.text import Style
from envdoctor.review.summary import summary

H1 = "sha256:" + "1" * 64
EVIL = "1\x1b[2J\u202e"
SECRET = "https://u:hunter2@index.example/simple"


def wheel(name, *sizes):
    return tuple(Artifact(f"{name}-1-py3-none-p{size}.whl", hashes=(H1,), size=size) for size in sizes)


TORCH = LockedPackage("torch", "2.11.0", url="https://index.example/simple", artifacts=wheel("torch", 1024, 2048))
SIX = LockedPackage("six", "1.17.0", source="url", artifacts=wheel("six", 1024), via=("torch",))
LOCK = Lock(
    "pylock.toml",
    "pylock",
    (TORCH, SIX, LockedPackage("apex", None, source="vcs", url="git+https://h.example/apex@1", via=("-r in",))),
    requires_python=">=3.11",
    environments=('sys_platform == "linux"',),
    extras=("gpu",),
    groups=("dev", "docs"),
    default_groups=("dev",),
    indexes=("https://index.example/simple",),
    header=LockHeader("uv export", "uv export --format pylock.toml", "3.12", "linux", 1),
)
TEXT = """\
pylock.toml: pylock
made by          uv export, for Python 3.12, linux
command          uv export --format pylock.toml
pins             3
sources          1 index, 1 url, 1 vcs
hashed           2 of 2 by sha256
download         2 KiB to 3 KiB (the smallest and the largest file of each) for 2 names
requires-python  >=3.11
environments     sys_platform == "linux"
extras           gpu
groups           dev (default), docs
index            https://index.example/simple (1 pins)
"""
TABLE = """\

package  version  source  hashes  size            wanted by
apex              vcs                             -r in
six      1.17.0   url     1       1 KiB           torch
torch    2.11.0   index   1       1 KiB to 2 KiB
"""


def test_the_whole_text():
    assert lock_show.render(summary(LOCK)) == TEXT


def test_packages_only_if_asked_for():
    assert lock_show.render(summary(LOCK), packages=True) == TEXT + TABLE


def test_what_is_not_recorded_is_said_or_left_out():
    said = lock_show.render(summary(Lock("a.txt", "requirements", (LockedPackage("a", "1"),))))
    assert said == (
        "a.txt: requirements\n"
        "pins             1\n"
        "sources          1 index\n"
        "hashed           0 of 1\n"
        "download         unknown: no sizes are recorded\n"
    )


def test_problems_have_their_places():
    problems = (LockProblem(3, "is odd"), LockProblem(0, "has no line"), LockProblem(4, "is odd", "more.txt"))
    said = lock_show.render(summary(Lock("a.txt", "requirements", (), problems=problems)))
    assert said.endswith("not understood (3)\n  a.txt:3: is odd\n  a.txt: has no line\n  more.txt:4: is odd\n")
    many = Lock("a.txt", "requirements", (), problems=problems[:1] * 1000)
    assert lock_show.render(summary(many)).endswith("  and 980 more (--format json has all)\n")


def test_json_has_everything():
    said = json.loads(lock_show.render_json(summary(LOCK)))
    assert said["made_by"]["tool"] == "uv export"
    assert said["hashed"] == {"of": 2, "whole": 2, "partly": 0, "algorithms": {"sha256": 2}}
    assert said["download"] == {"least": 2048, "most": 3072, "known": 2, "unknown": 0}
    assert said["indexes"] == [{"url": "https://index.example/simple", "pins": 1}]
    assert "packages" not in said
    packages = json.loads(lock_show.render_json(summary(LOCK), packages=True))["packages"]
    assert [(package["name"], package["direct"], package["wanted_by"]) for package in packages] == [
        ("apex", True, ["-r in"]),
        ("six", False, ["torch"]),
        ("torch", True, []),
    ]


def test_no_text_of_a_lock_reaches_the_terminal_as_it_is():
    evil = Lock(
        "a\x1b.txt",
        "requirements",
        (LockedPackage("a", EVIL, via=(EVIL, SECRET)), LockedPackage("b", None, source="vcs", url=SECRET)),
        project=EVIL,
        requires_python=EVIL,
        environments=(EVIL,),
        groups=(EVIL,),
        indexes=(SECRET,),
        problems=(LockProblem(1, EVIL + SECRET, EVIL),),
        header=LockHeader(EVIL, f"uv --index-url {SECRET}", EVIL, EVIL),
    )
    for said in (
        lock_show.render(summary(evil), packages=True),
        lock_show.render(summary(evil), Style(60)),
        lock_show.render_json(summary(evil), packages=True),
    ):
        assert not {"\x1b", "\u202e"} & set(said)
        assert "hunter2" not in said
