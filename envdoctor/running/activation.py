"""What `activate` does for a shell, done for one command (Lib/venv/scripts/common/activate, CPython 3.12)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from envdoctor.running.changes import Change, change

RULE = "activate"


def changes(prefix: str, env: Mapping[str, str], *, venv: bool) -> Iterator[Change]:
    """Put the target's commands first, and name it as the active environment if it is a venv.

    CONDA_PREFIX is conda's own to set, with much else; a VIRTUAL_ENV that names another environment is taken away.
    """
    own = os.path.join(prefix, "bin")
    path = env.get("PATH") or os.defpath
    if path.split(os.pathsep)[0] != own:
        yield change(env, RULE, "PATH", os.pathsep.join((own, path)), f"begins with {own}", "the target's commands")
    active = env.get("VIRTUAL_ENV")
    if venv and active != prefix:
        yield change(env, RULE, "VIRTUAL_ENV", prefix, f"is {prefix}", "the target")
    elif not venv and active is not None:
        yield change(env, RULE, "VIRTUAL_ENV", None, "unset", f"{active} is not the target")
    if "PYTHONHOME" in env:
        yield change(env, RULE, "PYTHONHOME", None, "unset", "it would send the target's Python elsewhere")
