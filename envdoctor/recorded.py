"""A snapshot as a file: what one run observed, to be judged on any machine, put into a bug report, kept as a test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import import_module
from typing import Any, get_type_hints

from envdoctor import __version__
from envdoctor.codec import from_json, to_json
from envdoctor.errors import UsageError
from envdoctor.model import Target, Unavailable
from envdoctor.policy import Policy
from envdoctor.printable import redact, throughout
from envdoctor.snapshot import FACTS, Snapshot

SCHEMA = 1
LIMIT = 64 << 20
"""Bytes of a file that is read. The snapshot of a venv with 197 distributions has half a MB."""
ABSENT = Unavailable("the snapshot does not hold it")
_SHOWN = 160
"""Characters of what is wrong with a file; a value in it may be long."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a snapshot says beside its facts."""

    schema: int
    envdoctor: str
    """Version that took it."""
    taken_at: datetime
    """With a zone."""
    host: str
    """Name of the machine."""
    target: Target
    policy: Policy
    """The configuration that holds for the target."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was observed, where, when, and by which configuration it is to be judged."""

    head: Head
    facts: Snapshot


def record(taken: Snapshot, target: Target, policy: Policy, host: str, moment: datetime) -> Recorded:
    """Put a snapshot together with what judging it needs."""
    return Recorded(Head(SCHEMA, __version__, moment.replace(microsecond=0), host, target, policy), taken)


def render(recorded: Recorded) -> str:
    """Return the snapshot as JSON: ASCII alone."""
    return json.dumps(document(recorded), indent=1) + "\n"


def document(recorded: Recorded) -> dict[str, Any]:
    """Return the snapshot as JSON values, without the secrets that can be told (printable.redact)."""
    facts = {name: to_json(fact) for name, fact in recorded.facts.facts().items()}
    told: dict[str, Any] = throughout({**to_json(recorded.head), "facts": facts}, cache(redact))  # most come often
    return told


def parse(data: bytes, name: str) -> Recorded:
    """Read a snapshot. Unknown keys and facts are left out; a fact that is not there is unavailable.

    Raises UsageError, naming the file and what does not fit, if this is none or one of another schema.
    """
    try:
        document = json.loads(data.decode("utf-8-sig"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise _refused(name, f"not UTF-8 at byte {error.start}, so it is no snapshot") from error
    except (ValueError, RecursionError) as error:
        raise _refused(name, f"not JSON, so it is no snapshot: {error}") from error
    if not isinstance(document, dict) or "facts" not in document or "schema" not in document:
        raise _refused(name, "is JSON, but no snapshot; `envdoctor snapshot -o FILE` makes one")
    if document["schema"] != SCHEMA:
        said = f"a snapshot of schema {document['schema']}, and this envdoctor knows {SCHEMA}; take it again"
        raise _refused(name, said)
    try:
        return Recorded(_head(document), _facts(document["facts"]))
    except (ValueError, RecursionError) as error:
        raise _refused(name, f"is no whole snapshot: {error}") from error


def _refused(name: str, problem: str) -> UsageError:
    cut = f"{problem[:_SHOWN]} ..." if len(problem) > _SHOWN else problem
    return UsageError(f"--snapshot: {name}: {cut}")


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _head(document: Mapping[str, Any]) -> Head:
    head: Head = from_json(Head, document)
    if head.taken_at.tzinfo is None:
        raise ValueError("taken_at: has no zone")
    return head


def _facts(found: Any) -> Snapshot:  # noqa: ANN401 - any JSON value
    if not isinstance(found, dict):
        raise ValueError(f"facts: expected dict, found {type(found).__name__}")  # noqa: TRY004 - as codec does
    return Snapshot(**{name: _fact(name, found[name]) if name in found else ABSENT for name in FACTS})


def _fact(name: str, data: Any) -> Any:  # noqa: ANN401 - each fact has its own type
    try:
        return from_json(kind_of(name) | Unavailable, data)
    except ValueError as error:
        raise ValueError(f"facts: {name}: {error}") from error


def kind_of(name: str) -> Any:  # noqa: ANN401 - a class
    """Return the type of a fact: what its collector returns."""
    return get_type_hints(import_module(f"envdoctor.facts.{name}").collect)["return"]
