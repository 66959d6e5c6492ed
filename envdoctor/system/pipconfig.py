"""What `pip config list` prints (pip 26.3, commands/configuration.py): `section.key='value'`, a setting a line."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

_LINE = re.compile(r"(:env:|global|install)\.([\w-]+)=(.*)")
_SECTIONS = ("global", "install", ":env:")
"""What counts for `pip install`, the later the more (pip 26.3, cli/parser.py)."""
_TRUE = frozenset({"1", "true", "yes", "on", "y", "t"})


def settings(text: str) -> Mapping[str, str]:
    """Return option -> value, as they count for `pip install`; lines that are no settings are passed over.

    Values may hold passwords: they are never to be printed or stored.
    """
    found: dict[str, dict[str, str]] = {section: {} for section in _SECTIONS}
    for match in filter(None, map(_LINE.fullmatch, text.splitlines())):
        try:
            value = ast.literal_eval(match[3])
        except (ValueError, SyntaxError):
            continue
        found[match[1]][match[2]] = value if isinstance(value, str) else ""
    return {key: value for section in _SECTIONS for key, value in found[section].items() if value}


def is_on(said: Mapping[str, str], option: str) -> bool:
    """Tell whether a switch is on, as configparser and pip's own strtobool read it."""
    return said.get(option, "").lower() in _TRUE
