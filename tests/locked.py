"""Locks as text, and rules held against them."""

from textwrap import dedent

from values import findings

from envdoctor.locks import detect
from envdoctor.locks.environments import stated
from envdoctor.model import Lock, Unavailable
from envdoctor.views.lock_targets import NONE_STATED, LockTargets

SHA = "sha256:" + "1" * 64
OTHER = "sha256:" + "2" * 64
NO_TARGET = Unavailable(NONE_STATED)


def read(text, path="/project/requirements.txt"):
    """Read a lock by its own reader; the name says the format."""
    data = text if isinstance(text, bytes) else dedent(text).lstrip("\n").encode()
    return detect.parser(path, data)(path, data)


def target(python="3.12", platform="manylinux_2_28_x86_64"):
    """Return a stated environment."""
    return LockTargets((stated(python, platform),))


def audited(check, text, path="/project/requirements.txt", **given):
    """Return what a rule finds in a lock, or its text, without a target unless one is given as `lock_targets`.

    A lock with includes or folders is read where the module is imported: a test of a rule touches no file.
    """
    lock = text if isinstance(text, Lock) else read(text, path)
    return findings(check, **{"lock": lock, "lock_targets": NO_TARGET, **given})


def told(found):
    """Return (subject, line) of findings: what is at fault, and where."""
    return [(finding.subject, finding.evidence.get("line")) for finding in found]
