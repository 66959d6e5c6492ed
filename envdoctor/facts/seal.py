"""The seal of the target, if it has one."""

from __future__ import annotations

from envdoctor import seals
from envdoctor.model import Target, Unavailable
from envdoctor.seals import Seal
from envdoctor.system.host import Host

__all__ = ["Seal", "collect"]


def collect(target: Target, host: Host) -> Seal | Unavailable:  # noqa: ARG001
    """Read it. A damaged seal is the doctor's failure, not the environment's."""
    seal = seals.read(target.prefix)
    return Unavailable("no seal: `envdoctor seal` records the good state") if seal is None else seal
