"""Who could put something else where a path leads: the owners and writers of every directory and link on the way."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from envdoctor.system.people import others_who_write, user_name

_LINKS = 40
"""Links that are followed, as the kernel does (MAXSYMLINKS)."""
_ACL = "system.posix_acl_access"


@dataclass(frozen=True, slots=True)
class _Step:
    """One name on the way, and the directory in which it is looked up."""

    folder: str
    entry: str
    status: os.stat_result | None
    """Of the entry itself; None if there is none."""


def strangers(path: str, uid: int) -> str | None:
    """Say what on the way to an absolute path others than root and this user could change; None if nothing.

    Links are followed, and what the path leads to counts itself. Raises OSError where the way cannot be looked at.
    """
    last = "/"
    for step in _way(path):
        folder = os.lstat(step.folder)
        sticky = folder.st_mode & stat.S_ISVTX and step.status is not None and step.status.st_uid in (0, uid)
        if said := _open_to(step.folder, folder, uid, shared=bool(sticky)):
            return said
        last = step.entry
        if step.status is None:
            return None
    status = os.lstat(last)
    return None if stat.S_ISLNK(status.st_mode) else _open_to(last, status, uid)


def link_of_another(path: str, uid: int) -> str | None:
    """Say which link on the way to an absolute path belongs to somebody else than root and this user; None if none.

    Whoever made it has chosen what is read by the rights of this user. Raises OSError.
    """
    for step in _way(path):
        if step.status and stat.S_ISLNK(step.status.st_mode) and step.status.st_uid not in (0, uid):
            return f"{step.entry} is a link of {user_name(step.status.st_uid)}"
    return None


def _open_to(path: str, status: os.stat_result, uid: int, *, shared: bool = False) -> str | None:
    """Say who but root and the user may change a directory or file; `shared` if its entries are safe from others."""
    if status.st_uid not in (0, uid):
        return f"{path} belongs to {user_name(status.st_uid)}"
    if shared:
        return None
    who = others_who_write(status)
    if who is None and status.st_mode & stat.S_IWGRP and _listed(path):
        who = "those of its access control list"
    return f"{path} can be written by {who}" if who else None


def _listed(path: str) -> bool:
    """Tell whether there is an access control list: what the mode grants the group is then its mask (acl(5))."""
    try:
        return bool(os.getxattr(path, _ACL, follow_symlinks=False))
    except OSError:
        return False


def _way(path: str) -> Iterator[_Step]:
    """Yield every step, in order, as the kernel takes them. Raises OSError for too many links."""
    here, links = "/", 0
    pending = path.split("/")[::-1]
    while pending:
        name = pending.pop()
        if name in ("", "."):
            continue
        if name == "..":
            here = os.path.dirname(here)
            continue
        entry = os.path.join(here, name)
        status = _status(entry)
        yield _Step(here, entry, status)
        if status is None:
            return
        if not stat.S_ISLNK(status.st_mode):
            here = entry
            continue
        links += 1
        if links > _LINKS:
            raise OSError(40, os.strerror(40), path)
        target = os.readlink(entry)
        here = "/" if target.startswith("/") else here
        pending += target.split("/")[::-1]


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
