"""The record of a freeze: what it took away, so that a thaw gives exactly that back."""

from __future__ import annotations

import base64
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from envdoctor.codec import from_json
from envdoctor.errors import EnvDoctorError
from envdoctor.facts.freeze import PIP_CONF, RECORD
from envdoctor.generations.changes import Content, content

OWN = ".envdoctor"
"""Our own folder in the prefix. A freeze leaves it writable, so that seals can be written."""
SCHEMA = 1
WRITE = 0o222
"""The write bits."""
OWNER = 0o200
"""The owner's."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a freeze took away."""

    bits: int = OWNER
    """Write bits that nearly everything had."""
    others: Mapping[str, int] = field(default_factory=dict)
    """Write bits of what had others, by path relative to the prefix."""
    pip_conf: str | None = None
    """Bytes of the pip.conf that was there, in base64; None if there was none, or it was a link."""
    pip_conf_mode: int = 0o644
    pip_conf_link: str | None = None
    """Where it led, if it was a link."""
    schema: int = SCHEMA

    @staticmethod
    def key(prefix: str, path: str) -> str:
        """Return how a path is noted."""
        return path[len(prefix) + 1 :] or "."

    def taken(self, prefix: str, path: str) -> int:
        """Return the write bits that a path had."""
        return self.others.get(self.key(prefix, path), self.bits)

    def before(self) -> Content | None:
        """Return the pip.conf that was there."""
        if self.pip_conf_link is not None:
            return Content(link=self.pip_conf_link)
        return None if self.pip_conf is None else Content(base64.b64decode(self.pip_conf), self.pip_conf_mode)


def read_record(prefix: str) -> Record | None:
    """Read the record of a freeze, None if there is none. Raises EnvDoctorError if it cannot be understood."""
    path = record_path(prefix)
    found = content(path)
    if found is None:
        return None
    try:
        record: Record = from_json(Record, json.loads(found.data))
    except (ValueError, RecursionError) as error:
        raise EnvDoctorError(f"{path}: damaged record of a freeze ({error}); remove it") from error
    return record


def record_path(prefix: str) -> str:
    """Return where the record of a freeze lies."""
    return os.path.join(prefix, OWN, RECORD)


def noted(prefix: str, found: Sequence[tuple[str, int, bool]]) -> Record:
    """Return a record of what is about to be taken away, given (path, permissions, shared) of everything.

    What an earlier freeze has taken stays noted; what has write bits nevertheless got them since.
    """
    old = read_record(prefix)
    if old is None:
        counts = Counter(mode & WRITE for _, mode, _ in found)
        usual = counts.most_common(1)[0][0]
        taken = {path: mode & WRITE for path, mode, _ in found}
        record = replace(_pip_conf_noted(prefix), bits=usual)
    else:
        usual, record = old.bits, old
        taken = {path: mode & WRITE for path, mode, _ in found if mode & WRITE}
    others = {Record.key(prefix, path): bits for path, bits in taken.items()}
    return replace(
        record, others={path: bits for path, bits in (dict(record.others) | others).items() if bits != usual}
    )


def _pip_conf_noted(prefix: str) -> Record:
    found = content(os.path.join(prefix, PIP_CONF))
    if found is None:
        return Record()
    if found.link is not None:
        return Record(pip_conf_link=found.link)
    return Record(pip_conf=base64.b64encode(found.data).decode(), pip_conf_mode=found.mode)
