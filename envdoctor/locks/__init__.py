"""Lock files: read any of the six formats into one model, then narrow it to a target.

| format | written by | read in |
|---|---|---|
| requirements.txt | pip-compile, `uv pip compile`, `uv export` | `requirements` |
| pylock.toml, pylock.NAME.toml (PEP 751) | `pip lock`, `uv export` | `pylock` |
| uv.lock | uv | `uv` |
| poetry.lock (1.1, 2.0, 2.1) | Poetry | `poetry` |
| pdm.lock (4.x) | PDM | `pdm` |
| Pipfile.lock (spec 6) | pipenv | `pipfile` |

Nothing here imports a parser before a lock is read: start-up time is every command's.
"""

from __future__ import annotations

from dataclasses import replace

from envdoctor.locks import files
from envdoctor.locks.selection import Selection, check_choice, select
from envdoctor.model import Lock

__all__ = ["Selection", "check_choice", "read", "select"]


def read(path: str) -> Lock:
    """Read a lock file, whatever its format.

    Raises LockError if it cannot be read or is not a lock of a known format; what is wrong with single lines is
    kept in `Lock.problems`. Opens no file but this one, the files a requirements lock includes from below its own
    directory, the pyproject.toml of an editable project there, and the one beside a poetry.lock or pdm.lock.
    """
    import hashlib

    from envdoctor.locks import detect

    data = files.read_bytes(path)
    lock = detect.parser(path, data)(path, data)
    return replace(lock, digest=hashlib.sha256(data).hexdigest())
