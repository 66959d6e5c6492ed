"""Paths of a host whose files lie below a directory: an unpacked image, a mounted disk (`--root`)."""

from __future__ import annotations

import os

LINKS = 40
"""Links that are followed at most, as the kernel does (path_resolution(7))."""
_readlink = os.readlink
"""The kernel's own: `inside` puts another in its place, which asks here."""


def below(root: str, path: str) -> str:
    """Return where an absolute path of the host lies; with an empty root, the path itself."""
    return f"{root.rstrip('/')}{path}" if root else path


def is_below(root: str, path: str) -> bool:
    """Tell whether a path as the caller sees it is the root or lies in it, by its spelling; an empty root holds all."""
    top = root.rstrip("/")
    return path == top or path.startswith(f"{top}/")


def joined(root: str, folder: str, path: str) -> str:
    """Return what a file in `folder` means by a path (a .pth line, a row of RECORD, $ORIGIN/..), as the caller sees it.

    In a folder below the root an absolute path starts at the root, and `..` stops there, as in a chroot. Links are left
    as they are.
    """
    if not root or not is_below(root, folder):
        return os.path.normpath(os.path.join(folder, path))
    whole = os.path.normpath(os.path.join("/", folder[len(root.rstrip("/")) :], path))
    return below(root, f"/{whole.lstrip('/')}")


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
            leads = _readlink(below(root, here))
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
