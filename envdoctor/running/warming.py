"""SEAM: where `run --warm ENTRY` hands over to the workflow that warms a cache, once there is one."""

from __future__ import annotations

from collections.abc import Mapping

from envdoctor.errors import UsageError
from envdoctor.model import Target


def warm(entry: str, target: Target, env: Mapping[str, str]) -> None:
    """Warm the cache that the command will use, in its environment.

    Raises EnvDoctorError if the warm-up is not complete: the command is then not started.
    """
    raise UsageError(f"--warm: {entry} for {target.prefix}, {len(env)} variables: it cannot be warmed from here yet")
