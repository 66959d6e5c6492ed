"""Pins that nothing asks for."""

from dataclasses import replace

import pytest
from locked import ROOT, audited, package, read, told, uv
from values import findings

from envdoctor.model import LockHeader, Severity, Unavailable
from envdoctor.probes.lock.orphan import check
from envdoctor.views import lock_orphans

NEEDS = ROOT + 'dependencies = [{ name = "a", marker = "sys_platform == \'win32\'" }]\n'


def noted(*pins, tool="pip-compile", command="pip-compile in.txt"):
    """Return a requirements lock, given as (name, askers...)."""
    lock = read("".join(f"{name}==1.0\n" for name, *_ in pins))
    packages = (replace(pin, via=tuple(via)) for pin, (_, *via) in zip(lock.packages, pins, strict=True))
    return replace(lock, packages=tuple(packages), header=LockHeader(tool, command, line=1))


ROOTED = ("torch", "-r requirements.in")


def test_a_package_that_no_edge_of_a_uv_lock_reaches():
    lock = uv(NEEDS, package("a", dependencies='[{ name = "b" }]'), package("b"), package("left"))
    (finding,) = found = audited(check, lock, "/project/uv.lock")
    assert (finding.severity, told(found)) == (Severity.NOTE, [("left", lock[: lock.index('"left"')].count("\n") + 1)])
    assert finding.message == "nothing in the lock asks for left 1.0"


def test_what_an_extra_a_group_or_a_marker_asks_for():
    extra = (
        '[package.optional-dependencies]\ngpu = [{ name = "b" }]\n[package.dev-dependencies]\nd = [{ name = "c" }]\n'
    )
    assert audited(check, uv(NEEDS + extra, *map(package, "abc")), "/project/uv.lock") == []


def test_a_pin_without_an_asker():
    assert told(findings(check, lock=noted(ROOTED, ("leftpad-py",)))) == [("leftpad-py", 2)]


def test_a_pin_whose_asker_is_gone():
    (finding,) = findings(check, lock=noted(ROOTED, ("six", "gone")))
    assert finding.message == "nothing in the lock asks for six 1.0; gone, which the lock notes, is not in it"


@pytest.mark.parametrize("asker", ["torch", "-c constraints.txt", "gcm (pyproject.toml)", "torch, gone"])
def test_a_pin_that_is_asked_for(asker):
    assert findings(check, lock=noted(ROOTED, ("six", *asker.split(", ")))) == []


def test_what_was_left_out_of_the_lock_still_asks():
    lock = noted(ROOTED, ("six", "gone"), command="pip-compile --unsafe-package gone in.txt")
    assert findings(check, lock=lock) == []


@pytest.mark.parametrize(
    "lock",
    [
        noted(ROOTED, ("six",), tool="uv export"),
        noted(ROOTED, ("six",), tool=""),
        noted(("torch",), ("six",)),
        read('lock-version = "1.0"\ncreated-by = "x"\npackages = []\n', "/project/pylock.toml"),
    ],
    ids=["export", "by hand", "no annotations", "pylock"],
)
def test_a_lock_that_does_not_say(lock):
    assert lock_orphans.view(lock) == Unavailable("the lock does not say who needs what")
