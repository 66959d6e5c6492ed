"""Zip archives that somebody else made: what reading one may raise, whatever is wrong with its bytes."""

from __future__ import annotations

import zipfile
import zlib

try:
    from lzma import LZMAError
except ImportError:  # a Python built without it, in which no archive is unpacked by it either
    LZMAError = zlib.error  # type: ignore[assignment,misc]

UNREADABLE = (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error, LZMAError)
"""RuntimeError is an encrypted member, and a way of packing that zipfile does not know (its subclass for that)."""
