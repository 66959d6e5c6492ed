"""The throw-away compile caches of a race: before each try the one place holds what the try is to find."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

from envdoctor.errors import EnvDoctorError
from envdoctor.facts.threads import State


@dataclass(frozen=True, slots=True)
class Caches:
    """A cache at a path that never changes, since triton's entries hold it, and copies of what it held."""

    cache: str
    kept: str
    """The directory of the copies."""

    def has(self, state: State) -> bool:
        """Tell whether there is a copy of this state."""
        return state == "cold" or os.path.isdir(self._copy(state))

    def keep(self, state: State) -> None:
        """Make what the cache now holds the copy of this state. Raises EnvDoctorError if it cannot be copied."""
        self._copied(self.cache, self._copy(state))

    def bring(self, state: State) -> None:
        """Let the cache hold what this state holds, and nothing else. Raises EnvDoctorError if it cannot."""
        shutil.rmtree(self.cache, ignore_errors=True)
        if state != "cold":
            self._copied(self._copy(state), self.cache)

    def _copy(self, state: State) -> str:
        return os.path.join(self.kept, state)

    def _copied(self, source: str, target: str) -> None:
        try:
            os.makedirs(source, exist_ok=True)
            shutil.copytree(source, target, symlinks=True)
        except (OSError, shutil.Error) as error:
            what = getattr(error, "strerror", None) or "not all of it could be read"
            raise EnvDoctorError(f"{source}: the compile cache cannot be copied ({what})") from error
