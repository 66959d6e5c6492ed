"""Who else could have put code into a cache or a save: owners and modes, all the way up the path."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from envdoctor.system.people import others_who_write, user_name


def doubts(path: str) -> Iterator[str]:
    """Yield why what lies at a path may be somebody else's: the path itself, links on the way, and all above them."""
    for place in dict.fromkeys(_above(path)):
        try:
            status = os.lstat(place)
        except FileNotFoundError:
            continue
        if doubt := doubt_of(status, own=place in (path, os.path.realpath(path))):
            yield f"{place} {doubt}"


def _above(path: str) -> Iterator[str]:
    for start in (path, os.path.realpath(path)):
        place = start
        while True:
            yield place
            if place == os.path.dirname(place):
                break
            place = os.path.dirname(place)


def doubt_of(status: os.stat_result, *, own: bool) -> str | None:
    """Say why somebody else may have written there; None if nobody but the caller and root can have.

    `own` asks for the caller's own, as of entries: what leads to them may be root's. In a directory with the sticky bit
    (/tmp) others cannot replace what is not theirs.
    """
    me = os.geteuid()
    if status.st_uid != me and (own or status.st_uid != 0):
        return f"belongs to user {user_name(status.st_uid)}"
    sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX and not own
    if stat.S_ISLNK(status.st_mode) or sticky:
        return None
    others = others_who_write(status)
    return f"can be written by {others}" if others else None
