"""Users and groups of this machine: who a number is, and whom a mode lets write."""

from __future__ import annotations

import grp
import os
import pwd
import stat


def user_name(uid: int) -> str:
    """Return a user's name, the number if there is none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def others_who_write(status: os.stat_result) -> str | None:
    """Say whom but its owner a mode lets write: `everybody`, `the group train`; None for nobody.

    A group of the owner's own name, with nobody else in it, is his alone (useradd(8), USERGROUPS_ENAB).
    """
    if status.st_mode & stat.S_IWOTH:
        return "everybody"
    if not status.st_mode & stat.S_IWGRP:
        return None
    try:
        group = grp.getgrgid(status.st_gid)
    except KeyError:
        return f"the group {status.st_gid}"
    owner = user_name(status.st_uid)
    alone = group.gr_name == owner and set(group.gr_mem) <= {owner}
    return None if alone else f"the group {group.gr_name}"
