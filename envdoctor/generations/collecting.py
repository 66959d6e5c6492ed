"""Remove what killed rebuilds left, and old generations that nobody uses. Whoever calls this holds the lock."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from envdoctor.generations import freezing, journal, marker
from envdoctor.generations.journal import Entry
from envdoctor.generations.layout import ADOPTED, Layout

AGE = timedelta(days=1)
"""Since a generation was the active one: a job that was started from it on another host may still be running."""
TRASH = ".trash-"


@dataclass(frozen=True, slots=True)
class Collected:
    """What became of the old ones."""

    removed: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    """Name, and why it was kept though it is beyond what is to be kept."""


def unfinished(layout: Layout) -> Iterator[str]:
    """Yield generations that no rebuild has finished, and trash: whoever made them is dead, as the lock is ours."""
    led_to = layout.led_to()
    for name in layout.names():
        if name not in led_to and not name.startswith(ADOPTED) and not _finished(layout, name):
            yield name


def _finished(layout: Layout, name: str) -> bool:
    """Tell whether a generation has a marker, or was the active one before something took the marker from it."""
    if os.path.lexists(marker.path_of(layout.place(name))):
        return True
    return any(entry.name == name and entry.event in ("complete", "switched") for entry in journal.read(layout))


def clear(layout: Layout) -> tuple[str, ...]:
    """Remove what is unfinished; return the names of what is gone. What cannot be removed waits for the next time."""
    found = []
    for name in unfinished(layout):
        with contextlib.suppress(OSError):
            remove(layout, name)
            found.append(name)
    _empty_trash(layout)
    return tuple(found)


def collect(
    layout: Layout, keep: int, now: datetime, in_use: Callable[[str], str], *, age: timedelta = AGE
) -> Collected:
    """Remove generations beyond the `keep` last ones that were active; red ones go whatever their age.

    `in_use` says who uses a directory, "" for nobody; `age` must have passed since one was active.
    """
    entries = journal.read(layout)
    removed, kept = [], []
    for name in _beyond(layout, entries, keep):
        why = _needed(layout, entries, name, now - age) or in_use(layout.place(name)) or _removed(layout, name)
        if why:
            kept.append((name, why))
        else:
            journal.write(layout, "collected", name, now)
            removed.append(name)
    return Collected(tuple(removed), tuple(kept))


def _removed(layout: Layout, name: str) -> str:
    """Remove a generation; return why that cannot be done, "" if it is done."""
    try:
        remove(layout, name)
    except OSError as error:
        return f"cannot be removed: {error.filename or name}: {error.strerror or error}"
    return ""


def _beyond(layout: Layout, entries: Sequence[Entry], keep: int) -> list[str]:
    """Return what is beyond those to be kept: what a link leads to never is, nor what was active last if none is."""
    apart = layout.led_to() or {next((e.name for e in reversed(entries) if e.event == "switched"), "")}
    others = [name for name in layout.names() if name not in apart]
    red = [name for name in others if _is_red(layout, name)]
    good = [name for name in others if name not in red]  # by the time in their names, where the journal is gone
    good.sort(key=lambda name: journal.last_word(entries, layout, name))
    return [*good[::-1][keep:], *red]


def _since(layout: Layout, entries: Sequence[Entry], name: str) -> str:
    """Return when it ceased to be the active one; one that never was counts from when it was made."""
    stamp = name.partition("-")[2]
    made = f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:11]}:{stamp[11:13]}:{stamp[13:15]}Z"
    return journal.superseded(entries, layout, name) or made


def _is_red(layout: Layout, name: str) -> bool:
    found = marker.read(layout.place(name))
    return found is not None and found.state == "red"


def _needed(layout: Layout, entries: Sequence[Entry], name: str, latest: datetime) -> str:
    """Say why a generation must stay that was active at some time after `latest`; "" if it need not."""
    if _is_red(layout, name):
        return ""
    since = journal.moment(_since(layout, entries, name))
    if since is None:
        return "when it was last used cannot be told"
    return "" if since < latest else "it was the active one less than a day ago"


def remove(layout: Layout, name: str) -> None:
    """Remove a generation, frozen or not; it loses its name first, so that nobody takes a part of it for the whole.

    Raises OSError if something of it stays.
    """
    trash = os.path.join(layout.home, f"{TRASH}{name}")
    os.rename(layout.place(name), trash)
    for path in (layout.state(name),):
        if os.path.lexists(path):
            os.unlink(path)
    _delete(trash)


def _empty_trash(layout: Layout) -> None:
    for name in os.listdir(layout.home):
        if name.startswith(TRASH):
            with contextlib.suppress(OSError):
                _delete(os.path.join(layout.home, name))


def _delete(path: str) -> None:
    freezing.open_directories(path)
    shutil.rmtree(path)
