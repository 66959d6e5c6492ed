"""The venv's own files: the interpreter's names, the activation scripts, pyvenv.cfg."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from envdoctor.facts.interpreter import parse_pyvenv
from envdoctor.installing import Fault
from envdoctor.installing.layout import OWN_SCRIPTS, Found, Layout, is_own_script
from envdoctor.system.reading import regular


def own_faults(layout: Layout, found: Found) -> Iterator[Fault]:
    """Yield what is not as the venv module made it."""
    entry = found.entries.get("lib64")
    if entry is not None and not (stat.S_ISLNK(entry.mode) and os.readlink(layout.at("lib64")) == "lib"):
        yield Fault("", layout.at("lib64"), "is not the link to lib that it should be")
    for path, entry in found.entries.items():
        if is_own_script(path) and path[4:] in OWN_SCRIPTS and entry.fault:
            yield Fault("", layout.at(path), entry.fault)
    entry = found.entries.get("pyvenv.cfg")
    if entry is None or entry.fault:
        yield Fault("", layout.at("pyvenv.cfg"), entry.fault if entry else "is missing")
        return
    pyvenv = parse_pyvenv(regular(layout.at("pyvenv.cfg"), 1 << 16).decode("utf-8", "surrogateescape"))
    if pyvenv.get("include-system-site-packages", "false").lower() != "false":
        yield Fault("", layout.at("pyvenv.cfg"), "lets packages of the base interpreter in")
    yield from _pythons(layout, found, pyvenv)


def _pythons(layout: Layout, found: Found, pyvenv: dict[str, str]) -> Iterator[Fault]:
    """Hold every name of the interpreter to the one that pyvenv.cfg names."""
    home, written = pyvenv.get("home", ""), pyvenv.get("executable")
    expected = os.path.realpath(written or os.path.join(home, f"python{layout.version}"))
    names = [path for path in found.entries if is_own_script(path) and path[4:] not in OWN_SCRIPTS]
    if "bin/python" not in names:
        yield Fault("", layout.at("bin/python"), "is missing")
    for path in names:
        if not stat.S_ISLNK(found.entries[path].mode):
            yield Fault("", layout.at(path), "is no link to the base interpreter")
        elif os.path.realpath(layout.at(path)) != expected:
            yield Fault("", layout.at(path), f"does not lead to {expected}")
