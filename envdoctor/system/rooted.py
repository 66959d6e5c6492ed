"""Paths of a host whose files lie below a directory: an unpacked image, a mounted disk (`--root`)."""

from __future__ import annotations

import os

LINKS = 40
"""Links that are followed at most, as the kernel does (path_resolution(7))."""


def below(root: str, path: str) -> str:
    """Return where an absolute path of the host lies; with an empty root, the path itself."""
    return f"{root.rstrip('/')}{path}" if root else path


def resolve(root: str, path: str) -> str:
    """Follow all links of a host's path; return the host's own name for what is found, never one outside the root.

    An absolute link leads to a place below the root, and `..` stops at the root, as in a chroot. What does not exist,
    or closes a loop, is returned as far as it was followed.
    """
    if not root:
        return os.path.realpath(path)
    done = "/"
    pending = [part for part in path.split("/") if part][::-1]
    followed = 0
    while pending:
        part = pending.pop()
        if part == "..":
            done = os.path.dirname(done)
            continue
        if part == ".":
            continue
        here = os.path.join(done, part)
        try:
            leads = os.readlink(below(root, here))
        except OSError:
            done = here
            continue
        followed += 1
        if followed > LINKS:
            return here
        if leads.startswith("/"):
            done = "/"
        pending += [part for part in leads.split("/") if part][::-1]
    return done
