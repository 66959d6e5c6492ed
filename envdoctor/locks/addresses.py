"""Where an address leads: scheme and host. Addresses are taken as the model holds them, secrets redacted."""

from __future__ import annotations

import re

_PARTS = re.compile(
    r"(?:(?:git|hg|svn|bzr)\+)?([a-z][a-z0-9+.-]*)://(?:[^/?#]*@)?(\[[^\]/?#]*\]|[^/?#:]*)", re.IGNORECASE
)
_LOOPBACK = re.compile(r"(?:.*\.)?localhost|127(?:\.\d{1,3}){3}|::1")
CLEARTEXT = frozenset(("http", "git", "ftp", "svn"))
"""Schemes by which whoever stands in between may answer something else."""


def scheme(address: str) -> str:
    """Return `https` of `https://...` and of `git+https://...`; "" for a path."""
    match = _PARTS.match(address)
    return match[1].lower() if match else ""


def host(address: str) -> str:
    """Return the host, lower case, without user and port; "" for a path and for `file:`."""
    match = _PARTS.match(address)
    return match[2].lower().strip("[]") if match else ""


def is_loopback(name: str) -> bool:
    """Tell whether a host is this machine itself, to which no network leads."""
    return _LOOPBACK.fullmatch(name) is not None
