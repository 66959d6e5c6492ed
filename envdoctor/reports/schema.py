"""The JSON Schema (draft-07) of the report for programs: what reports/json.py writes, whichever command it is from."""

from __future__ import annotations

from typing import Any

from envdoctor.reports.json import SCHEMA

DRAFT = "http://json-schema.org/draft-07/schema#"
_TEXT = {"type": "string"}
_MAYBE = {"type": ["string", "null"]}
_SEVERITY = {"enum": ["note", "warning", "error"]}


def _table(required: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401 - a schema's own keys
    return {"type": "object", "properties": required, "required": list(required), **more}


def _list(items: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": items, "description": description}


_FINDING = _table(
    {
        "probe": {"type": "string", "pattern": "^[a-z0-9-]+/[a-z0-9-]+$", "description": "Id of the probe."},
        "severity": _SEVERITY,
        "subject": {**_TEXT, "description": "The thing at fault: a normalised name, a path, a variable, cuda:N."},
        "message": {**_TEXT, "description": "One sentence."},
        "evidence": {"type": "object", "description": "Data that backs the message."},
        "remedy": _list(_TEXT, "Commands or steps, in the order to try them."),
    }
)
_TARGET = {
    "anyOf": [{"type": "null"}, _table({"prefix": _TEXT, "python": _MAYBE, "lock": _MAYBE})],
    "description": "The environment that was looked at; null where locks alone were.",
}
_SKIPPED = _table({"probe": _TEXT, "reason": _TEXT, "failed": {"type": "boolean"}})
_TRIAL = _table(
    {
        "step": _TEXT,
        "device": _TEXT,
        "state": {"enum": ["passed", "failed", "skipped", "never-ran"]},
        "seconds": {"type": "number"},
        "said": _TEXT,
    }
)
_PROPERTIES = {
    "schema": {"const": SCHEMA},
    "envdoctor": {**_TEXT, "description": "Version that wrote it."},
    "taken_at": {**_TEXT, "format": "date-time", "description": "When it was judged, UTC."},
    "host": _TEXT,
    "target": _TARGET,
    "config": {**_MAYBE, "description": "The configuration file that was used."},
    "verdict": {"enum": ["sick", "warnings", "healthy"]},
    "findings": _list({"$ref": "#/definitions/finding"}, "What was found, worst first."),
    "passed": _list(_TEXT, "Probes that found nothing."),
    "skipped": _list(_SKIPPED, "Probes that could not judge; `failed` where that is the doctor's failure."),
    "crashed": _list(_table({"probe": _TEXT, "error": _TEXT}), "Probes that broke."),
    "failed": _list(_table({"fact": _TEXT, "reason": _TEXT}), "Facts that the doctor failed to read."),
    "muted": _list({"$ref": "#/definitions/finding"}, "Found, and muted by the configuration."),
    "seen": {
        "type": "object",
        "additionalProperties": {"type": ["string", "integer"]},
        "description": "What was looked at: packages, files, torch ...",
    },
    "seconds": {"type": "number"},
}
REPORT = _table(_PROPERTIES) | {
    "$schema": DRAFT,
    "title": "Report of envdoctor",
    "description": "Keys may be added within one schema number; what is there keeps its name and meaning.",
    "definitions": {"finding": _FINDING},
}
REPORT["properties"] = {**_PROPERTIES, "trials": _list(_TRIAL, "What was tried out; only of `envdoctor smoke`.")}
