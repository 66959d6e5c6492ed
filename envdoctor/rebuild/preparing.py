"""`envdoctor rebuild` before anything is done: from what was asked to a plan, and what performing it takes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from envdoctor import locks
from envdoctor.archives import store
from envdoctor.archives.sources import Sources
from envdoctor.archives.targets import directories, environment_of
from envdoctor.errors import RefusedLockError, UsageError
from envdoctor.facts.distributions import Distribution
from envdoctor.generations import freezing, journal, layout
from envdoctor.generations.layout import Kind, Layout
from envdoctor.installing import creating, installers, project
from envdoctor.installing.installers import Installer, Name
from envdoctor.locate import LOCK_PATTERNS, Wish, locate, project_of
from envdoctor.locking.interpreters import wanted
from envdoctor.locks.environments import LockEnvironment
from envdoctor.model import Lock, Target, Unavailable
from envdoctor.policy import Policy
from envdoctor.rebuild import planning, surveying
from envdoctor.rebuild.planning import Level, Plan, Wanted
from envdoctor.rebuild.surveying import Survey
from envdoctor.smoke import devices
from envdoctor.system.forked import call
from envdoctor.system.host import Host

if TYPE_CHECKING:
    from envdoctor.archives.narrowing import Narrowed

WITHIN = 60.0
"""Seconds for finding the target and its Python."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller wants, beside the target and its lock."""

    installer: Name | None = None
    find_links: tuple[str, ...] = ()
    offline: bool = False
    python: str | None = None
    project: bool = True
    smoke: Level = "quick"
    devices: str | None = None
    keep: int = 2
    freeze: bool = False
    force: bool = False
    allow_gap: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan, and what performing it takes."""

    plan: Plan
    layout: Layout
    policy: Policy
    narrowed: Narrowed
    sources: Sources
    installer: Installer
    store: str
    """Directory of the archive store."""
    wish: Wish
    asked: Asked
    refused: tuple[str, ...] = ()
    """Why it cannot be performed, a line each; none if it can."""


def prepare(wish: Wish, asked: Asked, host: Host) -> Prepared:
    """Decide everything, and change nothing.

    Raises UsageError (no environment that can be rebuilt, no lock), RefusedLockError if the lock fails its audit, and
    EnvDoctorError.
    """
    if asked.devices is not None:
        devices.named(asked.devices)  # what is no device is said at once, not when all has been installed
    wish = replace(wish, place=True)
    target, policy = call("the search for the target", partial(locate, wish, host), timeout=WITHIN)
    place = layout.of(target.prefix)
    kind = place.kind()
    surveying.refuse(list(surveying.refusals(place, kind)))
    if target.lock is None:
        names = f"{', '.join(LOCK_PATTERNS)} (with hashes)"
        raise UsageError(
            f"no lock for {place.link}: {project_of(place.link)} has none of {names}; name one with --lock, or make "
            "one with `envdoctor lock compile`"
        )
    lock: Lock = call("the lock", partial(locks.read, target.lock), timeout=WITHIN)
    python = _python(target, asked, host)
    environment = environment_of(python, host, otherwise="name another Python with --python")
    installer = installers.choose(asked.installer, host)
    seen = surveying.survey(place, target, policy, host, environment=environment)
    if seen.refused:
        raise RefusedLockError(f"{target.lock}: the audit finds {len(seen.refused)} errors in it", seen.refused)
    from envdoctor.archives import narrowing  # packaging.pylock was imported while children were at work

    narrowed = narrowing.narrow(
        lock, environment.markers, environment.ordered_tags(), policy, extras=target.extras, groups=target.groups
    )
    archives = store.place(host.own)
    plan = _plan(place, kind, lock, narrowed, seen, asked, _Means(python, environment, installer, archives))
    sources = Sources(lock, directories(asked.find_links, host), asked.offline, _pip_conf(plan.current))
    refused = tuple(_refused(plan, asked, frozenset(pin.name for pin in narrowed.pins)))
    return Prepared(plan, place, policy, narrowed, sources, installer, archives, wish, asked, refused)


@dataclass(frozen=True, slots=True)
class _Means:
    python: str
    environment: LockEnvironment
    installer: Installer
    store: str


def _python(target: Target, asked: Asked, host: Host) -> str:
    """Return the base interpreter of the new environment: that asked for, else the present or an earlier one's."""
    if asked.python is not None:
        version, found = wanted(asked.python, host)
        if found is None:
            raise UsageError(f"--python: there is no Python {version} on PATH; name it by its path")
        return creating.base_of(found.path)
    if os.path.lexists(os.path.join(target.prefix, "pyvenv.cfg")):
        return creating.base_of(target.python)
    earlier = (entry.said("python") for entry in reversed(journal.read(layout.of(target.prefix))))
    return creating.base_of(next((path for path in earlier if path and os.path.exists(path)), sys.executable))


def _pip_conf(current: str) -> str | None:
    """Return the pip configuration of the present environment, which counts for the new one too."""
    path = os.path.join(current, "pip.conf")
    return path if current and os.path.isfile(path) else None


def _plan(
    place: Layout,
    kind: Kind,
    lock: Lock,
    narrowed: Narrowed,
    seen: Survey,
    asked: Asked,
    means: _Means,
) -> Plan:
    own = surveying.own(seen.taken)
    installed = [planning.Installed(item.name, item.version, _editable(item)) for item in own]
    wanted = [Wanted(pin.name, pin.version, pin.size) for pin in narrowed.pins]
    current = place.current()
    leaves, changes, arrives, repaired, stays = planning.compared(installed, wanted, seen.findings)
    names = [name for name in (lock.project, *(package.name for package in narrowed.projects)) if name]
    projects, lost = planning.projects(installed, names, project_of(place.link))
    left = seen.leavings
    present = None if isinstance(left, Unavailable) or not current else left.size
    there = frozenset(pin.name for pin in narrowed.pins if store.has(means.store, pin.hashes))
    unread = seen.taken.distributions.reason if current and isinstance(seen.taken.distributions, Unavailable) else ""
    return Plan(
        link=place.link,
        kind=kind,
        current=current,
        lock=lock.path,
        digest=lock.digest,
        python=means.python,
        version=means.environment.markers["python_full_version"],
        installer=str(means.installer),
        pip="pip" not in {item.name for item in wanted} and _had_pip(place, [item.name for item in own]),
        wanted=len(wanted),
        leaves=leaves,
        changes=changes,
        arrives=arrives,
        repaired=repaired,
        stays=stays,
        losses=(*lost, *_losses(seen)),
        projects=projects if asked.project else (),
        sizes=planning.sizes(present, wanted, there, _free(place)),
        jobs=seen.jobs,
        smoke=_smoke_said(asked),
        unread=unread,
        frozen=asked.freeze or bool(current and freezing.is_frozen(current)),
        keep=asked.keep,
        network=seen.network,
    )


def _editable(item: Distribution) -> str:
    """Return the project that an editable install leads to; "" for others."""
    return item.direct_url.folder if item.direct_url and item.direct_url.editable else ""


def _had_pip(place: Layout, own: Sequence[str]) -> bool:
    """Tell whether the environment had a pip; of one that is empty or gone the journal tells, and a new one gets it."""
    if own or os.path.lexists(os.path.join(place.link, "pyvenv.cfg")):
        return "pip" in own
    said = (entry.detail["pip"] for entry in reversed(journal.read(place)) if "pip" in entry.detail)
    return next(said, True) is True


def _smoke_said(asked: Asked) -> str:
    if asked.smoke == "none":
        return "none, as asked"
    if asked.devices:
        return f"{asked.smoke} on {asked.devices}"
    return (
        f"{asked.smoke}, on the GPUs that no process uses; on the CPU where torch is built without CUDA or none is here"
    )


def _losses(seen: Survey) -> list[planning.Loss]:
    left = () if isinstance(seen.leavings, Unavailable) else seen.leavings.left
    found = [planning.Loss(each.what, each.path, each.said) for each in left]
    unowned = seen.findings.get("packages/unowned-file", ())
    return [*found, *(planning.Loss("unowned files", finding.subject) for finding in unowned)]


def _free(place: Layout) -> int | None:
    try:
        status = os.statvfs(place.parent)
    except OSError:
        return None
    return status.f_bavail * status.f_frsize


def _refused(plan: Plan, asked: Asked, names: frozenset[str]) -> list[str]:
    """Say why a plan cannot be performed; `names` are those of the packages that the new environment gets."""
    found = []
    sizes = plan.sizes
    if sizes.needed is not None and sizes.free is not None and sizes.needed > sizes.free:
        found.append(
            f"too little disk: about {sizes.needed >> 20:,} MiB are needed beside {plan.link}, {sizes.free >> 20:,} "
            "MiB are free; remove old generations with `envdoctor generations --prune`, or what else lies there"
        )
    if isinstance(plan.jobs, Unavailable) and not asked.force:
        found.append(
            f"which jobs run from {plan.link} cannot be told ({plan.jobs.reason}); --force switches all the same"
        )
    if plan.blocked and not asked.force:
        found.append(
            f"jobs run from {plan.link}, and would mix the old packages with the new: {plan.blocked}; let them end, or "
            "switch under them with --force"
        )
    there = names | ({"pip", "setuptools"} if plan.pip else set())
    return [*found, *(said for each in plan.projects if (said := _unbuildable(each, there)))]


def _unbuildable(each: planning.Project, names: AbstractSet[str]) -> str:
    missing = sorted(set(project.build_names(each.folder)) - names)
    if not missing:
        return ""
    return (
        f"{each.name} in {each.folder} is built with {', '.join(missing)}, which the lock does not have: lock it too, "
        "or leave the project out with --no-project"
    )
