"""Tables of facts about the outside world, one TOML file each, every row with its source and the day it was checked.

A table's rows are `[[row]]` entries; `source` names the document or the file and version that was read, `checked` the
day of reading.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any

FOLDER = os.path.dirname(__file__)
CHECKED = date(2026, 11, 29)
"""The day on which the oldest row was checked; said here so that a report need not read every table to know it."""
STALE_AFTER = timedelta(days=180)
"""Age beyond which a report says how old the tables are."""


@cache
def table(name: str) -> Mapping[str, Any]:
    """Read `<name>.toml`. Raises FileNotFoundError or TOMLDecodeError, which are packaging faults, not user errors."""
    import tomllib

    with open(os.path.join(FOLDER, f"{name}.toml"), "rb") as stream:
        return tomllib.load(stream)


def names() -> Sequence[str]:
    """Return the names of all tables."""
    return sorted(name.removesuffix(".toml") for name in os.listdir(FOLDER) if name.endswith(".toml"))


def rows(name: str) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a table, in file order."""
    found: Sequence[Mapping[str, Any]] = table(name)["row"]
    return found


def age(moment: datetime) -> str | None:
    """Say how old the tables are, if they are so old that releases since then are unknown to them."""
    old = moment.date() - CHECKED
    return f"checked on {CHECKED}, {old.days} days ago" if old > STALE_AFTER else None
