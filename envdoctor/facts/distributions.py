"""What is installed: every distribution on the path that the job would search, read from its metadata directory.

Layout: PEP 376 and the "Recording installed projects" specification (INSTALLER, REQUESTED, RECORD), PEP 610
(direct_url.json), PEP 427 (WHEEL); older egg-info, .egg and .egg-link forms as setuptools wrote them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from envdoctor.facts import install_times
from envdoctor.facts.batches import Batch, Stamp, Worth, batches
from envdoctor.facts.metadata import (
    DirectUrl,
    normalised,
    parse_direct_url,
    parse_headers,
    parse_requires_txt,
    parse_wheel_tags,
    required_names,
)
from envdoctor.facts.search_path import Origin, PathEntry, SearchPath
from envdoctor.model import Target
from envdoctor.system.host import Host
from envdoctor.system.rooted import joined

Kind = Literal["dist-info", "egg-info", "egg", "egg-link"]
ORDERED = 22
"""Major of pip from which on its order is the one that `batches` reads (20.3 and 21.3 were seen to write in others)."""
SYSTEM = frozenset({"debian", "rpm"})
"""What INSTALLER holds where a package manager of the operating system put the package there."""
METADATA_LIMIT = 4 << 20
"""Bytes of one metadata file that are read."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """One installed distribution."""

    name: str
    """Normalised."""
    version: str | None
    """As written in its metadata; None if that cannot be read."""
    project: str
    """Name as written."""
    location: str
    """The directory of sys.path in which it lies."""
    metadata: str
    """Its dist-info or egg-info, absolute."""
    origin: Origin
    kind: Kind = "dist-info"
    installer: str | None = None
    requested: bool = False
    """True if somebody asked for it by name (REQUESTED)."""
    direct_url: DirectUrl | None = None
    installed_at: float | None = None
    """When its RECORD was written, seconds since the epoch: the end of its installation."""
    started_at: float | None = None
    """When its first file was written, where the file times tell."""
    times: Worth = "own"
    """What these times are worth."""
    requires: tuple[str, ...] = ()
    """Requires-Dist, as written."""
    requires_python: str | None = None
    tags: tuple[str, ...] = ()
    """Compatibility tags of the wheel it came from (WHEEL)."""
    has_record: bool = True
    top_level: tuple[str, ...] = ()
    """Top-level import names, read only where there is no RECORD to tell."""
    problems: tuple[str, ...] = ()
    """What is wrong with its metadata."""

    @property
    def by_system(self) -> bool:
        """True for a package of the operating system, whose own package manager vouches for its files.

        Debian's policy for Python keeps them in lib/python3/dist-packages; its tools strip and move files after RECORD
        was written.
        """
        return self.location.endswith("/lib/python3/dist-packages") or (self.installer or "").lower() in SYSTEM

    @property
    def label(self) -> str:
        """`name version`, for sentences."""
        return f"{self.name} {self.version}" if self.version else self.name


@dataclass(frozen=True)
class Distributions:
    """Everything installed, in the order of sys.path."""

    items: tuple[Distribution, ...]
    batches: tuple[Batch, ...] = ()
    """Installations in one go, oldest first; without those whose file times prove nothing."""
    timeless: str | None = None
    """Why the file times of the others prove nothing, if there are such."""
    changed: Mapping[str, float] = field(default_factory=dict)
    """Site-packages directory -> when a name came or went in it, where that was not byte code's."""

    @cached_property
    def active(self) -> Mapping[str, Distribution]:
        """The distribution of each name: the first on the path, if need be the first whose version can be read."""
        found: dict[str, Distribution] = {}
        for item in self.items:
            known = found.get(item.name)
            if known is None or (known.version is None and item.version is not None):
                found[item.name] = item
        return found

    @property
    def count(self) -> int:
        """How many names are installed."""
        return len(self.active)

    @cached_property
    def own(self) -> tuple[Distribution, ...]:
        """Those in the environment's own site-packages."""
        return tuple(item for item in self.items if item.origin == "site-packages")

    @cached_property
    def batch_of(self) -> Mapping[str, Batch]:
        """The installation by which each name came."""
        return {name: batch for batch in self.batches for name in batch.members}


def collect(target: Target, host: Host, search_path: SearchPath) -> Distributions:
    """Read the metadata of everything on the path; nothing is imported."""
    entries = [entry for entry in search_path.entries if entry.origin != "stdlib"]
    items = [found for entry in entries for found in _in_entry(entry, host.root)]
    own = (item for item in items if item.origin == "site-packages")
    stamps = [stamp_of(item, item.installed_at) for item in own if item.installed_at is not None]
    made = install_times.modified(os.path.join(target.prefix, "pyvenv.cfg"))
    found, timeless = batches(stamps, made, ordered=not any(map(_is_old_pip, items)))
    changed = {site: when for site in search_path.site_dirs() if (when := install_times.changed(site)) is not None}
    return Distributions(tuple(items), found, timeless, changed)


def stamp_of(item: Distribution, ended: float) -> Stamp:
    """Return what is known of when and by what a distribution came."""
    needs, always = required_names(item.requires)
    return Stamp(item.name, ended, item.started_at, item.installer, item.requested, needs, item.times, always)


def _is_old_pip(item: Distribution) -> bool:
    """Tell whether it is a pip of another order than `batches` knows, which was seen to begin with 22."""
    major = (item.version or "").partition(".")[0]
    return item.name == "pip" and major.isdecimal() and len(major) < 4 and int(major) < ORDERED


def _in_entry(entry: PathEntry, root: str) -> Iterable[Distribution]:
    try:
        names = sorted(os.listdir(entry.path))
    except OSError:
        return
    for name in names:
        if name.startswith("~"):
            continue  # what a failed uninstall left behind is no installed distribution
        path = os.path.join(entry.path, name)
        if name.endswith(".dist-info"):
            yield _from_dist_info(path, entry)
        elif name.endswith(".egg-info"):
            yield _from_egg_info(path, entry, "egg-info")
        elif name.endswith(".egg") and os.path.isdir(os.path.join(path, "EGG-INFO")):
            yield _from_egg_info(os.path.join(path, "EGG-INFO"), entry, "egg")
        elif name.endswith(".egg-link"):
            yield _from_egg_link(path, entry, root)


def _from_dist_info(path: str, entry: PathEntry) -> Distribution:
    problems: list[str] = []
    present = _listing(path, problems)
    headers = _headers(os.path.join(path, "METADATA"), problems) if "METADATA" in present else {}
    if not headers and not problems:
        problems.append("its METADATA has no fields" if "METADATA" in present else "has no METADATA")
    stem = os.path.basename(path)[: -len(".dist-info")]
    name, version = _identity(stem, headers, problems)
    installer = None if os.path.islink(f"{path}/INSTALLER") else _installer(_small(path, "INSTALLER", present))
    has_record = os.path.exists(os.path.join(path, "RECORD"))  # not a link that leads nowhere: it records nothing
    times = install_times.read(path, entry.path, installer)
    return Distribution(
        name=normalised(name),
        version=version,
        project=name,
        location=entry.path,
        metadata=path,
        origin=entry.origin,
        installer=installer,
        requested="REQUESTED" in present,
        direct_url=parse_direct_url(_small(path, "direct_url.json", present), problems),
        installed_at=times.ended,
        started_at=times.started,
        times=times.worth,
        requires=tuple(headers.get("requires-dist", ())),
        requires_python=next(iter(headers.get("requires-python", ())), None),
        tags=parse_wheel_tags(_small(path, "WHEEL", present)),
        has_record=has_record,
        top_level=() if has_record else _top_level(path, present, name),
        problems=tuple(problems),
    )


def _installer(text: str) -> str | None:
    """Return an installer's name, and nothing that is none: INSTALLER may be a link to a file of somebody else's."""
    name = text.strip()
    return name if re.fullmatch(r"[\w.+-]{1,40}", name) else None


def _from_egg_info(path: str, entry: PathEntry, kind: Kind) -> Distribution:
    problems: list[str] = []
    is_directory = os.path.isdir(path)
    headers = _headers(os.path.join(path, "PKG-INFO") if is_directory else path, problems)
    stem = os.path.basename(path if kind == "egg-info" else os.path.dirname(path)).rsplit(".", 1)[0]
    name, version = _identity(stem, headers, problems)
    present = _listing(path, problems) if is_directory else frozenset[str]()
    return Distribution(
        name=normalised(name),
        version=version,
        project=name,
        location=entry.path,
        metadata=path,
        origin=entry.origin,
        kind=kind,
        requires=parse_requires_txt(_small(path, "requires.txt", present)),
        has_record=False,
        top_level=_top_level(path, present, name),
        problems=tuple(problems),
    )


def _from_egg_link(path: str, entry: PathEntry, root: str) -> Distribution:
    """Read a development install of old: the first line of the link names the project's directory."""
    problems: list[str] = []
    project = joined(root, entry.path, _text(path, problems).partition("\n")[0].strip())
    name = os.path.basename(path)[: -len(".egg-link")]
    info = os.path.join(project, f"{name.replace('-', '_')}.egg-info", "PKG-INFO")
    headers = _headers(info, problems) if os.path.isfile(info) else {}
    return Distribution(
        name=normalised(name),
        version=next(iter(headers.get("version", ())), None),
        project=name,
        location=entry.path,
        metadata=path,
        origin=entry.origin,
        kind="egg-link",
        direct_url=DirectUrl(f"file://{project}", editable=True),
        has_record=False,
        problems=tuple(problems),
    )


def _listing(path: str, problems: list[str]) -> frozenset[str]:
    try:
        return frozenset(os.listdir(path))
    except OSError as error:
        problems.append(f"cannot be read: {error.strerror}")
        return frozenset()


def _text(path: str, problems: list[str]) -> str:
    """Read a regular file as UTF-8; say what is wrong with it and return what can be read."""
    try:
        if not os.path.isfile(path):
            problems.append(f"{os.path.basename(path)} is not a regular file")
            return ""
        with open(path, "rb") as stream:
            data = stream.read(METADATA_LIMIT)
    except OSError as error:
        problems.append(f"{os.path.basename(path)} cannot be read: {error.strerror}")
        return ""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problems.append(f"{os.path.basename(path)} is not UTF-8 (byte 0x{data[error.start]:02x} at {error.start})")
        return data.decode("latin-1")


def _small(folder: str, name: str, present: frozenset[str]) -> str:
    return _text(os.path.join(folder, name), []) if name in present else ""


def _headers(path: str, problems: list[str]) -> dict[str, list[str]]:
    return parse_headers(_text(path, problems))


def _identity(stem: str, headers: Mapping[str, list[str]], problems: list[str]) -> tuple[str, str | None]:
    """Return name and version: the metadata's, else the directory's name (and say so)."""
    stem_name, _, stem_version = stem.partition("-")
    name = next(iter(headers.get("name", ())), "")
    version = next(iter(headers.get("version", ())), "")
    if headers and not (name and version):
        problems.append("its metadata has no Name or no Version")
    if not headers:
        return stem_name, None
    return name or stem_name, version or stem_version or None


def _top_level(path: str, present: frozenset[str], name: str) -> tuple[str, ...]:
    named = tuple(line.strip() for line in _small(path, "top_level.txt", present).splitlines() if line.strip())
    return named or (name.replace("-", "_"), normalised(name).replace("-", "_"))
