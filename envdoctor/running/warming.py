"""`run --warm ENTRY`: the compile cache is warmed in the environment of the command, before that starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from envdoctor.errors import NotStartedError
from envdoctor.locate import Wish
from envdoctor.running import again
from envdoctor.running.asked import Asked
from envdoctor.system.host import Host

Tell = Callable[[str, str, str], None]
"""Hears of each phase by device."""


def warm(wished: Asked, wish: Wish, host: Host, tell: Tell) -> None:
    """Warm the cache that the command will use, and prove it; `host` has the command's environment.

    Raises NotStartedError if it is not warm then: on a cold cache the command would meet what the warm-up was to spare
    it. EnvDoctorError where nothing could be tried.
    """
    from envdoctor.warming import values, workflow

    asked = values.Asked(wished.warm, devices=wished.devices, keep=wished.state)
    document = workflow.warm(wish, asked, host, tell)
    if document["status"]:
        ask = f"`{again.warm(document['target'], wish, wished)}` tells more"
        raise NotStartedError(f"not started: {_why(document)}; {ask}", document["status"])


def _why(document: Mapping[str, Any]) -> str:
    """Name the first device that is not warm, with its first fault."""
    faults = [(each["device"], fault["said"]) for each in document["devices"] for fault in each["faults"]]
    faults += [(each["device"], "was not warmed") for each in document["cold"]]
    return next((f"{device} is not warm: {said}" for device, said in faults), "the warm-up is not complete")
