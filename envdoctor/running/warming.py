"""`run --warm ENTRY`: the compile cache is warmed in the environment of the command, before that starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any

from envdoctor.errors import NotStartedError
from envdoctor.locate import Wish
from envdoctor.system.host import Host

Tell = Callable[[str, str, str], None]
"""Hears of each phase by device."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be warmed."""

    entry: str
    devices: str | None
    keep: bool
    """True to raise marks."""


def warm(wanted: Wanted, wish: Wish, host: Host, tell: Tell) -> None:
    """Warm the cache that the command will use, and prove it; `host` has the command's environment.

    Raises NotStartedError if it is not warm then: on a cold cache the command would meet what the warm-up was to spare
    it. EnvDoctorError where nothing could be tried.
    """
    from envdoctor.warming import workflow
    from envdoctor.warming.values import Asked

    asked = Asked(wanted.entry, devices=wanted.devices, keep=wanted.keep)
    document = workflow.warm(wish, asked, host, tell)
    if document["status"]:
        ask = f"`envdoctor warm --entry {quote(wanted.entry)} --target {quote(document['target'])}` tells more"
        raise NotStartedError(f"not started: {_why(document)}; {ask}", document["status"])


def _why(document: Mapping[str, Any]) -> str:
    """Name the first device that is not warm, with its first fault."""
    faults = [(each["device"], fault["said"]) for each in document["devices"] for fault in each["faults"]]
    faults += [(each["device"], "was not warmed") for each in document["cold"]]
    return next((f"{device} is not warm: {said}" for device, said in faults), "the warm-up is not complete")
