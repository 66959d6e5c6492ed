"""Who may change a compile cache: its owner, its mode, links in its place, and every directory above it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from envdoctor.system.people import others_who_write


@dataclass(frozen=True, slots=True)
class Access:
    """What the file system says of one cache's directory."""

    owner: int | None = None
    """User id; None if it is not there."""
    mode: int | None = None
    """Permission bits."""
    writable: bool | None = None
    """Whether this user may create files in it, or, where it is not there, may make it; None if that was not asked."""
    refuses: str = ""
    """The directory that does not let it be written."""
    link: str | None = None
    """Where it leads, if it is a link."""
    link_owner: int | None = None
    open_at: str | None = None
    """The directory that lets others change it: itself, or the first above it that others may write, not sticky."""
    open_mode: int | None = None
    open_owner: int | None = None


def look(path: str, *, ask: bool) -> Access:
    """Look at a cache's directory and what is above it; with `ask`, also whether this process may write."""
    link, link_owner = _link(path)
    try:
        status: os.stat_result | None = os.stat(path)
    except OSError:
        status = None
    open_at = _open(os.path.realpath(path)) if ask else None
    refuses = _refusing(path) if ask else None
    opened = os.stat(open_at) if open_at else None
    return Access(
        owner=status.st_uid if status else None,
        mode=stat.S_IMODE(status.st_mode) if status else None,
        writable=refuses == "" if refuses is not None else None,
        refuses=refuses or "",
        link=link,
        link_owner=link_owner,
        open_at=open_at,
        open_mode=stat.S_IMODE(opened.st_mode) if opened else None,
        open_owner=opened.st_uid if opened else None,
    )


def _link(path: str) -> tuple[str | None, int | None]:
    try:
        return os.readlink(path), os.lstat(path).st_uid
    except OSError:
        return None, None


def _refusing(path: str) -> str:
    """Return the directory that stands in the way of writing: itself, or the nearest above that is there; "" if none.

    A directory that is full of rights for root is refused all the same on a read-only file system.
    """
    existing = path
    while not os.path.lexists(existing) and existing != os.path.dirname(existing):
        existing = os.path.dirname(existing)
    usable = os.path.isdir(existing) and os.access(existing, os.W_OK | os.X_OK)
    return "" if usable else existing


def _open(path: str) -> str | None:
    """Return the first directory, from the cache's own upwards, that somebody else may write.

    Above it the sticky bit is protection enough for what is there: others cannot rename it. In it, it is not.
    """
    here, own = path, True
    while True:
        try:
            status = os.stat(here)
        except OSError:
            own = own and here == path
        else:
            sticky = bool(status.st_mode & stat.S_ISVTX) and not (own and here == path)
            if not sticky and others_who_write(status):
                return here
        above = os.path.dirname(here)
        if above == here:
            return None
        here = above
