"""What `activate` does for a shell, done for one command (Lib/venv/scripts/common/activate, CPython 3.12)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from envdoctor.environ import Change, change
from envdoctor.errors import UsageError

RULE = "activate"


def is_venv(prefix: str) -> bool:
    """Tell whether an environment is a venv (PEP 405), and not conda's or the system's."""
    return os.path.isfile(os.path.join(prefix, "pyvenv.cfg"))


def changes(prefix: str, env: Mapping[str, str], *, venv: bool) -> Iterator[Change]:
    """Put the target's commands first, and name it as the active environment if it is a venv.

    CONDA_PREFIX is conda's own to set, with much else; a VIRTUAL_ENV that names another environment is taken away.
    Raises UsageError for a target that PATH cannot name.
    """
    own = os.path.join(prefix, "bin")
    if os.pathsep in own:
        raise UsageError(f"{own}: PATH cannot name it, for the {os.pathsep!r} in it: make the environment elsewhere")
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
