"""The scripts of one distribution in `bin`: wrappers of its entry points, and its own with a new first line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from envdoctor.installing import Fault, contents, wrappers
from envdoctor.installing.contents import Contents, Member
from envdoctor.installing.layout import Found, Layout
from envdoctor.system.reading import regular
from envdoctor.system.zips import UNREADABLE

_LIMIT = 64 << 20
"""Bytes of a script of a wheel's own."""
_VERSIONED = {"pip": re.compile(r"pip(3(\.\d+)?)?"), "setuptools": re.compile(r"easy_install(-3\.\d+)?")}
"""Commands that pip and uv name after the Python at hand, whatever entry_points.txt says; some may be left out."""


def targets(one: Contents, found: Found) -> Mapping[str, str]:
    """Return the commands that a distribution is to have: name -> `module:object`."""
    pattern = _VERSIONED.get(one.archive.name)
    fixed = {name: target for name, target in one.scripts.items() if not (pattern and pattern.fullmatch(name))}
    target = next((target for name, target in one.scripts.items() if name not in fixed), "")
    if pattern is None or not target:
        return fixed
    there = {path[4:] for path in found.entries if path.startswith("bin/")}
    return fixed | {name: target for name in there if pattern.fullmatch(name)}


def judge(one: Contents, layout: Layout, found: Found) -> Iterator[Fault]:
    """Yield what is wrong with its scripts."""
    for name, target in targets(one, found).items():
        path = f"bin/{name}"
        how = _wrapper(path, target, layout, found)
        if how:
            yield Fault(one.archive.name, layout.at(path), how)
    for path, member in one.files.items():
        if member.rewritten and path in found.entries and not found.entries[path].fault:
            how = _rewritten(one, path, member, layout)
            if how:
                yield Fault(one.archive.name, layout.at(path), how)


def _wrapper(path: str, target: str, layout: Layout, found: Found) -> str:
    entry = found.entries.get(path)
    if entry is None:
        return "is missing"
    if entry.fault:
        return entry.fault
    try:
        return wrappers.fault(regular(layout.at(path), wrappers.LIMIT, follow=False), layout.prefix, target)
    except (OSError, ValueError) as error:
        return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def _rewritten(one: Contents, path: str, member: Member, layout: Layout) -> str:
    try:
        rest = wrappers.body(regular(layout.at(path), _LIMIT, follow=False), layout.prefix)
        same = rest == contents.script(one.archive, member.name)
    except UNREADABLE as error:
        return f"cannot be read: {getattr(error, 'strerror', None) or error}"
    if rest is None:
        return "does not start this environment's python"
    return "" if same else "is not what the archive has"
