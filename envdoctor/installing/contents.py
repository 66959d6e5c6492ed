"""What a wheel puts where, by its own table of contents and its own RECORD (PEP 427); nothing is unpacked."""

from __future__ import annotations

import hashlib
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError
from dataclasses import dataclass, field

from envdoctor.archives import Archive
from envdoctor.facts import records
from envdoctor.facts.metadata import normalised
from envdoctor.installing import Fault
from envdoctor.installing.layout import Layout, is_own
from envdoctor.system.zips import UNREADABLE

SIGNATURES = ("RECORD.jws", "RECORD.p7s")
"""Members that RECORD cannot list."""
WRITTEN = ("INSTALLER", "REQUESTED", "RECORD", "uv_cache.json", "uv_build.json")
"""Files of a dist-info that are the installer's, also where a wheel was packed with those of another install."""
STRONG = frozenset({"sha256", "sha384", "sha512", "sha3_256", "sha3_384", "sha3_512", "blake2b", "blake2s"})
"""What PEP 427 allows (sha256 or better) of what hashlib always has."""
PLACEHOLDER = b"#!python"
"""Beginning of a script whose first line the installer writes anew."""
_LIMIT = 64 << 20
"""Bytes of one member that is read whole: RECORD, entry points, a script to be rewritten."""

_Rows = Mapping[str, tuple[str, str]]
"""Of a RECORD: member -> digest and size."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file that a wheel brings."""

    name: str
    """In the archive."""
    digest: str
    """As RECORD has it, else of the member's own bytes: `algorithm=urlsafe-base64-without-padding`."""
    size: int
    rewritten: bool = False
    """True for a script that gets a first line of the installer's."""
    recorded: tuple[str, str] = ("", "")
    """Digest and size as RECORD has them, true or not, weak or not."""


@dataclass(slots=True)
class Contents:
    """What one archive puts into a venv."""

    archive: Archive
    info: str = ""
    """Its dist-info, relative to the prefix."""
    files: dict[str, Member] = field(default_factory=dict)
    """By path relative to the prefix."""
    folders: set[str] = field(default_factory=set)
    """Directories that the archive names as such."""
    scripts: dict[str, str] = field(default_factory=dict)
    """Entry points that become commands: name -> `module:object`."""
    lost: list[str] = field(default_factory=list)
    """What its RECORD lists and it does not have, as written there; pip keeps such rows."""
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def fault(self, what: str, how: str) -> None:
        """Put down what is wrong with the archive itself."""
        self.faults.append(Fault(self.archive.name, self.archive.path, f"{what}: {how}" if what else how))

    def note(self, what: str) -> None:
        """Put down what is odd about it, and no tampering: its own sha256 is the lock's."""
        self.notes.append(f"{self.archive.filename}: {what}")


def read(archive: Archive, layout: Layout) -> Contents:
    """Return what an archive puts where. What is wrong with it is among the faults; never raises for its bytes."""
    found = Contents(archive)
    try:
        with zipfile.ZipFile(archive.path) as wheel:
            _read(wheel, found, layout)
    except UNREADABLE as error:
        found.fault("", f"cannot be read as a wheel: {getattr(error, 'strerror', None) or error}")
    return found


def _read(wheel: zipfile.ZipFile, found: Contents, layout: Layout) -> None:
    members = _members(wheel, found)
    infos = {name.partition("/")[0] for name in members if name.partition("/")[0].endswith(".dist-info")}
    info = min(infos, default="")
    project = info.removesuffix(".dist-info").rpartition("-")[0]
    if len(infos) != 1 or normalised(project) != found.archive.name:
        found.fault("", f"has no dist-info of {found.archive.name}, or several")
        return
    found.info = f"{layout.site}/{info}"
    rows = _record(wheel, f"{info}/RECORD", found, members)
    for name, member in members.items():
        path = _installed(name, info, layout, found)
        if path:
            _put(wheel, member, path, rows, found)
    if f"{info}/entry_points.txt" in members:
        found.scripts = _commands(_bytes(wheel, members[f"{info}/entry_points.txt"]).decode("utf-8", "replace"), found)


def _members(wheel: zipfile.ZipFile, found: Contents) -> dict[str, zipfile.ZipInfo]:
    """List the files; what names no place below the venv, or two contents for one place, is a fault."""
    members: dict[str, zipfile.ZipInfo] = {}
    for member in wheel.infolist():
        name = member.filename
        if not _is_plain(name.removesuffix("/")):
            found.fault(repr(name), "leads out of the environment")
        elif name in members and members[name].CRC != member.CRC:
            found.fault(repr(name), "is in the wheel twice, with different bytes")
        else:
            members[name] = member
    return members


def leads_out(archive: Archive) -> str:
    """Return a member's name that leads out of where the wheel is unpacked; "" if there is none.

    pip 26.3 refuses such a wheel, uv 0.13.9 leaves the member out. Raises what UNREADABLE lists.
    """
    with zipfile.ZipFile(archive.path) as wheel:
        return next((name for name in wheel.namelist() if not _is_plain(name.removesuffix("/"))), "")


def _is_plain(name: str) -> bool:
    return "\\" not in name and "\0" not in name and not {"", ".", ".."} & set(name.split("/"))


def _record(wheel: zipfile.ZipFile, name: str, found: Contents, members: Mapping[str, zipfile.ZipInfo]) -> _Rows:
    """Return what RECORD says."""
    if name not in members:
        found.fault("", "has no RECORD")
        return {}
    rows = records.parse(_bytes(wheel, members[name]).decode("utf-8", "surrogateescape"))
    found.lost = [path for path, digest, _ in rows if path not in members and not path.endswith("/")]
    if found.lost:
        found.note(f"its RECORD lists {found.lost[0]!r}, which is not in it" + _more(found.lost))
    weak = [path for path, digest, _ in rows if digest and digest.partition("=")[0] not in STRONG]
    if weak:
        found.note(
            f"its RECORD has a weak digest of {weak[0]!r}" + _more(weak) + "; the file's own bytes were compared"
        )
    return {path: (digest, size) for path, digest, size in rows}


def _more(paths: list[str]) -> str:
    return f" and {len(paths) - 1} more" if len(paths) > 1 else ""


def _installed(name: str, info: str, layout: Layout, found: Contents) -> str:
    """Return where a member is installed, relative to the prefix; "" if nowhere."""
    stem = info.removesuffix(".dist-info")
    top, _, rest = name.partition("/")
    if top != f"{stem}.data":
        return f"{layout.site}/{name}"
    kind, _, rest = rest.partition("/")
    headers = layout.headers(found.archive.name)
    places = {"purelib": layout.site, "platlib": layout.site, "scripts": "bin", "data": "", "headers": headers}
    if kind not in places:
        if rest:
            found.fault(repr(name), "is of no kind that wheels have")
        return ""
    return f"{places[kind]}/{rest}".lstrip("/") if rest else ""


def _put(wheel: zipfile.ZipFile, member: zipfile.ZipInfo, path: str, rows: _Rows, found: Contents) -> None:
    if path.endswith("/"):
        found.folders.add(path.rstrip("/"))
        return
    if path in {f"{found.info}/{written}" for written in WRITTEN}:
        return
    if is_own(path):
        found.fault(repr(member.filename), "would replace a file of the environment's own")
        return
    name = member.filename
    script = f"{found.info.rpartition('/')[2].removesuffix('.dist-info')}.data/scripts/"
    rewritten = name.startswith(script) and _begins(wheel, member, PLACEHOLDER)
    recorded = rows.get(name, ("", ""))
    digest = recorded[0] if recorded[0].partition("=")[0] in STRONG else ""
    if name not in rows and not name.endswith(tuple(f".dist-info/{signature}" for signature in SIGNATURES)):
        found.note(f"its RECORD does not list {name!r}; the file's own bytes were compared")
    known = Member(name, digest or ("" if rewritten else digest_of(wheel, name)), member.file_size, rewritten, recorded)
    if path in found.files and found.files[path].digest != known.digest:
        found.fault(repr(name), "goes where another of its files goes")
    found.files[path] = known


def _begins(wheel: zipfile.ZipFile, member: zipfile.ZipInfo, start: bytes) -> bool:
    with wheel.open(member) as stream:
        return stream.read(len(start)) == start


def _bytes(wheel: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return a small member. Raises ValueError if it is not small, whatever its header says."""
    with wheel.open(member) as stream:
        data = stream.read(_LIMIT + 1)
    if len(data) > _LIMIT:
        raise ValueError(f"{member.filename} is larger than {_LIMIT >> 20} MiB")
    return data


def script(archive: Archive, name: str) -> bytes:
    """Return a script that is to be rewritten, without its first line. Raises what UNREADABLE lists."""
    with zipfile.ZipFile(archive.path) as wheel:
        return _bytes(wheel, wheel.getinfo(name)).partition(b"\n")[2]


def digest_of(wheel: zipfile.ZipFile, name: str, algorithm: str = "sha256") -> str:
    """Digest a member's bytes as RECORD would."""
    with wheel.open(name) as stream:
        found = hashlib.file_digest(stream, algorithm)  # type: ignore[arg-type] # what zipfile opens has all it needs
    return f"{algorithm}={urlsafe_b64encode(found.digest()).rstrip(b'=').decode()}"


def _commands(text: str, found: Contents) -> dict[str, str]:
    """Return the commands of entry_points.txt; a name that is no plain file name is a fault."""
    parser = ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # names keep their case
    try:
        parser.read_string(text)
    except ConfigError:
        found.fault("entry_points.txt", "cannot be read")
        return {}
    return dict(_plain_commands(parser, found))


def _plain_commands(parser: ConfigParser, found: Contents) -> Iterator[tuple[str, str]]:
    for section in ("console_scripts", "gui_scripts"):
        for name, target in parser.items(section) if parser.has_section(section) else ():
            if not _is_plain(name) or "/" in name or is_own(f"bin/{name}"):
                found.fault(f"entry point {name!r}", "would be written where no command belongs")
            else:
                yield name, target.partition("[")[0].replace(" ", "")
