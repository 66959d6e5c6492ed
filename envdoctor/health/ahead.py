"""All that a look needs, loaded before root is given up: the owner need not be able to read the doctor's files."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from envdoctor import facts, knowledge, registry, snapshot, state
from envdoctor.facts import interpreter

_OTHERS = (
    *("ctypes", "csv", "difflib", "encodings.idna", "encodings.punycode", "encodings.ascii", "encodings.latin_1"),
    *("glob", "mmap", "multiprocessing", "pickle", "resource", "shutil", "sqlite3", "subprocess", "tempfile"),
    *("tomllib", "unicodedata", "urllib.parse", "urllib.request", "zipfile", "zoneinfo"),
    *("packaging.markers", "packaging.requirements", "packaging.specifiers", "packaging.tags", "packaging.utils"),
)
"""Modules that are imported where they are first needed."""


def load() -> None:
    """Import what is imported late elsewhere, and read the tables."""
    for _ in snapshot.load():
        pass
    for package in (facts, state):
        for module in iter_modules(package.__path__):
            import_module(f"{package.__name__}.{module.name}")
    registry.select()
    registry.audited()
    for name in registry.views():
        registry.views()[name]
    for name in knowledge.names():
        knowledge.table(name)
    interpreter.source()
    for name in (*_OTHERS, "envdoctor.judge", "envdoctor.workflows", "envdoctor.recorded"):
        import_module(name)
