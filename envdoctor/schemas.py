"""JSON Schemas (draft-07) of what envdoctor writes for programs; a snapshot's is made from the facts' own types."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import textwrap
from collections.abc import Mapping
from datetime import date, datetime
from enum import Enum
from itertools import pairwise
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from envdoctor import recorded
from envdoctor.changes.events import Event, Gap
from envdoctor.changes.telling import SCHEMA as DIFF_SCHEMA
from envdoctor.changes.telling import Seen
from envdoctor.codec import issubclass_safely
from envdoctor.model import Unavailable
from envdoctor.reports.schema import DRAFT, REPORT
from envdoctor.snapshot import FACTS

Schema = dict[str, Any]
_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    None: {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
}


def render(what: Literal["report", "snapshot", "diff"]) -> str:
    """Return a schema as JSON text."""
    found = REPORT if what == "report" else snapshot() if what == "snapshot" else diff()
    return json.dumps(found, indent=2) + "\n"


def snapshot() -> Schema:
    """Return the schema of a snapshot. Keys may be added within one schema number; what is there keeps its meaning."""
    known: dict[str, Schema] = {}
    facts = {name: _of(recorded.kind_of(name) | Unavailable, known) for name in FACTS}
    head = _object(recorded.Head, known)
    return {
        **head,
        "$schema": DRAFT,
        "title": "Snapshot of envdoctor",
        "description": "What one run observed. A fact that could not be read has the one key `unavailable`.",
        "properties": {
            **head["properties"],
            "schema": {"const": recorded.SCHEMA},
            "facts": {"type": "object", "properties": facts},
        },
        "required": [*head["required"], "facts"],
        "definitions": {name: known[name] for name in sorted(known)},
    }


def diff() -> Schema:
    """Return the schema of what `envdoctor diff --format json` prints."""
    known: dict[str, Schema] = {}
    seen, event, gap = (_of(kind, known) for kind in (Seen, Event, Gap))
    weights = known["events.Event"]["properties"]["weight"]
    weights["enum"] = [name.lower() for name in weights["enum"]]
    properties = {
        "schema": {"const": DIFF_SCHEMA},
        "envdoctor": {"type": "string", "description": "Version that compared them."},
        "before": seen,
        "after": seen,
        "notes": {"type": "array", "items": {"type": "string"}, "description": "What else the two differ in."},
        "events": {"type": "array", "items": event, "description": "What matters for training first."},
        "not_comparable": {"type": "array", "items": gap},
    }
    return {
        "$schema": DRAFT,
        "title": "Comparison of two snapshots by envdoctor",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "definitions": {name: known[name] for name in sorted(known)},
    }


def _of(kind: Any, known: dict[str, Schema]) -> Schema:  # noqa: ANN401 - any type hint
    """Return the schema of what codec.to_json writes for a type; dataclasses go into `known`, by name."""
    origin, arguments = get_origin(kind), get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _reference(kind, known)
    if origin in (Union, UnionType):
        return {"anyOf": [_of(each, known) for each in arguments]}
    if origin in (tuple, list, frozenset):
        return {"type": "array", "items": _of(arguments[0], known)}
    if origin is Literal:
        return {"enum": list(arguments)}
    if issubclass_safely(origin, Mapping):
        return {"type": "object", "additionalProperties": _of(arguments[1], known)}
    if issubclass_safely(kind, Enum):
        return {"enum": list(kind.__members__)}
    return dict(_PLAIN.get(kind, {}))


def _reference(kind: Any, known: dict[str, Schema]) -> Schema:  # noqa: ANN401 - a dataclass
    if kind is Unavailable:
        known.setdefault("unavailable", _unavailable(known))
        return {"$ref": "#/definitions/unavailable"}
    name = f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"
    if name not in known:
        known[name] = {}  # a type may hold itself
        known[name] = _object(kind, known)
    return {"$ref": f"#/definitions/{name}"}


def _unavailable(known: dict[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": {"unavailable": _object(Unavailable, known)},
        "required": ["unavailable"],
    }


def _object(kind: Any, known: dict[str, Schema]) -> Schema:  # noqa: ANN401 - a dataclass
    hints, said = get_type_hints(kind), _attribute_docs(kind)
    properties = {field.name: _of(hints[field.name], known) for field in dataclasses.fields(kind)}
    return {
        "type": "object",
        "description": inspect.cleandoc(kind.__doc__ or ""),
        "properties": {name: _described(schema, said.get(name, "")) for name, schema in properties.items()},
        "required": [field.name for field in dataclasses.fields(kind) if _needed(field)],
    }


def _needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _described(schema: Schema, text: str) -> Schema:
    """Add a description; draft-07 ignores what stands beside `$ref`, so that one is wrapped."""
    if not text:
        return schema
    return {"allOf": [schema], "description": text} if "$ref" in schema else {**schema, "description": text}


def _attribute_docs(kind: Any) -> dict[str, str]:  # noqa: ANN401 - a dataclass
    """Return the strings that stand below attributes in a class's source; Python itself forgets them."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    lines = body.body if isinstance(body, ast.ClassDef) else []
    return {
        before.target.id: " ".join(str(after.value.value).split())
        for before, after in pairwise(lines)
        if isinstance(before, ast.AnnAssign)
        and isinstance(before.target, ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
    }
