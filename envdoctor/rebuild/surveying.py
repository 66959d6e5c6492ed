"""Look at everything that a plan depends on: the present environment, its jobs, its size, the lock. Changes nothing."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module

from envdoctor import registry, snapshot
from envdoctor.audit.accepting import audited
from envdoctor.audit.workflow import Asked
from envdoctor.envs import FOLDER
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.facts import node
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.generations import jobs
from envdoctor.generations.jobs import Jobs
from envdoctor.generations.layout import Kind, Layout
from envdoctor.judge import judge
from envdoctor.locks.environments import LockEnvironment
from envdoctor.model import Finding, Target, Unavailable
from envdoctor.policy import Policy
from envdoctor.rebuild.leavings import Leavings, leavings
from envdoctor.snapshot import Snapshot
from envdoctor.system.forked import Task, gather
from envdoctor.system.host import Host

ODD = re.compile(r"""[\x00-\x1f\x7f:"$`]""")
"""What ends or changes a path in `#!` lines, in PATH, in pyvenv.cfg, or in what `activate` quotes (venv of Python 3.11
puts it between double quotes)."""
AREAS = ("packages",)
"""Probes that know what is wrong with the present environment, and who brought it about."""
APART = ("packages/torch-cpu-build", "packages/compromised", "packages/companion-mismatch", "packages/extension-abi")
"""Of these, those that a plan has no use for."""
WITHIN = 60.0
"""Seconds for all of it."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What was seen."""

    taken: Snapshot
    findings: Mapping[str, tuple[Finding, ...]]
    """Of the present environment, by probe."""
    jobs: Jobs | Unavailable
    leavings: Leavings | Unavailable
    refused: tuple[str, ...]
    """Errors that the audit finds in the lock."""
    network: str
    """Type of the file system of the environment, if it is one of the network."""


def survey(layout: Layout, target: Target, policy: Policy, host: Host, *, environment: LockEnvironment) -> Survey:
    """Look at everything at once; `environment` is what the lock is audited for.

    Raises UsageError for a lock that is none, EnvDoctorError if it cannot be audited.
    """
    registry.use_plugins(policy.plugins)
    registry.known_to(policy)
    current = layout.current()
    tasks = [
        Task("the present environment", partial(_present, current, target, policy, host), timeout=WITHIN),
        Task(
            "the lock", partial(audited, target.lock or "", _audit(target, policy, environment), host), timeout=WITHIN
        ),
        Task("the running jobs", partial(_jobs, layout, current), timeout=WITHIN),
        Task("the files of the present environment", partial(_leavings, current), timeout=WITHIN),
        Task("the file system", partial(network_type, layout.parent), timeout=WITHIN),
    ]
    seen = gather(tasks, deadline=WITHIN, meanwhile=_modules())
    present, refused, network = (seen[tasks[number].name] for number in (0, 1, 4))
    if isinstance(refused, Unavailable):
        raise EnvDoctorError(f"the lock cannot be audited: {refused.reason}")
    taken, findings = (Snapshot(distributions=present), {}) if isinstance(present, Unavailable) else present
    return Survey(
        taken,
        findings,
        seen[tasks[2].name],
        seen[tasks[3].name],
        refused,
        network if isinstance(network, str) else "",
    )


def _modules() -> Iterator[object]:
    """Import, a module a step, what the plan takes once the children are done."""
    yield import_module("envdoctor.archives.narrowing")


def _audit(target: Target, policy: Policy, environment: LockEnvironment) -> Asked:
    """Audit for the new environment's Python and platform."""
    python = environment.markers.get("python_full_version", "").rstrip("+") + ("t" if environment.free_threaded else "")
    return Asked(
        python=python,
        platform=environment.platform,
        groups=target.groups,
        extras=target.extras,
        config=policy.path,
        deadline=WITHIN,
    )


def _present(
    current: str, target: Target, policy: Policy, host: Host
) -> tuple[Snapshot, Mapping[str, tuple[Finding, ...]]]:
    if not current:
        return Snapshot(), {}
    probes = registry.select(AREAS, APART)
    taken = snapshot.take(target, host, registry.facts_for(probes), deadline=WITHIN, meanwhile=snapshot.load())
    outcomes = judge(probes, taken, policy, target, host.now())
    return taken, {outcome.probe: outcome.findings for outcome in outcomes if outcome.findings}


def _jobs(layout: Layout, current: str) -> Jobs:
    return jobs.jobs(layout.link, current) if current else Jobs((), (), ())


def _leavings(current: str) -> Leavings:
    return leavings(current) if current else Leavings(0, 0, ())


def network_type(path: str) -> str:
    """Return the type of the file system that holds a path if it is one of the network, else ""."""
    mount = node.network_mount(path)
    return mount.kind if mount is not None else ""


def refusals(layout: Layout, kind: Kind) -> Iterator[str]:
    """Say why nothing can be rebuilt there, and what to do."""
    if kind == "directory" and os.path.isdir(os.path.join(layout.link, "conda-meta")):
        yield (
            f"{layout.link} is a conda environment, which wheels alone do not make; name a venv with --target, or make "
            "one beside it"
        )
    if kind == "directory" and os.path.ismount(layout.link):
        yield f"{layout.link} is a mount point, which no rename can replace; name a directory in it, such as /venv"
    if kind == "directory" and not os.path.lexists(os.path.join(layout.link, "pyvenv.cfg")):
        yield f"{layout.link} is no virtual environment (it has no pyvenv.cfg); name one with --target"
    if os.path.realpath(layout.link) == os.path.realpath(sys.prefix):
        yield f"{layout.link} is what the doctor runs from; install it in an environment of its own (pipx, uv tool)"
    if reason := unsuited(layout):
        yield reason
    elif reason := _unwritable(layout):
        yield f"{reason}: the new environment is made beside the old one; let its owner rebuild it, or move it"


def unsuited(layout: Layout) -> str:
    """Say why generations cannot lie where the layout puts them; "" if they can."""
    try:
        odd = ODD.search(layout.link.encode().decode())
    except UnicodeEncodeError:
        return f"{layout.link} is no UTF-8, which pyvenv.cfg and scripts have to be; rename it, or choose another"
    if odd:
        return (
            f"{layout.link} has {odd[0]!r} in it, which the activate scripts and first lines of an environment cannot "
            "hold; rename the folder, or choose another"
        )
    if layout.name == FOLDER:
        return f"{layout.link}: {FOLDER} is where generations lie, and cannot be an environment; rename it"
    if os.path.lexists(os.path.join(layout.home, "pyvenv.cfg")):
        return f"{layout.home}, where the generations of {layout.link} would lie, is an environment; rename one of them"
    folders = os.path.dirname(layout.home), layout.home
    for folder in (*folders, layout.logs, layout.states):
        if os.path.lexists(folder) and not os.path.isdir(folder):
            return f"{folder} is no directory, and what belongs to {layout.link} lies there; move it away"
        if folder in folders and os.path.islink(folder):
            return f"{folder} is a link, and generations are made at their real path; put a directory there"
    return ""


def _unwritable(layout: Layout) -> str:
    folder = layout.home
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if os.stat(folder).st_dev != os.stat(layout.parent).st_dev:
        return f"{folder} is on another file system than {layout.link}, so that nothing can be renamed between them"
    for place in dict.fromkeys((layout.parent, folder)):
        if os.statvfs(place).f_flag & os.ST_RDONLY:
            return f"{place} is on a file system that is mounted read-only"
        if not os.access(place, os.W_OK | os.X_OK):
            return f"{place} cannot be written by this user"
    return ""


def refuse(reasons: Sequence[str]) -> None:
    """Raise UsageError for the first reason, if there is one."""
    if reasons:
        raise UsageError(reasons[0])


def own(taken: Snapshot) -> tuple[Distribution, ...]:
    """Return the distributions of the present environment itself; none where they are not known."""
    found = taken.distributions
    return found.own if isinstance(found, Distributions) else ()
