"""What a SARIF report must be: valid by the standard's schema, and such that GitHub's code scanning takes it."""

import json
from pathlib import Path

import fastjsonschema

SCHEMA = Path(__file__).parent / "reports" / "sarif" / "sarif-2.1.0-rtm.5.json"
is_valid = fastjsonschema.compile(json.loads(SCHEMA.read_text(encoding="utf-8")), use_default=False)
"""Raises JsonSchemaValueException for a document that is not."""


def is_taken_by_github(result):
    """Tell whether a result has what GitHub's upload wants of the first of its locations."""
    physical = result["locations"][0].get("physicalLocation", {})
    return bool(physical.get("artifactLocation", {}).get("uri")) and physical["region"]["startLine"] > 0
