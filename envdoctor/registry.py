"""Find the probes and the views, hold them to their contract, select by id or prefix."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType

import envdoctor.probes
import envdoctor.views
from envdoctor.errors import EnvDoctorError, PolicyError, UsageError
from envdoctor.model import Finding
from envdoctor.policy import Policy, matches
from envdoctor.snapshot import FACTS
from envdoctor.wiring import Need, needs

GIVEN = frozenset({"policy", "moment", "target", "smoke", "lock_faults"})
"""What a run has, beside facts and views; `smoke` is what `envdoctor smoke` tried out, `lock_faults` what the rules of
the area `lock` found."""
TRIED = "smoke"
"""Area of the probes that judge what was tried out on a device: a check tries nothing out and runs none of them."""
AUDITED = "lock"
"""Area of the rules that `envdoctor lock audit` tells one by one."""
SUMMARY = "lock/faulty"
"""What a check says of them, in one finding."""
TOLD = frozenset(
    f"lock/{name}" for name in ("conflicting-pins", "incomplete", "no-wheel", "python-excluded", "wrong-format")
)
"""Rules that a check tells by themselves: with such a fault nothing can be rebuilt."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A module of `probes/<area>/` that judges facts."""

    id: str
    """`<area>/<fault>`, with hyphens."""
    doc: str
    check: Callable[..., Iterable[Finding]]
    needs: tuple[Need, ...]

    @property
    def area(self) -> str:
        """The part of its id before the slash."""
        return self.id.partition("/")[0]

    @property
    def title(self) -> str:
        """The first line of its documentation: the fault in one sentence."""
        return self.doc.partition("\n")[0]


def load() -> Iterator[None]:
    """Import everything that judging needs, one module a step, for whoever has time while facts are gathered."""
    for package in (
        "envdoctor.views",
        *(f"envdoctor.probes.{area.name}" for area in pkgutil.iter_modules(envdoctor.probes.__path__)),
    ):
        for info in pkgutil.iter_modules(import_module(package).__path__):
            import_module(f"{package}.{info.name}")
            yield
    for name in ("packaging.version", "packaging.requirements"):
        import_module(name)
        yield


@cache
def views() -> dict[str, ModuleType]:
    """Every view by name: values computed from facts, pure, at most once a run."""
    names = [info.name for info in pkgutil.iter_modules(envdoctor.views.__path__)]
    return {name: import_module(f"envdoctor.views.{name}") for name in names}


@cache
def probes() -> tuple[Probe, ...]:
    """Every probe, sorted by id. Raises EnvDoctorError if one breaks the contract."""
    found = []
    for area in pkgutil.iter_modules(envdoctor.probes.__path__):
        package = import_module(f"envdoctor.probes.{area.name}")
        for info in pkgutil.iter_modules(package.__path__):
            module = import_module(f"{package.__name__}.{info.name}")
            found.append(_probe(f"{area.name}/{info.name}".replace("_", "-"), module))
    return tuple(sorted(found, key=lambda probe: probe.id))


def _probe(identity: str, module: ModuleType) -> Probe:
    check = getattr(module, "check", None)
    if not inspect.isfunction(check) or not module.__doc__:
        raise EnvDoctorError(f"probe {identity}: a probe module has a docstring and a function check()")
    asked = needs(check)
    known = GIVEN | FACTS.keys() | views().keys()
    for need in asked:
        if need.name not in known:
            raise EnvDoctorError(f"probe {identity}: asks for {need.name!r}, which is no fact, view or given")
    return Probe(identity, inspect.cleandoc(module.__doc__), check, asked)


def select(chosen: Sequence[str] = (), ignored: Sequence[str] = ()) -> tuple[Probe, ...]:
    """Return the probes whose id is, or begins with, one of `chosen` (all if empty) and none of `ignored`.

    Raises UsageError for a prefix that matches no probe: a misspelt one would silently check nothing.
    """
    for prefix in (*chosen, *ignored):
        if not any(_matches(probe.id, prefix) for probe in probes()):
            raise UsageError(
                f"no probe is called or begins with {prefix!r}{nearest(prefix)} `envdoctor explain` lists them"
            )
        meant = [probe for probe in probes() if _matches(probe.id, prefix)]
        if all(probe.area == TRIED for probe in meant):
            raise UsageError(f"{prefix} is tried out on a device, which no check does: run `envdoctor smoke`")
        if not any(_is_checked(probe) or probe.area == TRIED for probe in meant):
            raise UsageError(f"{prefix} is a rule for locks, which a check sums up: run `envdoctor lock audit`")
    judging = [probe for probe in probes() if _is_checked(probe)]
    wanted = [p for p in judging if not chosen or any(_matches(p.id, prefix) for prefix in chosen)]
    left = tuple(p for p in wanted if not any(_matches(p.id, prefix) for prefix in ignored))
    if not left:
        raise UsageError("nothing to judge: --ignore drops every probe that --select leaves")
    return left


def _is_checked(probe: Probe) -> bool:
    return probe.area not in (TRIED, AUDITED) or probe.id in TOLD or probe.id == SUMMARY


def audited() -> tuple[Probe, ...]:
    """Return the rules for locks."""
    return tuple(probe for probe in probes() if probe.area == AUDITED and probe.id != SUMMARY)


def tried() -> tuple[Probe, ...]:
    """Return the probes that judge what was tried out."""
    return tuple(probe for probe in probes() if probe.area == TRIED)


def nearest(written: str, others: Sequence[str] = ()) -> str:
    """Return `; did you mean ...?` for a misspelt id, or a bare semicolon, for the middle of a sentence.

    `others` are names that count beside the probes'.
    """
    import difflib

    ids = [*(probe.id for probe in probes()), *others]
    within = [identity for identity in ids if identity.endswith(f"/{written}")]
    near = within or difflib.get_close_matches(written, ids, n=3, cutoff=0.4)
    return f"; did you mean {' or '.join(near)}?" if near else ";"


def _matches(identity: str, prefix: str) -> bool:
    """Tell whether a prefix means a probe; an id in full means that one alone, not `missing-file` beside `missing`."""
    return identity == prefix or (identity.startswith(prefix) and all(probe.id != prefix for probe in probes()))


def facts_for(selected: Iterable[Probe]) -> frozenset[str]:
    """Names of the facts that these probes need, through views too."""
    wanted: set[str] = set()
    pending = [need.name for probe in selected for need in probe.needs]
    while pending:
        name = pending.pop()
        if name == "lock_faults":
            pending += [need.name for probe in audited() for need in probe.needs]
        elif name in FACTS:
            wanted.add(name)
        elif name in views():
            pending += [need.name for need in needs(views()[name].view)]
    return frozenset(wanted)


def known_to(policy: Policy) -> None:
    """Raise PolicyError for a mute or severity that is about no probe at all: a misspelt one would change nothing."""
    for written in (*policy.severity, *(mute.probe for mute in policy.mutes)):
        if not any(matches(written, probe.id) for probe in probes()):
            raise PolicyError(f"{policy.path}: no probe is called or begins with {written!r}; see `envdoctor explain`")
