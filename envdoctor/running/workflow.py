"""`envdoctor run`: find the target, sanitise, check what the command would really get, guard, become the command.

The check comes after the sanitising: it judges the environment that will be used, so that what is mended stops nothing.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

from envdoctor import activation, guarding, hooks, registry, snapshot, workflows
from envdoctor.environ import Change, Left, applied, change
from envdoctor.errors import UsageError
from envdoctor.locate import Wish
from envdoctor.model import Report, Severity, Target, Unavailable
from envdoctor.running import again, gathering, sanitising, unguarded, warming
from envdoctor.running.asked import Asked
from envdoctor.system import becoming, forked, prctl
from envdoctor.system.host import LocalHost

LINGER = 500
"""Milliseconds that children which are being killed may take."""


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
    tells: str = ""
    """The command line that tells more of what the check found."""
    warm: str | None = None
    """The function that is to warm the cache first, and on which devices."""
    devices: str | None = None

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
    outer, given = hooks.without(host.env)  # those of a `run` further up are no leak, and stay
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
    guard = _guard(asked, found.target, host.env, facts)
    hooked = hooks.put_back(outer, applied(host.env, guard))
    report = _checked(wish, selection, asked, replace(host, env=hooked)) if asked.check else None
    left = tuple(each for each in said if isinstance(each, Left))
    changes = (*made, *guard)
    rest = report, asked.fail_on, facts["elsewhere"]
    tells = again.check(found.target, wish, selection, asked, changes)
    return Prepared(found.target, asked.command, hooked, changes, left, *rest, tells, asked.warm, asked.devices)


def start(prepared: Prepared, wish: Wish, asked: Asked, host: LocalHost, tell: warming.Tell) -> NoReturn:
    """Warm the cache if that was asked for, then become the command.

    Raises NotStartedError; EnvDoctorError if a directory for a cache cannot be made, or nothing could be warmed.
    """
    own = [each.after for each in prepared.changes if each.rule == "cache-dir" and each.after is not None]
    gathering.make_folders(own)
    if asked.warm is not None:
        with prctl.adoption_kept():
            warming.warm(asked, wish, replace(host, env=prepared.env), tell)
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


def _guard(asked: Asked, target: Target, env: Mapping[str, str], facts: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return what a guard changes. Raises UsageError for a torch that it does not know."""
    if asked.guard is None:
        return ()
    build, flag = facts["torch_build"], facts["fx_flag"]
    for missing in (build, flag):
        if isinstance(missing, Unavailable):
            raise UsageError(f"guard {asked.guard}: {target.prefix}: {missing.reason}")
    guarded = guarding.guarded(env, build, flag)
    after = guarded.env.get(hooks.VARIABLE)
    said = guarded.said + (unguarded.caveat(asked.command, facts["elsewhere"]) if guarded.active else "")
    return (change(env, "guard", hooks.VARIABLE, after, "", said),)
