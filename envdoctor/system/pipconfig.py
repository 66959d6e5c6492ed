"""What `pip config list` prints (pip 26.3, commands/configuration.py): `section.key='value'`, a setting a line."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

_LINE = re.compile(r"(:env:|global|install)\.([\w-]+)=(.*)")
_SECTIONS = ("global", "install", ":env:")
"""What counts for `pip install`, the later the more (pip 26.3, cli/parser.py)."""
_TRUE = frozenset({"1", "true", "yes", "on", "y", "t"})


@dataclass(frozen=True, slots=True)
class PipConfig:
    """What pip is told of where to look."""

    index: str = ""
    """index-url; "" for pip's default."""
    extra: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    cert: str = ""
    no_index: bool = False


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


def parse(text: str) -> PipConfig:
    """Read what `pip config list` prints; lines that are no settings are passed over."""
    said = settings(text)
    return PipConfig(
        said.get("index-url", ""),
        tuple(said.get("extra-index-url", "").split()),
        tuple(said.get("find-links", "").split()),
        tuple(said.get("trusted-host", "").split()),
        said.get("cert", ""),
        is_on(said, "no-index"),
    )
