"""What `envdoctor freeze` left in an environment, and whether it is still so, as far as a few hundred looks can tell.

A freeze takes the write bits off everything below the prefix, puts `require-hashes` into the environment's own pip.conf
and keeps a record of both. Looked at again are the prefix, its bin directory with what is in it, the site-packages
directories with what lies directly in them, and pip.conf.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from envdoctor.facts.search_path import SearchPath
from envdoctor.model import Target, Unavailable
from envdoctor.seals import Seal
from envdoctor.system.host import Host
from envdoctor.system.reading import head

RECORD = "freeze.json"
"""Beside the seal."""
PIP_CONF = "pip.conf"
"""In the prefix: the configuration that pip calls `site`, for this environment alone (pip 26.3, configuration.py)."""
PIP_CONF_LIMIT = 1 << 20
KEPT = 50
"""Paths that are kept."""
_NOT_OURS = frozenset({"__pycache__"})
"""Made again by the next start of a Python as root, whom no mode stops."""


@dataclass(frozen=True, slots=True)
class Freeze:
    """The state of a freeze."""

    made: bool = False
    """True if the seal says frozen and the record of `envdoctor freeze` lies beside it; all else is looked at then."""
    hashes: bool = False
    """True if pip is told to install nothing without a hash."""
    writable: tuple[str, ...] = ()
    """Paths that have a write bit again, the first of them."""
    count: int = 0
    """Of all of them."""


def collect(
    target: Target,
    host: Host,  # noqa: ARG001 - every collector's shape
    search_path: SearchPath,
    seal: Seal | Unavailable,
) -> Freeze | Unavailable:
    """Look at an environment that was frozen; any other costs nothing."""
    if isinstance(seal, Unavailable):  # who failed at it has said so
        return Unavailable(seal.reason)
    folder = os.path.join(target.prefix, ".envdoctor")
    if not seal.frozen or not os.path.isfile(os.path.join(folder, RECORD)):
        return Freeze()
    pip_conf = os.path.join(target.prefix, PIP_CONF)
    places = [target.prefix, os.path.join(target.prefix, "bin"), *search_path.site_dirs()]
    found = [path for path in (*_looked_at(places), pip_conf) if _writable(path)]
    return Freeze(
        made=True,
        hashes=requires_hashes(head(pip_conf, PIP_CONF_LIMIT)),
        writable=tuple(found[:KEPT]),
        count=len(found),
    )


def _looked_at(places: Iterable[str]) -> Iterator[str]:
    """Yield the places, and what is directly in each but the prefix."""
    for number, place in enumerate(places):
        yield place
        try:
            names = sorted(os.listdir(place)) if number else []
        except OSError:
            continue
        yield from (os.path.join(place, name) for name in names if name not in _NOT_OURS)


def _writable(path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISLNK(mode) and bool(mode & 0o222)


def requires_hashes(text: bytes) -> bool:
    """Tell whether a pip.conf makes `pip install` refuse what has no hash: the section `install` outranks `global`."""
    import configparser  # for a frozen environment alone

    parser = configparser.RawConfigParser()
    try:
        parser.read_string(text.decode("utf-8", "replace"))
    except configparser.Error:
        return False
    said = [
        value
        for section in ("global", "install")
        for name, value in (parser.items(section) if parser.has_section(section) else ())
        if name.replace("_", "-").removeprefix("--") == "require-hashes"
    ]
    return bool(said) and said[-1].lower() in ("1", "true", "yes", "on", "y", "t")
