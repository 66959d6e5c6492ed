"""Tables of facts about the outside world, one TOML file each, every row with its source and the day it was checked.

A table's rows are `[[row]]` entries; `source` names the document or the file and version that was read, `checked` the
day of reading.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

FOLDER = os.path.dirname(__file__)


@cache
def table(name: str) -> Mapping[str, Any]:
    """Read `<name>.toml`. Raises FileNotFoundError or TOMLDecodeError, which are packaging faults, not user errors."""
    import tomllib

    with open(os.path.join(FOLDER, f"{name}.toml"), "rb") as stream:
        return tomllib.load(stream)


def rows(name: str) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a table, in file order."""
    found: Sequence[Mapping[str, Any]] = table(name)["row"]
    return found
