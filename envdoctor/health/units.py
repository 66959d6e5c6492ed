"""What systemd and cron are told to run: units and a crontab line as text, each setting with its reason.

Settings: systemd.exec(5), systemd.resource-control(5), systemd.service(5) and systemd.timer(5) of systemd 252.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from envdoctor.health.schedule import Every
from envdoctor.system.dropped import PATH

NAME = "envdoctor-health"
LATEST = 90
"""Seconds after which a run is ended from outside; its own deadline comes long before."""
Setting = tuple[str, str]
"""A setting, and its reason."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run, how often, and what it writes."""

    command: tuple[str, ...]
    every: Every
    user: bool = False
    """True for the units or the crontab of one user, who looks after what is his."""
    writes: tuple[str, ...] = ()
    """Directories beside the usual state."""


GENTLE: tuple[Setting, ...] = (
    ("Nice=19", "last for the processor, among the processes of this service"),
    ("CPUWeight=1", "and the service last among all others: nice tells only within one"),
    ("IOSchedulingClass=idle", "reads when no job does, where the disk has a scheduler that knows classes"),
    ("IOWeight=1", "and last for the disk among all services"),
    ("OOMScoreAdjust=1000", "goes first if memory runs out"),
    ("MemoryMax=1G", "four times what a run takes"),
    ("TasksMax=512", "a program of a user's that forks without end stays small"),
    (f"TimeoutStartSec={LATEST}", "it has a deadline of its own; this is for a run that hangs in the kernel"),
    ("SuccessExitStatus=1", "findings are no failure of the service; 2 and 3 are"),
    ("UMask=0077", "what it writes is its own; the metrics are opened to all by name"),
)
HARMLESS: tuple[Setting, ...] = (
    (
        "NoNewPrivileges=yes",
        "no setuid program gives rights; giving them up, as root does for owners, needs none",
    ),
    ("LockPersonality=yes", "what a user's interpreter starts stays on the native execution domain"),
    ("RestrictRealtime=yes", "nothing of it may go before a job"),
    ("RestrictSUIDSGID=yes", "it leaves no setuid file behind"),
    ("RestrictNamespaces=yes", "no namespace gives capabilities back"),
    ("SystemCallArchitectures=native", "the filter below knows no other calls"),
    ("SystemCallFilter=@system-service quotactl", "what services use, changing the user with it, and quotas"),
    ("SystemCallErrorNumber=EPERM", "what is refused is then said as a reason, and nothing is killed"),
    ("RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6", "names of users from a directory; a command of --notify"),
)
ROOT: tuple[Setting, ...] = (
    (
        "CapabilityBoundingSet=CAP_SETUID CAP_SETGID CAP_SETPCAP CAP_KILL CAP_DAC_READ_SEARCH",
        "become the owner of each environment for good, end what that leaves, find environments in closed homes",
    ),
    ("ProtectSystem=strict", "all is read-only but what is named below"),
    ("StateDirectory=envdoctor", "the record of runs: /var/lib/envdoctor"),
    ("StateDirectoryMode=0700", "it tells what users have installed"),
    ("RuntimeDirectory=envdoctor-0", "where the turn of a run is kept if somebody has its place in /dev/shm"),
    ("RuntimeDirectoryMode=0700", "nobody else keeps anything there"),
    ("ProtectHome=no", "environments lie there, and what is remembered of their caches"),
    (
        "ReadWritePaths=-/home",
        "marks are raised there by children that have become the owners; add where else homes are",
    ),
    ("PrivateTmp=no", "compile caches lie in /tmp: a private one would be empty"),
    ("PrivateDevices=no", "NVML opens the devices of the GPUs"),
    ("DevicePolicy=closed", "of other devices /dev/null and its like alone"),
    ("DeviceAllow=char-nvidia* rw", "by the names of /proc/devices"),
    ("ProtectProc=default", "who uses a cache or a GPU is seen in /proc"),
    ("ProtectKernelTunables=yes", "it changes none"),
    ("ProtectKernelModules=yes", "NVML must not load one that an administrator has left out"),
    ("ProtectKernelLogs=yes", "owners may not read the kernel's log either"),
    ("ProtectControlGroups=yes", "it changes none"),
    ("ProtectClock=yes", "it sets none"),
    ("ProtectHostname=yes", "it sets none"),
    ("KeyringMode=private", "no keys of root's"),
)
"""What the manager of one user cannot grant, or would have to make a namespace of users for."""


def service(plan: Plan) -> str:
    """Return the text of the service."""
    writable = [(f"ReadWritePaths={_quoted(path)}", "the metrics, or a state of its own") for path in plan.writes]
    settings = [*GENTLE, *HARMLESS, *([] if plan.user else [*ROOT, *writable])]
    head = ("[Unit]", "Description=Look after GPU training environments", "Documentation=man:systemd.exec(5)", "")
    start = f"ExecStart={' '.join(map(_word, plan.command))}"
    return _text([*head, "[Service]", "Type=oneshot", start, *_explained(settings)])


def timer(plan: Plan) -> str:
    """Return the text of the timer."""
    settings = (
        (f"OnCalendar={plan.every.calendar}", "by the clock, so that a missed run is known"),
        ("Persistent=yes", "a run that was missed while the machine was off is made up for"),
        (f"RandomizedDelaySec={plan.every.delay}", "nodes must not ask one file server all at once"),
        ("FixedRandomDelay=yes", "the same delay every time on a node, so that runs are evenly apart"),
        ("AccuracySec=1min", "a wake-up may be shared"),
    )
    head = ("[Unit]", "Description=Look after GPU training environments", "", "[Timer]")
    return _text([*head, *_explained(settings), "", "[Install]", "WantedBy=timers.target"])


def crontab(plan: Plan) -> str:
    """Return lines for /etc/cron.d, whose sixth field is the user, or for `crontab`, which has none (crontab(5))."""
    who = "" if plan.user else "root "
    wait = f"sleep $(shuf -i 0-{plan.every.delay} -n 1)"
    gently = f"exec nice -n 19 ionice -c 3 timeout -k 10 {LATEST}"
    command = f"{wait}; {gently} {shlex.join(plan.command)}".replace("%", r"\%")  # cron makes % a line's end
    return _text(
        [
            "# last for processor and disk, ended if it hangs, nodes not all at once; cron mails what has changed",
            f"PATH={PATH}",
            f"{plan.every.fields} {who}{command}",
        ]
    )


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _explained(settings: Iterable[Setting]) -> Sequence[str]:
    """Put each reason above its setting: systemd knows no comments behind one."""
    return [line for setting, why in settings for line in (f"# {why}", setting)]


def _word(text: str) -> str:
    """Quote a word of a command line (systemd.service(5)), where $ begins a variable."""
    return _quoted(text).replace("$", "$$")


def _quoted(text: str) -> str:
    """Quote a path (systemd.syntax(7)), where % begins a specifier."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"' if escaped != text or any(char.isspace() or char in "';" for char in text) else text


def folders(*files: str | None) -> tuple[str, ...]:
    """Return the directories of files, each once."""
    return tuple(dict.fromkeys(os.path.dirname(file) for file in files if file))
