"""All that a look needs, loaded before root is given up: the owner need not be able to read the doctor's files."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from envdoctor import facts, knowledge, locks, registry, snapshot, state
from envdoctor.facts import interpreter

_OTHERS = (
    *("ctypes", "configparser", "csv", "difflib", "glob", "mmap", "pickle", "pickletools"),
    *("pynvml", "resource", "shutil", "sqlite3", "subprocess", "tempfile", "tomllib", "unicodedata", "zipfile"),
    *(f"encodings.{name}" for name in ("ascii", "cp437", "idna", "latin_1", "utf_8_sig")),
    *(f"elftools.{name}" for name in ("common.exceptions", "elf.dynamic", "elf.elffile")),
    *(f"packaging.{name}" for name in ("markers", "requirements", "specifiers", "tags", "utils")),
    *("envdoctor.judge", "envdoctor.recorded", "envdoctor.workflows", "urllib.parse"),
)
"""Modules that are imported where they are first needed."""


def load() -> None:
    """Import what is imported late elsewhere, and read the tables."""
    for _ in snapshot.load():
        pass
    for package in (facts, locks, state):
        for module in iter_modules(package.__path__):
            import_module(f"{package.__name__}.{module.name}")
    registry.select()
    registry.audited()
    for name in registry.views():
        registry.views()[name]
    for name in knowledge.names():
        knowledge.table(name)
    interpreter.source()
    for name in _OTHERS:
        import_module(name)
