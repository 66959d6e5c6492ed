"""The seal of the target, if it has one."""

from __future__ import annotations

from dataclasses import replace

from envdoctor import seals
from envdoctor.model import Target, Unavailable
from envdoctor.seals import Seal
from envdoctor.system.host import Host

__all__ = ["Seal", "collect"]


def collect(target: Target, host: Host) -> Seal | Unavailable:
    """Read it. A damaged seal is the doctor's failure, not the environment's."""
    seal = seals.read(target.prefix)
    if seal is None:
        return Unavailable("no seal: `envdoctor seal` records the good state")
    origin = seal.lock_origin
    return replace(seal, lock_origin=host.at(origin)) if origin and host.root else seal
