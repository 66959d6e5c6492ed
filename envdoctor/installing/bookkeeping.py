"""What installers write beside a wheel's own files: the rows of the installed RECORD, and who installed.

direct_url.json is none of it: a pin of the lock has none (strays.py).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from envdoctor.facts import records
from envdoctor.installing import Fault, commands
from envdoctor.installing.contents import SIGNATURES, WRITTEN, Contents, Member
from envdoctor.installing.layout import Found, Layout
from envdoctor.system.reading import regular

_LIMIT = 1 << 16
"""Bytes of one of them, RECORD apart."""


def judge(contents: Contents, layout: Layout, found: Found) -> Iterator[Fault]:
    """Yield what is wrong with the bookkeeping of one distribution that is installed."""
    for name in WRITTEN:
        path = f"{contents.info}/{name}"
        entry = found.entries.get(path)
        if entry is None:
            how = "is missing" if name in ("INSTALLER", "RECORD") else ""
        else:
            how = entry.fault or (_text_fault(name, layout.at(path)) if name != "RECORD" else "")
        if how:
            yield Fault(contents.archive.name, layout.at(path), how)
    entry = found.entries.get(f"{contents.info}/RECORD")
    if entry is not None and not entry.fault:
        yield from _record(contents, layout, found)


def _text_fault(name: str, path: str) -> str:
    try:
        data = regular(path, _LIMIT, follow=False)
        if name == "INSTALLER":
            return "" if data.strip() in (b"pip", b"uv") else "names an installer that was not at work"
        if name == "REQUESTED":
            return "is not empty" if data.strip() else ""
        return "" if isinstance(json.loads(data), dict) else "is not what uv writes"
    except (OSError, ValueError, RecursionError):
        return "cannot be read"


def rows_of(path: str, layout: Layout) -> dict[str, tuple[str, str]]:
    """Return the rows of an installed RECORD: path relative to the prefix -> digest and size.

    A path that leads out of the prefix begins with `..`. Raises OSError or ValueError.
    """
    site = layout.at(layout.site)
    rows = records.read(path)
    return {_place(row[0], layout, site): (row[1], row[2]) for row in rows}


def _place(name: str, layout: Layout, site: str) -> str:
    if not records.is_outside(name):
        return f"{layout.site}/{name}"
    return os.path.relpath(os.path.normpath(os.path.join(site, name)), layout.prefix)


def _record(contents: Contents, layout: Layout, found: Found) -> Iterator[Fault]:
    """Compare the installed RECORD with the one in the archive, and what only it can tell with the disk."""
    name, path = contents.archive.name, layout.at(f"{contents.info}/RECORD")
    try:
        rows = rows_of(path, layout)
    except (OSError, ValueError) as error:
        yield Fault(name, path, f"cannot be read: {getattr(error, 'strerror', None) or error}")
        return
    for place, own in contents.files.items():
        if place not in rows:
            if not place.endswith(SIGNATURES):
                yield Fault(name, path, f"does not list {place}")
        elif _contradicts(rows[place], own):
            yield Fault(name, path, f"does not say of {place} what the archive's says")
    written = {f"{contents.info}/{item}" for item in WRITTEN} | {
        f"bin/{script}" for script in commands.targets(contents, found)
    }
    written |= {f"{layout.site}/{lost}" for lost in contents.lost}
    for place, (digest, _) in rows.items():
        member = contents.files.get(place)
        if member is None and place not in written and (digest or not place.endswith(".pyc")):
            yield Fault(name, path, f"lists {place}, which the archive does not have")
        elif (member is None or member.rewritten) and _is_untrue(place, digest, layout, found):
            yield Fault(name, path, f"is not true of {place}")


def _is_untrue(place: str, digest: str, layout: Layout, found: Found) -> bool:
    """Tell whether a file that the installer wrote is another than its row says."""
    entry = found.entries.get(place)
    looked_at = bool(digest) and entry is not None and not entry.fault
    return looked_at and records.matches(layout.at(place), digest) is False


def _contradicts(row: tuple[str, str], member: Member) -> bool:
    """Tell whether a row says neither what the archive's RECORD says, nor what is true of the archive's file."""
    digest, size = row
    known = digest in (member.digest, member.recorded[0]) and size in (str(member.size), member.recorded[1])
    return not known and not member.rewritten
