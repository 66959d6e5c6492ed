"""Say what a file is before it is read: a lock of ours, another tool's lock by name, or no lock.

Sources: PEP 751 (pylock names, lock-version), uv's lock schema (version), poetry's and pdm's [metadata], pipenv's
`_meta`, `conda list --explicit`, conda-lock's YAML, Pants' JSON behind `//` lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from envdoctor.errors import LockError
from envdoctor.model import Lock, LockFormat, LockProblem

Parser = Callable[[str, bytes], Lock]
_HEAD = 1 << 16
"""Bytes looked at where a look is enough."""
_PYLOCK_NAME = re.compile(r"pylock(\.[^.]+)?\.toml")
_NAMES: dict[str, LockFormat] = {"uv.lock": "uv", "poetry.lock": "poetry", "pdm.lock": "pdm", "Pipfile.lock": "pipfile"}
"""Names under which the tools look for their own."""
_TOML_NAMES = (".toml", "uv.lock", "poetry.lock", "pdm.lock")
_TOML = re.compile(rb"^(\[\[packages?\]\]|((lock[-_])?version|content[-_]hash)\s*=(?!=))", re.MULTILINE)
_PIN = re.compile(rb"^[A-Za-z0-9][\w.-]*(\[[^\]]*\])?\s*===?\s*\S", re.MULTILINE)
_CONFLICT = re.compile(rb"^<{7}( |\r?$)", re.MULTILINE)
_UNICODE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_PEX = "export its Python packages as hashed requirements (pex3 lock export), and name that file"
_CONDA = "it locks conda packages; lock what pip installs in that environment apart (envdoctor lock from-target)"
_OTHERS = (
    (re.compile(rb"^//", re.MULTILINE), rb'"locked_resolves"|pantsbuild', "a Pants lock", _PEX),
    (re.compile(rb"\A\s*\{"), rb'"locked_resolves"', "a PEX lock", _PEX),
    (re.compile(rb"^@EXPLICIT\s*$", re.MULTILINE), rb"", "an explicit conda list", _CONDA),
    (re.compile(rb"^version:\s*1\s*$", re.MULTILINE), rb"(?m)^(metadata|package):", "a conda-lock file", _CONDA),
)
_CONTENTS: dict[LockFormat, str] = {
    "requirements": "requirements text",
    "pylock": "a pylock",
    "uv": "a uv lock",
    "poetry": "a poetry.lock",
    "pdm": "a pdm.lock",
    "pipfile": "a Pipfile.lock",
}
_NOT_SUPPORTED = "is {}, which is not supported: {}"


def parser(path: str, data: bytes) -> Parser:
    """Choose the reader by content, and by name where content leaves it open. Raises LockError if there is none."""
    head = data[:_HEAD]
    if not data.strip():
        raise LockError(path, "is empty, so it is not a lock")
    if b"\0" in head and not head.startswith(_UNICODE_MARKS):
        raise LockError(path, "is a binary file, not a lock")
    for start, inside, kind, advice in _OTHERS:
        if start.search(head) and re.search(inside, head):
            raise LockError(path, _NOT_SUPPORTED.format(kind, advice))
    if _is_pipfile(path, head):
        return partial(_parse_named, _parse_pipfile)
    if re.match(rb"(\xef\xbb\xbf)?\s*(\{|<(?!<{6}))", head):
        raise LockError(path, "is JSON or markup, not a lock that envdoctor knows")
    return partial(_parse_named, _by_shape(path, head))


def _is_pipfile(path: str, head: bytes) -> bool:
    """Tell by content, or by the name where the content is no other lock's either."""
    if os.path.basename(path) == "Pipfile.lock":
        return not (_TOML.search(head) or _PIN.search(head))
    return re.match(rb"(\xef\xbb\xbf)?\s*\{", head) is not None and b'"pipfile-spec"' in head


def _by_shape(path: str, head: bytes) -> Parser:
    name = os.path.basename(path)
    if not _TOML.search(head) and (_PIN.search(head) or not name.endswith(_TOML_NAMES)):
        from envdoctor.locks import requirements

        return requirements.parse
    return _parse_toml


def _parse_pipfile(path: str, data: bytes) -> Lock:
    from envdoctor.locks import pipfile

    return pipfile.parse(path, data)


def _parse_named(parse: Parser, path: str, data: bytes) -> Lock:
    """Read a lock for what it is, and say so if its name promises another format."""
    lock = parse(path, data)
    said = _misnamed(os.path.basename(path), lock.format)
    problem = LockProblem(1, said, rule="wrong-format")
    return replace(lock, problems=(problem, *lock.problems)) if said else lock


def _misnamed(name: str, kind: LockFormat) -> str:
    promised = "pylock" if _PYLOCK_NAME.fullmatch(name) else _NAMES.get(name, kind)
    if promised != kind:
        return f"the lock holds {_CONTENTS[kind]} under the name {name}, so that installers read it as something else"
    if kind == "pylock" and not _PYLOCK_NAME.fullmatch(name):
        return "the lock is a pylock under a name that PEP 751 does not allow: call it pylock.toml or pylock.NAME.toml"
    return ""


def _parse_toml(path: str, data: bytes) -> Lock:
    from envdoctor.locks import pdm, poetry, pylock, uv
    from envdoctor.locks.toml import Document

    conflict = _CONFLICT.search(data)
    if conflict:
        raise LockError(path, "holds an unresolved merge conflict", data.count(b"\n", 0, conflict.start()) + 1)
    document = Document.parse(path, data)
    top = document.top
    metadata = top.get("metadata")
    if "lock-version" in top:
        return pylock.parse(document)
    if isinstance(metadata, dict) and ("lock-version" in metadata or "content-hash" in metadata):
        return poetry.parse(document)
    if isinstance(metadata, dict) and ("lock_version" in metadata or "content_hash" in metadata):
        return pdm.parse(document)
    if "version" in top and ("package" in top or "requires-python" in top or os.path.basename(path) == "uv.lock"):
        return uv.parse(document)
    if "project" in top or "build-system" in top:
        raise LockError(path, "is a pyproject.toml, which asks for packages but does not lock them")
    raise LockError(path, "is TOML without `lock-version` (pylock.toml) or `version` (uv.lock), so it is not a lock")
