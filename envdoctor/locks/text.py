"""Names, addresses and quotations, in the one form that every lock reader gives them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from urllib.parse import unquote

from envdoctor.printable import printable, redact

ARCHIVES = (".whl", ".tar.gz", ".zip", ".tar.bz2", ".tar.xz", ".tgz", ".tar")
"""Suffixes of files that installers take as a package (pip's ARCHIVE_EXTENSIONS, the ones still seen)."""
DIGEST_LENGTHS = {"md5": 32, "sha1": 40, "sha224": 56, "sha256": 64, "sha384": 96, "sha512": 128}
DIGEST_LENGTHS |= {"sha3_224": 56, "sha3_256": 64, "sha3_384": 96, "sha3_512": 128, "blake2b": 128, "blake2s": 64}
"""Hex digits of the algorithms of fixed length that every Python has (hashlib.algorithms_guaranteed)."""
_NAME = re.compile(r"[A-Z0-9]|[A-Z0-9][A-Z0-9._-]*[A-Z0-9]", re.IGNORECASE | re.ASCII)
_SEPARATORS = re.compile(r"[-_.]+")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a line, before it is known which."""

    rule: str
    """Of the area `lock`."""
    message: str
    text: str = ""
    """As it is written there."""


def normalised(name: str) -> str:
    """Return a project, extra or group name as PEP 503 normalises it."""
    return _SEPARATORS.sub("-", name).lower()


def is_name(name: str) -> bool:
    """Return whether a text may name a project (core metadata specification, Name)."""
    return _NAME.fullmatch(name) is not None


def shown(text: str, limit: int = 200) -> str:
    """Return text of a lock, or an error that quotes it, for a message: one line, printable, without secrets."""
    line = printable(redact(text.split("\n", 1)[0]))
    return line if len(line) <= limit else line[: limit - 3] + "..."


def quoted(text: str) -> str:
    """Return text of a lock in quotes, at most 80 characters of it."""
    return repr(shown(text, 80)).replace("\\\\", "\\")


def file_name(url: str) -> str:
    """Return the file that a URL or path ends in, "" if it ends in none."""
    path = re.split(r"[?#]", url, maxsplit=1)[0]
    return unquote(path.replace("\\", "/").rsplit("/", 1)[-1])


def name_and_version(file: str) -> tuple[str, str] | None:
    """Read (name, version) off a wheel's or sdist's file name, both as written; None if it is no such name."""
    suffix = next((suffix for suffix in ARCHIVES if file.endswith(suffix)), None)
    if suffix is None:
        return None
    stem = file[: -len(suffix)]
    parts = stem.split("-") if suffix == ".whl" else stem.rsplit("-", 1)
    if len(parts) not in ((5, 6) if suffix == ".whl" else (2,)) or not parts[0] or not parts[1][:1].isdigit():
        return None
    return parts[0], parts[1]


TAGS = 4096
"""Tags that one wheel's name may stand for; the most of a real one is some dozens."""


def tag_count(wheel: str) -> int:
    """Return how many tags a wheel's name stands for (PEP 425, compressed tag sets)."""
    parts = wheel.removesuffix(".whl").split("-")[-3:]
    return prod(part.count(".") + 1 for part in parts)


def digest_problem(digest: str) -> str | None:
    """Say what is wrong with an `alg:hex` digest, None if nothing is."""
    algorithm, colon, value = digest.partition(":")
    if not colon or algorithm not in DIGEST_LENGTHS:
        return f"hash {quoted(digest)} is not ALGORITHM:HEX with a known algorithm"
    if not re.fullmatch(r"[0-9a-fA-F]+", value) or len(value) != DIGEST_LENGTHS[algorithm]:
        return f"hash {quoted(digest)} is not {DIGEST_LENGTHS[algorithm]} hexadecimal digits"
    return None
