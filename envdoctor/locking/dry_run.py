"""What uv would install for a lock's pins, asked of the index: whether they are all that is needed, and fit together.

Only metadata is fetched, and nothing is built (uv 0.13.9, `uv pip install --dry-run`).
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence

from envdoctor.errors import UsageError
from envdoctor.locking.choosing import Goal, find_uv
from envdoctor.locking.platforms import Platform, for_uv
from envdoctor.locks.environments import LockEnvironment
from envdoctor.locks.text import normalised
from envdoctor.model import LockedPackage
from envdoctor.printable import last_lines
from envdoctor.system.host import Host
from envdoctor.system.tool import perform
from envdoctor.views.lock_online import DryRun

USUAL = (2, 28)
"""glibc that wheels of torch are built for, where the environment does not say its own."""
_ADDED = re.compile(r"^ \+ ([A-Za-z0-9][\w.-]*)==", re.MULTILINE)
_CAUSE = re.compile(r"No solution found.*?(?:cause:|╰─▶)(.*)", re.DOTALL)


def dry_run(
    pins: Sequence[LockedPackage], environment: LockEnvironment, folder: str, host: Host, timeout: float
) -> DryRun | None:
    """Ask, as from the lock's directory; None where there is no uv, or not enough is known of the environment.

    What could not be learned is told as the answer's problem.
    """
    if not (environment.python and environment.machine):
        return None
    platform = Platform(environment.glibc or USUAL, environment.machine)
    try:
        uv = find_uv(Goal(environment.python, None, platform), folder, host)
        target = ["--python-version", environment.python, "--python-platform", for_uv(platform)]
    except UsageError:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        wishes = os.path.join(scratch, "pins.txt")
        with open(wishes, "w", encoding="utf-8") as stream:
            stream.write("".join(f"{_wish(pin)}\n" for pin in pins))
        place = ["--target", os.path.join(scratch, "site"), "--python", uv.builder, "--no-python-downloads"]
        nowhere = ["--no-index"] if uv.no_index else []
        argv = [uv.path, "pip", "install", "--dry-run", "--color", "never", "--only-binary", ":all:", *target, *place]
        done = perform([*argv, *nowhere, "-r", wishes], env=uv.env, cwd=folder, timeout=timeout)
    text = done.stdout.decode(errors="replace")
    return _read(text, environment.name, pins, done.problem if done.status != 0 else None, ended=done.status == 0)


def _wish(pin: LockedPackage) -> str:
    extras = f"[{','.join(pin.extras)}]" if pin.extras else ""
    return f"{pin.name}{extras}{pin.operator}{pin.version}"


def _read(text: str, name: str, pins: Sequence[LockedPackage], problem: str | None, *, ended: bool) -> DryRun:
    """Read what uv printed."""
    if ended:
        held = {pin.name for pin in pins}
        return DryRun(name, tuple(sorted({normalised(added) for added in _ADDED.findall(text)} - held)))
    cause = _CAUSE.search(text)
    said = " ".join(cause[1].split()) if cause else ""
    if " depends on " in said and "no wheels" not in said and "not found" not in said:
        return DryRun(name, conflict=said)
    last = "".join(last_lines(text)[-1:]).strip() or "it failed without a word"
    return DryRun(name, problem=f"uv: {problem or said or last}")
