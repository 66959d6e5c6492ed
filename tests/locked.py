"""Locks as text, and rules held against them."""

from textwrap import dedent

from values import findings

from envdoctor.locks import detect
from envdoctor.locks.environments import stated
from envdoctor.model import Unavailable
from envdoctor.views.lock_metadata import LockMetadata, Released
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


def metadata(**requires):
    """Return metadata: name (`_` stands for a hyphen) -> version and requirements."""
    return LockMetadata(
        {name.replace("_", "-"): (Released(version, tuple(texts)),) for name, (version, *texts) in requires.items()}
    )


def audited(check, text, path="/project/requirements.txt", **given):
    """Return what a rule finds in a lock, without a target unless one is given as `lock_targets`."""
    return findings(check, **{"lock": read(text, path), "lock_targets": NO_TARGET, **given})


def told(found):
    """Return (subject, line) of findings: what is at fault, and where."""
    return [(finding.subject, finding.evidence.get("line")) for finding in found]
