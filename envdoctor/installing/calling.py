"""How the tools of this room are called: with variables of ours alone, and what is kept of their last words.

The bytes are in the store already, so nothing that a user's configuration says (indexes, certificates, caches, link
modes, targets, compile switches) has a say in where they go. Seen to matter if they are passed on: PIP_TARGET,
PIP_USER, PIP_PREFIX, PIP_REQUIRE_VIRTUALENV, UV_LINK_MODE, UV_CACHE_DIR, PYTHONPATH, PYTHONHOME.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from envdoctor.errors import StepError
from envdoctor.printable import last_lines
from envdoctor.progress import Work
from envdoctor.system.host import Completed
from envdoctor.system.tool import perform

_KEPT = re.compile(r"PATH|HOME|LANG|LC_\w+|TMPDIR|LD_LIBRARY_PATH|TZ")
"""What a process needs of its caller."""
_NOT_FOR_BUILDS = re.compile(r"PIP_\w+|UV_\w+|PYTHON\w+|VIRTUAL_ENV\w*|CONDA_\w+|__PYVENV_LAUNCHER__|SOURCE_DATE_EPOCH")
_OURS = {"PIP_CONFIG_FILE": os.devnull, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1"}
"""pip reads no file of settings at all if it is told of this one, `pip.conf` of the venv included. Byte code is made
after the proof, from what was proven (compiling.py)."""
_FULL = re.compile(r"No space left on device|\(os error 28\)|\[Errno 28\]|Disk quota exceeded|\(os error 122\)")


def bare(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for a tool that only has to put files in place."""
    return {name: value for name, value in env.items() if _KEPT.fullmatch(name)} | _OURS


def for_build(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for a build: compilers are told much by variables; what steers installers is left out."""
    return {name: value for name, value in env.items() if not _NOT_FOR_BUILDS.fullmatch(name)} | _OURS


def run(argv: Sequence[str], work: Work, *, env: Mapping[str, str], cwd: str, within: float) -> Completed:
    """Run a tool under the lock that is held; all that it prints is logged."""
    env = {**env, "TMPDIR": work.temporary} if work.temporary else env
    return perform(argv, env=env, cwd=cwd, timeout=within, held=work.held, heard=work.log)


def failure(step: str, tool: str, done: Completed, advice: str = "") -> StepError:
    """Return the error that a failed run is."""
    text = done.stdout.decode(errors="replace")
    if _FULL.search(text):
        return StepError(step, f"{tool}: no space left", last_lines(text), "free some space, or set TMPDIR elsewhere")
    return StepError(step, f"{tool} {done.fault}", last_lines(text), advice)
