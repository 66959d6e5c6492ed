"""Which environments a configuration means, whose each is, and what may be done there.

Nothing is opened here: this runs as whoever runs `health`, root as a rule, and names alone are looked at, in forked
children with a limit of time.
"""

from __future__ import annotations

import glob
import os
import pwd
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest
from urllib.parse import unquote_to_bytes

from envdoctor import envs, locate
from envdoctor.facts.node import NETWORK_KINDS, Mount, mount_of, parse_mountinfo
from envdoctor.health.configuring import Wanted
from envdoctor.images import is_environment
from envdoctor.model import Unavailable
from envdoctor.system.dropped import Identity, bound, identity, nobody
from envdoctor.system.forked import Task, gather
from envdoctor.system.people import user_name
from envdoctor.system.reading import head
from envdoctor.system.trust import link_of_another, strangers

NONE = "is not a Python environment (no pyvenv.cfg, conda-meta or lib/pythonX.Y)"
WITHIN = 3.0
"""Seconds that the names of one pattern, or of one environment, may take: a file server may be dead."""
MATCHES = 10_000
"""Names that the first part of a pattern with a `*` may match: homes, as a rule."""
EACH = 200
"""Matches below one of them that are looked at: there, one user makes as many as he likes."""
_ADDRESS = re.compile(rb"file://(/[^\"\\\0]*)")
_EDITABLE = re.compile(rb'"editable"\s*:\s*true')
_LISTED = 1 << 16
"""Bytes of a path file and of direct_url.json that are read, as facts do."""
ENTRIES = 20_000
"""Entries of root's own environment that are looked at to learn who may write there."""


@dataclass(frozen=True, slots=True)
class Place:
    """One environment, before anybody has looked into it."""

    prefix: str
    """Its identity: of one with generations the link that leads to them."""
    wanted: Wanted
    owner: str = ""
    """User name of the owner; "" if unknown."""
    uid: int = -1
    who: Identity | None = None
    """Who looks at it; None if nobody may."""
    still: str = ""
    """Why nothing is started there; "" if its interpreter may be."""
    network: str = ""
    """Type of the network file system it lies on."""
    reason: str = ""
    """Why nobody looks."""
    due: bool = True
    """False if it lies on a network file system and was looked at within the hour."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What a configuration came to."""

    places: tuple[Place, ...]
    said: tuple[str, ...] = ()
    """Patterns that match nothing, or did not answer, and matches that are no environment."""


def survey(targets: Sequence[Wanted], recent: Collection[str], root: str = "", *, within: float) -> Survey:
    """Find all environments that are meant, each once: the first `[[target]]` that means it holds.

    `recent` are those that lately were looked at: where that tells that they lie on a network file system and their
    turn has not come, they are not touched.
    """
    patterns = [Task(str(n), partial(_matches, wanted.path), timeout=WITHIN) for n, wanted in enumerate(targets)]
    found = gather(patterns, deadline=within)
    said: list[str] = []
    tasks: dict[str, Wanted] = {}
    for number, wanted in enumerate(targets):
        matches = found[str(number)]
        if isinstance(matches, Unavailable):
            said.append(f"{wanted.path}: {matches.reason}")
            continue
        paths, crowded = matches
        said += crowded if paths else [f"{wanted.path}: matches nothing"]
        for path in paths:
            tasks.setdefault(path, wanted)
    work = [Task(path, partial(_place, path, wanted, recent, root), timeout=WITHIN) for path, wanted in tasks.items()]
    answers = gather(work, deadline=within)
    places = []
    for path, wanted in tasks.items():
        place = answers[path]
        if isinstance(place, Unavailable):
            places.append(Place(path, wanted, reason=place.reason))
        elif place.reason == NONE and path != wanted.path:
            said.append(f"{path}: {NONE}")
        else:
            places.append(place)
    return Survey(_once(places), tuple(said))


def _once(places: Iterable[Place]) -> tuple[Place, ...]:
    known: dict[str, Place] = {}
    for place in places:
        known.setdefault(place.prefix, place)
    return tuple(known.values())


def _matches(path: str) -> tuple[list[str], list[str]]:
    """Return what a pattern matches, one from each home before the second of any, and which homes hold too much."""
    bound()  # a directory may hold any number of names
    if not glob.has_magic(path):
        return [path], []
    first, rest = _split(path)
    homes = sorted(islice(glob.iglob(first), MATCHES))
    if not rest:
        return homes, []
    below = {home: list(islice(glob.iglob(os.path.join(glob.escape(home), rest)), EACH + 1)) for home in homes}
    too_many = [home for home, found in below.items() if len(found) > EACH]
    rows = zip_longest(*(sorted(found[:EACH]) for found in below.values()))
    told = [f"{home}: more than {EACH} match, and no more are looked at" for home in too_many]
    return [found for row in rows for found in row if found is not None], told


def _split(path: str) -> tuple[str, str]:
    """Split a pattern behind its first part that matches several names."""
    parts = path.split("/")
    count = next(number for number, part in enumerate(parts, 1) if glob.has_magic(part))
    return "/".join(parts[:count]), "/".join(parts[count:])


def _place(path: str, wanted: Wanted, recent: Collection[str], root: str) -> Place:
    bound()
    mounts = parse_mountinfo(head("/proc/self/mountinfo", 4 << 20).decode(errors="surrogateescape"))
    known = envs.link_of(path) or path
    if known in recent and (network := _network(known, mounts)):
        return Place(known, wanted, network=network, due=False)
    status = os.stat(path)  # what answers late here is given up by who waits for it
    if not is_environment(path):
        return Place(path, wanted, user_name(status.st_uid), status.st_uid, reason=NONE)
    prefix, python = locate.identity(path, place=os.path.islink(envs.link_of(path)))
    network = _network(os.path.realpath(prefix), mounts)
    uid = status.st_uid if wanted.owner is None else _uid(wanted.owner)
    if uid is None:
        return Place(prefix, wanted, wanted.owner or "", reason=f"there is no user {wanted.owner}", network=network)
    who, still = _looker(prefix, python, uid)
    still = (
        "--root: nothing is started" if root else still or (network and f"it lies on a file system of type {network}")
    )
    return Place(prefix, wanted, user_name(uid), uid, who, still, network, due=not (network and prefix in recent))


def _network(path: str, mounts: Sequence[Mount]) -> str:
    mount = mount_of(path, mounts)
    return mount.kind if mount is not None and mount.kind in NETWORK_KINDS else ""


def _uid(name: str) -> int | None:
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        return None


def _looker(prefix: str, python: str, uid: int) -> tuple[Identity, str]:
    """Return who looks at an environment, and why nothing is started there.

    Root's own is looked at by nobody in particular where others could have put something into it, and so is anybody's
    to which another one's link leads: that one could show what the owner alone may read.
    """
    me = os.geteuid()
    if me != 0:
        return identity(me), "" if uid == me else f"it belongs to {user_name(uid)}"
    if uid == 0:
        open_to = strangers(prefix, 0) or _open_within(prefix)
        return (nobody(), open_to) if open_to else (identity(0), strangers(python, 0) or "")
    if said := link_of_another(prefix, uid):
        return nobody(), said
    return identity(uid), strangers(python, uid) or strangers(prefix, uid) or ""


def _open_within(prefix: str) -> str | None:
    """Say what in an environment of root's others may write, as far down as packages and their metadata lie."""
    left = ENTRIES
    libraries = glob.glob(os.path.join(glob.escape(prefix), "lib*", "python3*"))
    packages = [os.path.join(library, name) for library in libraries for name in ("site-packages", "dist-packages")]
    for folder in (prefix, os.path.join(prefix, "bin"), *libraries, *packages):
        for path in (folder, *_entries(folder)) if os.path.isdir(folder) else ():
            left -= 1
            said = strangers(path, 0) if left else f"{folder} has too many entries to be sure of"
            if said:
                return said
    return next(filter(None, (strangers(path, 0) for folder in packages for path in _led_to(folder))), None)


def _led_to(folder: str) -> Iterator[str]:
    """Yield where path files and editable installs of a directory lead; all that is read here is root's own by now."""
    for path in glob.iglob(os.path.join(glob.escape(folder), "*.pth")):
        lines = head(path, _LISTED).decode(errors="surrogateescape").splitlines()
        yield from (os.path.join(folder, line.strip()) for line in lines if line.strip() and "\0" not in line)
    for path in glob.iglob(os.path.join(glob.escape(folder), "*.dist-info", "direct_url.json")):
        said = head(path, _LISTED)
        for found in _ADDRESS.findall(said) if _EDITABLE.search(said) else ():
            yield os.fsdecode(unquote_to_bytes(found))


def _entries(folder: str) -> list[str]:
    return [entry.path for entry in os.scandir(folder)]


def in_turn(places: Sequence[Place], visited: Mapping[str, float]) -> list[Place]:
    """Put those first that were looked at longest ago, or never; `visited` has the times by prefix.

    The second of any owner comes after the first of each: who makes new ones all the time keeps nobody from his turn.
    """
    ranks: dict[int, int] = {}
    turns = []
    for place in sorted(places, key=lambda place: visited.get(place.prefix, float("-inf"))):
        ranks[place.uid] = ranks.get(place.uid, -1) + 1
        turns.append((ranks[place.uid], place))
    return [place for _, place in sorted(turns, key=lambda turn: turn[0])]
