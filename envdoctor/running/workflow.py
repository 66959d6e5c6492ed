"""`envdoctor run`: find the target, sanitise, check what the command would really get, guard, become the command.

The check comes after the sanitising: it judges the environment that will be used, so that what is mended stops nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any, NoReturn

from envdoctor import guarding, registry, snapshot, workflows
from envdoctor.errors import UsageError
from envdoctor.locate import Wish
from envdoctor.model import Report, Severity, Target, Unavailable
from envdoctor.running import activation, gathering, sanitising, warming
from envdoctor.running.changes import Change, Left, applied, change
from envdoctor.system import becoming, forked, prctl
from envdoctor.system.host import LocalHost

PAYLOADS = os.path.dirname(guarding.HOOK) + os.sep
"""Start-up hooks of ours: one on PYTHONPATH comes from a `run` further up, and is no leak."""
LINGER = 500
"""Milliseconds that children which are being killed may take."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller wants done before the command starts."""

    command: tuple[str, ...]
    keep: tuple[str, ...] = ()
    guard: str | None = None
    check: bool = True
    fail_on: Severity = Severity.ERROR
    reuse: timedelta | None = None
    deadline: float = workflows.DEADLINE
    warm: str | None = None
    """A function that warms the cache first, `pkg.mod:function`."""
    devices: str | None = None
    """Those to be warmed, as --devices writes it."""
    state: bool = True
    """False to write nothing outside."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A command, ready to be started."""

    target: Target
    command: tuple[str, ...]
    env: Mapping[str, str]
    changes: tuple[Change, ...] = ()
    left: tuple[Left, ...] = ()
    report: Report | None = None
    """None if nothing was checked."""
    fail_on: Severity = Severity.ERROR
    elsewhere: str | None = None
    """The command's program, if it is another environment's."""

    @property
    def status(self) -> int:
        """The exit status with which a check stops the command, 0 if it does not."""
        return 0 if self.report is None else self.report.status(self.fail_on)


def prepare(wish: Wish, selection: workflows.Selection, asked: Asked, host: LocalHost) -> Prepared:
    """Do all that comes before the start. Raises UsageError and EnvDoctorError as `check` does.

    UsageError also for a guard that this torch is refused, and for rules that do not exist.
    """
    _known(asked.keep)
    began = time.monotonic()
    find = partial(gathering.find, wish, host)
    found: gathering.Found = forked.call("the search for the target", find, timeout=asked.deadline)
    hooks, given = _without_hooks(host.env)
    made = list(activation.changes(found.target.prefix, given, venv=found.venv))
    host = replace(host, env=applied(given, made))
    rules = sanitising.asked(asked.keep, host.env)
    wanted = sanitising.facts(rules) | ({"torch_build", "fx_flag"} if asked.guard else set())
    facts = gathering.read(
        found.target,
        host,
        wanted,
        asked.command,
        deadline=asked.deadline - (time.monotonic() - began),
        meanwhile=_modules() if asked.check and asked.reuse is None else (),
    )
    scene = sanitising.Scene(host.env, host.cwd, facts, found.policy, host.now())
    said = list(sanitising.sanitised(rules, scene))
    made += [each for each in said if isinstance(each, Change)]
    host = replace(host, env=applied(given, made))
    guard = _guard(asked.guard, host.env, facts)
    report = _checked(wish, selection, asked, host) if asked.check else None
    hooked = _hooked(applied(host.env, guard), hooks)
    left = tuple(each for each in said if isinstance(each, Left))
    changes = (*made, *guard)
    rest = report, asked.fail_on, facts["elsewhere"]
    return Prepared(found.target, asked.command, hooked, changes, left, *rest)


def start(prepared: Prepared, wish: Wish, asked: Asked, host: LocalHost, tell: warming.Tell) -> NoReturn:
    """Warm the cache if that was asked for, then become the command.

    Raises NotStartedError; EnvDoctorError if a directory for a cache cannot be made, or nothing could be warmed.
    """
    own = [each.after for each in prepared.changes if each.rule == "cache-dir" and each.after is not None]
    gathering.make_folders(own)
    if asked.warm is not None:
        wanted = warming.Wanted(asked.warm, asked.devices, asked.state)
        with prctl.adoption_kept():
            warming.warm(wanted, wish, replace(host, env=prepared.env), tell)
    forked.reap(LINGER)
    becoming.become(prepared.command, prepared.env)


def _known(keep: Collection[str]) -> None:
    for name in keep:
        if name != sanitising.ALL and name not in sanitising.RULES:
            raise UsageError(f"--keep: {name!r} is none of {', '.join(sanitising.RULES)} and {sanitising.ALL}")


def _modules() -> Iterable[object]:
    """Import what the check will need while children read."""
    yield from snapshot.load()
    yield from registry.load()


def _checked(wish: Wish, selection: workflows.Selection, asked: Asked, host: LocalHost) -> Report:
    return workflows.check(
        wish, selection, host, deadline=asked.deadline, keep=asked.state, reuse=asked.reuse if asked.state else None
    )


def _guard(name: str | None, env: Mapping[str, str], facts: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return what a guard changes. Raises UsageError for a torch that it does not know."""
    if name is None:
        return ()
    build, flag = facts["torch_build"], facts["fx_flag"]
    for missing in (build, flag):
        if isinstance(missing, Unavailable):
            raise UsageError(f"guard {name}: {missing.reason}")
    guarded = guarding.guarded(env, build, flag)
    after = guarded.env.get("PYTHONPATH")
    return (change(env, "guard", "PYTHONPATH", after, "", guarded.said),)


def _without_hooks(env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Take our own hooks off PYTHONPATH: they are to be judged as little as they are to be lost."""
    entries = env.get("PYTHONPATH", "").split(os.pathsep)
    hooks = [entry for entry in entries if entry.startswith(PAYLOADS)]
    rest = [entry for entry in entries if entry not in hooks]
    if not hooks:
        return [], dict(env)
    plain = {name: value for name, value in env.items() if name != "PYTHONPATH"}
    return hooks, plain | ({"PYTHONPATH": os.pathsep.join(rest)} if any(rest) else {})


def _hooked(env: Mapping[str, str], hooks: Sequence[str]) -> dict[str, str]:
    """Put them back, first as they were."""
    entries = list(filter(None, env.get("PYTHONPATH", "").split(os.pathsep)))
    missing = [hook for hook in hooks if hook not in entries]
    return {**env, "PYTHONPATH": os.pathsep.join((*missing, *entries))} if missing else dict(env)
