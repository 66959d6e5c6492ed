"""Let the link lead to another generation, in one step: at no instant is there none, or half of one.

rename(2) replaces a link by a link atomically. A directory is exchanged with a prepared link by renameat2(2) with
RENAME_EXCHANGE (Linux 3.15; ext4, XFS, Btrfs, tmpfs and overlayfs' upper layer have it, NFS has not).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
from collections.abc import Iterator
from datetime import datetime

from envdoctor.errors import EnvDoctorError, StepError
from envdoctor.generations import journal
from envdoctor.generations.layout import ADOPTED, Layout
from envdoctor.system.descendants import uninterrupted

_HERE = -100
"""AT_FDCWD."""
_EXCHANGE = 2
"""RENAME_EXCHANGE (include/uapi/linux/fs.h)."""
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.EXDEV, errno.EOPNOTSUPP)
"""What an old kernel, a file system without it, and a lower layer of overlayfs answer."""
PENDING = "pending-"
"""How the name of a link begins that is to become the real one."""


def switch(layout: Layout, text: str, now: datetime, *, adopted: str = "", allow_gap: bool = False) -> None:
    """Let the link say `text`; a directory that lies in its place becomes the generation `adopted`.

    Raises StepError if it cannot be done; then everything is as it was.
    """
    kind = layout.kind()
    before = os.readlink(layout.link) if os.path.islink(layout.link) else ""
    name = os.path.basename(text)
    with uninterrupted(), _told(layout):
        if kind == "directory":
            before = _exchange(layout, text, adopted or layout.adopted(now), now, allow_gap=allow_gap)
        else:
            os.replace(_prepared(layout, text), layout.link)
        _settle(layout.parent)
        _settle(layout.home)
    with contextlib.suppress(EnvDoctorError):  # a full disk: the next start sees the link and writes it down
        journal.write(layout, "switched", name, now, before=before, text=text)


def _exchange(layout: Layout, text: str, adopted: str, now: datetime, *, allow_gap: bool) -> str:
    """Put the link in the place of a directory, which is kept as a generation; return the text that leads to that."""
    pending = _prepared(layout, text)
    os.rename(pending, layout.place(adopted))
    _settle(layout.home)
    try:
        exchange(layout.link, layout.place(adopted))
    except OSError as error:
        os.unlink(layout.place(adopted))
        if error.errno not in _CANNOT:
            raise
        if not allow_gap:
            raise StepError(
                "switch",
                f"{layout.link} is a directory, and this file system cannot exchange it with a link in one step "
                f"({error.strerror})",
                advice="--allow-gap renames twice, with no environment there for an instant; stop its jobs before",
            ) from error
        _with_gap(layout, text, adopted, now)
    return layout.text(adopted)


def exchange(one: str, other: str) -> None:
    """Exchange two paths of one file system, whatever they are. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):  # glibc before 2.28
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if libc.renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), ctypes.c_uint(_EXCHANGE)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), one)


def _with_gap(layout: Layout, text: str, adopted: str, now: datetime) -> None:
    journal.write(layout, "gap", os.path.basename(text), now, text=text, adopted=adopted)
    pending = _prepared(layout, text)
    os.rename(layout.link, layout.place(adopted))
    os.rename(pending, layout.link)


def recover(layout: Layout, now: datetime) -> str | None:
    """Finish or undo what a killed switch left; return what was done, None if there was nothing to do.

    Only a switch with a gap can leave the path without an environment: the old one is put back.
    """
    entries = journal.read(layout)
    said = None
    last = next((entry for entry in reversed(entries) if entry.event in ("gap", "switched")), None)
    if last is not None and last.event == "gap" and not os.path.lexists(layout.link):
        adopted = last.said("adopted")
        if adopted in set(layout.names()):
            os.rename(layout.place(adopted), layout.link)
            _settle(layout.parent)
            said = f"a switch was interrupted: the directory that was {layout.link} is there again"
    said = said or _written_down(layout, entries, now)
    for name in _left_over(layout):
        os.unlink(os.path.join(layout.home, name))
    return said


def _written_down(layout: Layout, entries: tuple[journal.Entry, ...], now: datetime) -> str | None:
    """Note a switch after which the doctor was killed before it could."""
    active = layout.active()
    last = next((entry for entry in reversed(entries) if entry.event == "switched"), None)
    if active is None or (last is not None and last.name == active):
        return None
    before = last.said("text") if last is not None else ""
    if not before:  # the first switch: what it replaced is the adopted directory, if there is one
        adopted = [name for name in layout.names() if name.startswith(ADOPTED)]
        before = layout.text(adopted[-1]) if adopted else ""
    journal.write(layout, "switched", active, now, before=before, text=layout.text(active))
    return f"a switch to {active} had been made and not been written down"


def _left_over(layout: Layout) -> Iterator[str]:
    """Yield links that were prepared and not used."""
    with contextlib.suppress(OSError):
        for name in os.listdir(layout.home):
            path = layout.place(name)
            ours = name.startswith(PENDING) or (
                name.startswith(ADOPTED) and os.path.islink(path) and os.readlink(path).startswith(layout.text(""))
            )
            if ours and os.path.islink(path):
                yield name


def _prepared(layout: Layout, text: str) -> str:
    """Make a link beside the generations, which are on the file system of the real one; return its path."""
    pending = os.path.join(layout.home, f"{PENDING}{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(pending)
    os.symlink(text, pending)
    return pending


def _settle(folder: str) -> None:
    """See the entries of a directory onto the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # EINVAL: a file system that has nothing to sync
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _told(layout: Layout) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = "is a mount point" if error.errno == errno.EBUSY else error.strerror or error
        raise StepError("switch", f"{layout.link}: {reason}; nothing was changed") from error
