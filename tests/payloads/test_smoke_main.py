"""How the payload of a smoke finds its own modules."""

import importlib.util
import sys
from pathlib import Path

import pytest

import envdoctor

PATH = Path(envdoctor.__file__).parent / "payloads" / "smoke" / "main.py"


@pytest.mark.parametrize("name", ["wire", "recording"])
def test_a_module_is_imported_once(monkeypatch, name):
    """Of one that is imported twice, an exception of the first is none of the second, and nobody catches it."""
    spec = importlib.util.spec_from_file_location("payload_main", PATH)
    payload = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(payload)
    monkeypatch.setitem(sys.modules, f"envdoctor_smoke_{name}", None)
    monkeypatch.delitem(sys.modules, f"envdoctor_smoke_{name}")
    assert payload.sibling(name) is payload.sibling(name)
