"""How often `health` runs, as systemd and cron say it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from envdoctor.errors import UsageError

_SIZES = {"m": 60, "h": 3600, "d": 86400}
_HOUR, _DAY = 3600, 86400
DELAY = 5
"""The random delay is this part of the interval, so that nodes do not all ask one file server at once."""
LONGEST_DELAY = 600


@dataclass(frozen=True, slots=True)
class Every:
    """An interval that divides an hour or a day: cron knows no other."""

    seconds: int

    @property
    def calendar(self) -> str:
        """As systemd.time(7) has it."""
        if self.seconds < _HOUR:
            return f"*:0/{self.seconds // 60}"
        return "daily" if self.seconds == _DAY else f"0/{self.seconds // _HOUR}:00"

    @property
    def fields(self) -> str:
        """The five fields of crontab(5)."""
        if self.seconds < _HOUR:
            return f"*/{self.seconds // 60} * * * *"
        hours = self.seconds // _HOUR
        return f"0 {'0' if hours == 24 else '*' if hours == 1 else f'*/{hours}'} * * *"

    @property
    def delay(self) -> int:
        """Seconds of random delay at most."""
        return min(self.seconds // DELAY, LONGEST_DELAY)


def parse(text: str) -> Every:
    """Read `10m`, `2h`, `1d`. Raises UsageError."""
    match = re.fullmatch(r"(\d{1,4})([mhd])", text)
    seconds = int(match[1]) * _SIZES[match[2]] if match else 0
    whole = _HOUR if seconds < _HOUR else _DAY
    if not seconds or whole % seconds or seconds % (60 if seconds < _HOUR else _HOUR):
        raise UsageError(f"--every: {text} divides neither an hour nor a day evenly: 5m, 10m, 30m, 1h, 6h, 1d")
    return Every(seconds)
