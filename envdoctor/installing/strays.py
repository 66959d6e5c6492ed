"""What lies in a venv and is nobody's: no archive's, not the venv module's, not the installer's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from envdoctor.installing import Fault
from envdoctor.installing.layout import Found, Layout, is_own


def strays(found: Found, owned: AbstractSet[str], named: AbstractSet[str], layout: Layout) -> Iterator[Fault]:
    """Yield what nobody brought; a whole directory of it is one fault.

    `owned` are files, `named` directories that somebody made for their own sake.
    """
    folders = _ancestors(owned | named | {f"{layout.site}/-", f"include/python{layout.version}/-"}) | named
    foreign = [folder for folder in found.folders - folders if not _is_ours(folder)]
    tops = {folder for folder in foreign if folder.rpartition("/")[0] in folders | {""}}
    counts: Counter[str] = Counter()
    for path in found.entries:
        if path in owned or is_own(path):
            continue
        top = _top(path, tops)
        if top:
            counts[top] += 1
        else:
            yield Fault("", layout.at(path), _file(path))
    for top in sorted(tops):
        yield Fault("", layout.at(top), _folder(top, counts[top]))


def _is_ours(folder: str) -> bool:
    """Tell whether a directory is the venv's, Python's or envdoctor's: what lies in it is judged file by file."""
    return folder in ("bin", "include", "lib") or folder.endswith("/__pycache__") or is_own(folder)


def _ancestors(paths: AbstractSet[str]) -> set[str]:
    """Return every directory above these paths."""
    above: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in above:
            above.add(folder)
            folder = folder.rpartition("/")[0]
    return above


def _top(path: str, tops: AbstractSet[str]) -> str:
    """Return the foreign directory that a path lies in, the topmost; "" if it lies in none."""
    end = path.find("/")
    while end > 0:
        if path[:end] in tops:
            return path[:end]
        end = path.find("/", end + 1)
    return ""


def _file(path: str) -> str:
    if path.endswith("/direct_url.json"):
        return "says that it did not come from the lock's archive"
    if path.endswith(".pyc"):
        return "is byte code that no archive has, and that could be of any source"
    if path.endswith(".pth"):
        return "is run at every start of Python, and no archive has it"
    return "is in no archive"


def _folder(path: str, count: int) -> str:
    if path.endswith(".dist-info"):
        return "is of a distribution that the lock does not have"
    return f"is in no archive, nor are the {count} files in it" if count else "is in no archive"
