"""How a process was told where its environment is: through the link, by the directory itself, or somewhere else.

A Python takes `sys.prefix` from the path that it was started by, with links on the way left as they are (Modules/
getpath.py: argv[0], looked up in PATH if it has no slash, made absolute by the working directory; PEP 405). So the
spelling decides whether a switch of the link changes what it imports next.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

Spelling = Literal["link", "directory", "version", "elsewhere", "unknown"]
"""`version`: by the real path of what the link leads to; `directory`: by a path that is to become a link."""
STEPS = 400
"""Names and links of one path that are followed; the kernel ends after 40 links (path_resolution(7))."""
STRONGEST: tuple[Spelling, ...] = ("link", "directory", "version", "elsewhere", "unknown")


class Marks:
    """The link and the environment behind it, known by device and inode: bind mounts and links give them more names."""

    def __init__(self, link: str, current: str) -> None:
        self._found: dict[tuple[int, int], Spelling] = {}
        self.environment = _identity(current, follow=True)
        if self.environment is not None:
            self._found[self.environment] = "version"
        outer = _identity(link)
        if outer is not None:
            self._found[outer] = "directory" if outer == self.environment else "link"

    def met(self, path: str) -> Spelling:
        """Follow an absolute path, a link at a time; say what it comes by first. `unknown` if it leads nowhere."""
        at, pending = "/", path.split("/")[::-1]
        for _ in range(STEPS):
            if not pending:
                return "elsewhere"
            name = pending.pop()
            if name in ("", ".", ".."):
                at = os.path.dirname(at) if name == ".." else at
                continue
            step = os.path.join(at, name)
            try:
                status = os.lstat(step)
                target = os.readlink(step) if stat.S_ISLNK(status.st_mode) else None
            except (OSError, ValueError):
                return "unknown"
            found = self._found.get((status.st_dev, status.st_ino))
            if found and (found == "link" or ".." not in pending):  # with it, the path may leave again
                return found
            if target is None:
                at = step
            else:
                at = "/" if target.startswith("/") else at
                pending += target.split("/")[::-1]
        return "unknown"

    def strongest(self, paths: Iterable[str]) -> Spelling:
        """Return what tells most of several readings of one path."""
        return min(map(self.met, paths), key=STRONGEST.index, default="unknown")

    def same(self, folder: str) -> bool:
        """Tell whether a directory is the environment, under whatever name."""
        return self.environment is not None and _identity(folder, follow=True) == self.environment


def _identity(path: str, *, follow: bool = False) -> tuple[int, int] | None:
    try:
        status = os.stat(path, follow_symlinks=follow)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def readings(word: str, env: Mapping[str, str] | None, cwd: str | None) -> Iterator[str]:
    """Yield the absolute paths that a program's name in argv[0] may mean; none if that cannot be told."""
    if "/" in word:
        yield from _absolute(word, env, cwd)
        return
    for entry in (env or {}).get("PATH", "").split(":") if word else ():
        found = [path for path in _absolute(os.path.join(entry, word), env, cwd) if os.access(path, os.X_OK)]
        if found:
            yield from found
            return


def _absolute(path: str, env: Mapping[str, str] | None, cwd: str | None) -> list[str]:
    """Put a relative path below the working directory: the present one, and the one in which a shell started it.

    The kernel gives a Python its working directory with all links resolved (getcwd(2)), whatever $PWD spells.
    """
    if path.startswith("/"):
        return [path]
    started = (env or {}).get("PWD", "")
    folders = [cwd or "", os.path.realpath(started) if started.startswith("/") else ""]
    joined = [os.path.join(folder, path) for folder in dict.fromkeys(folders) if folder]
    return [path for path in joined if os.path.exists(path)]
