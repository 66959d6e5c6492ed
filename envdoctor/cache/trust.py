"""Who else could have put code into a cache or a save: owners and modes, all the way up the path."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterator


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
        return f"belongs to {_user(status.st_uid)}"
    sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX and not own
    if stat.S_ISLNK(status.st_mode) or sticky:
        return None
    if status.st_mode & stat.S_IWOTH:
        return "can be written by everybody"
    if status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid):
        return f"can be written by the group {_group(status.st_gid)}"
    return None


def _is_private(gid: int) -> bool:
    """Tell whether a group is the caller's own, of nobody else (useradd(8), USERGROUPS_ENAB)."""
    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return group.gr_name == user.pw_name and gid == user.pw_gid and set(group.gr_mem) <= {user.pw_name}


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
