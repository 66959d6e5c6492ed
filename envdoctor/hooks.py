"""Start-up hooks of ours: directories that hold a sitecustomize.py alone, which the target's Python runs at its start.

A process has a hook if PYTHONPATH names its directory first; it runs the sitecustomize that it hides, so that several
can stand there, and children find it in the variable.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from envdoctor.errors import UsageError

_PAYLOADS = os.path.join(os.path.dirname(__file__), "payloads")
COUNTERS, FX_GUARD = (os.path.join(_PAYLOADS, name) for name in ("counters", "fx_guard"))
VARIABLE = "PYTHONPATH"


def first(hook: str, env: Mapping[str, str]) -> dict[str, str]:
    """Put a hook first on PYTHONPATH, and nowhere else on it; an empty path is no entry.

    Raises UsageError for a directory that no entry can name.
    """
    if os.pathsep in hook:
        raise UsageError(
            f"{hook}: {VARIABLE} cannot name it, for the {os.pathsep!r} in it: install envdoctor elsewhere"
        )
    entries = [entry for entry in _entries(env) if entry != hook]
    return {**env, VARIABLE: os.pathsep.join((hook, *entries))}


def without(env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Take our hooks off PYTHONPATH, which come from a `run` further up: return them, and what is left."""
    entries = _entries(env)
    found = [entry for entry in entries if is_ours(entry)]
    if not found:
        return [], dict(env)
    rest = os.pathsep.join(entry for entry in entries if entry not in found)
    return found, {name: value for name, value in env.items() if name != VARIABLE} | ({VARIABLE: rest} if rest else {})


def put_back(hooks: Iterable[str], env: Mapping[str, str]) -> dict[str, str]:
    """Put those that are missing first again, in their order."""
    for hook in reversed([hook for hook in hooks if hook not in _entries(env)]):
        env = first(hook, env)
    return dict(env)


def is_ours(entry: str) -> bool:
    """Tell whether an entry of PYTHONPATH is one of them: it was meant, and is no leak."""
    return entry.startswith(_PAYLOADS + os.sep)


def is_guarded(pythonpath: str) -> bool:
    """Tell whether a job with this PYTHONPATH has the guard `fx-race`."""
    return FX_GUARD in pythonpath.split(os.pathsep)


def _entries(env: Mapping[str, str]) -> list[str]:
    path = env.get(VARIABLE, "")
    return path.split(os.pathsep) if path else []
