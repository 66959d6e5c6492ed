"""Put the units or the crontab where they belong; what somebody has changed there is not overwritten unasked."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.health import configuring, notifying, schedule, textfile, units
from envdoctor.system.host import Host, write_all, write_atomically
from envdoctor.system.reading import regular
from envdoctor.system.trust import strangers

SYSTEM = "/etc/systemd/system"
CRON = "/etc/cron.d"
LIMIT = 1 << 20
"""Bytes of a file that is compared."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be installed."""

    cron: bool
    every: str
    user: bool
    config: str | None = None
    textfile: str | None = None
    notify: str | None = None


@dataclass(frozen=True, slots=True)
class Installation:
    """Files, and what to run when they are in place."""

    files: Mapping[str, str]
    """Path -> text; a path of "" for what is to be given to `crontab`."""
    then: str
    open_to: str = ""
    """Why root must not run what they name."""


def planned(wish: Wish, host: Host) -> Installation:
    """Return what would be written. Raises UsageError."""
    config = os.path.join(host.cwd, os.path.expanduser(wish.config)) if wish.config else None
    known = configuring.read(config, host) if not wish.user or config else configuring.Configuration()
    metrics = os.path.join(host.cwd, os.path.expanduser(wish.textfile)) if wish.textfile else None
    options = [
        word for name, value in (("--config", config), ("--textfile", metrics)) if value for word in (name, value)
    ]
    if metrics:
        textfile.checked(metrics)
    if wish.notify:
        notifying.words(wish.notify)
        options += ["--notify", wish.notify]
    program = own()
    command = (*program, "health", "--quiet-unless-changed", *options)
    plan = units.Plan(
        command, schedule.parse(wish.every), wish.user, units.folders(metrics or known.textfile, known.state)
    )
    open_to = "" if wish.user else strangers(program[0], 0) or ""
    return _cron(plan, open_to) if wish.cron else _systemd(plan, host, open_to)


def own() -> tuple[str, ...]:
    """Return the command line of this very envdoctor."""
    script = os.path.join(sys.prefix, "bin", "envdoctor")
    return (script,) if os.access(script, os.X_OK) else (sys.executable, "-m", "envdoctor")


def _systemd(plan: units.Plan, host: Host, open_to: str) -> Installation:
    configured = host.env.get("XDG_CONFIG_HOME", "")
    home = configured if os.path.isabs(configured) else os.path.join(host.home, ".config")
    folder = os.path.join(home, "systemd", "user") if plan.user else SYSTEM
    texts = {"service": units.service(plan), "timer": units.timer(plan)}
    files = {os.path.join(folder, f"{units.NAME}.{kind}"): text for kind, text in texts.items()}
    control = "systemctl --user" if plan.user else "systemctl"
    return Installation(files, f"{control} daemon-reload && {control} enable --now {units.NAME}.timer", open_to)


def _cron(plan: units.Plan, open_to: str) -> Installation:
    if plan.user:
        return Installation({"": units.crontab(plan)}, "add these lines with: crontab -e")
    return Installation({os.path.join(CRON, units.NAME): units.crontab(plan)}, "cron reads it by itself", open_to)


def write(found: Installation, *, force: bool = False) -> list[str]:
    """Write the files; return a line for each. Raises EnvDoctorError before the first is written if one differs."""
    if "" in found.files:
        raise UsageError("a crontab of a user's is written by crontab(1) alone: print the lines, and run crontab -e")
    if found.open_to:
        raise EnvDoctorError(
            f"root would run what others can change: {found.open_to}; install envdoctor for root alone"
        )
    states = {path: _state(path, text) for path, text in found.files.items()}
    changed = [path for path, state in states.items() if state == "differs"]
    if changed and not force:
        raise EnvDoctorError(f"{', '.join(changed)}: is there and differs; --force replaces it")
    for path, text in found.files.items():
        if states[path] != "unchanged":
            _put(path, text.encode())
    return [f"{path}: {'unchanged' if state == 'unchanged' else 'written'}" for path, state in states.items()]


def _put(path: str, data: bytes) -> None:
    write_atomically(path, lambda descriptor: write_all(descriptor, data), mode=0o644)


def _state(path: str, text: str) -> str:
    if not os.path.lexists(path):
        return "absent"
    try:
        return "unchanged" if regular(path, LIMIT, follow=False) == text.encode() else "differs"
    except (OSError, ValueError):
        return "differs"
