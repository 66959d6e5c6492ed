"""Find the probes and the views, hold them to their contract, select by id or prefix."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from types import ModuleType

import envdoctor.probes
import envdoctor.views
from envdoctor import plugins
from envdoctor.errors import EnvDoctorError, PolicyError, UsageError
from envdoctor.model import Finding
from envdoctor.policy import Policy, matches
from envdoctor.snapshot import FACTS
from envdoctor.wiring import Need, needs

GIVEN = frozenset({"policy", "moment", "target", "smoke", "race", "lock_faults"})
"""What a run has, beside facts and views; `smoke` is what `envdoctor smoke` tried out, `race` the tries of its level
`threads`, `lock_faults` what the rules of the area `lock` found."""
OURS = frozenset({"smoke", "race", "lock_faults"})
"""What of these is there for one command or probe alone."""
NEAR = 0.7
"""Likeness, from 0 to 1, from which a name may be what a misspelt one means."""
TRIED = plugins.CLOSED
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
    """A module of `probes/<area>/`, or of a plug-in, that judges facts."""

    id: str
    """`<area>/<fault>`, with hyphens."""
    doc: str
    check: Callable[..., Iterable[Finding]]
    needs: tuple[Need, ...]
    origin: str = ""
    """Distribution and version that it came with; "" for our own."""
    broken: str = ""
    """Why a plug-in's cannot be run, "" for one that can."""

    @property
    def area(self) -> str:
        """The part of its id before the slash."""
        return self.id.partition("/")[0]

    @property
    def title(self) -> str:
        """The first line of its documentation: the fault in one sentence."""
        return self.doc.partition("\n")[0]


def load(chosen: Sequence[str] = ()) -> Iterator[None]:
    """Import what judging needs, one module a step, for whoever has time while facts are gathered.

    `chosen` are areas; none means those of a check.
    """
    for area in chosen or [area for area in areas() if area != TRIED]:
        for name in _named(area):
            import_module(f"envdoctor.probes.{area}.{name}")
            yield
        for name in _views_for(of_area(area)):
            views()[name]
            yield
    for name in ("packaging.version", "packaging.requirements"):
        import_module(name)
        yield


class Views(Mapping[str, ModuleType]):
    """Every view by name: values computed from facts, pure, at most once a run; imported when asked for."""

    def __init__(self) -> None:
        self.names = tuple(info.name for info in pkgutil.iter_modules(envdoctor.views.__path__))

    def __getitem__(self, name: str) -> ModuleType:
        """Import a view. Raises KeyError if there is none."""
        if name not in self.names:
            raise KeyError(name)
        return import_module(f"envdoctor.views.{name}")

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self.names)

    def __len__(self) -> int:
        """Count them."""
        return len(self.names)


@cache
def views() -> Views:
    """Return the views."""
    return Views()


@cache
def _own_areas() -> tuple[str, ...]:
    return tuple(sorted(info.name for info in pkgutil.iter_modules(envdoctor.probes.__path__)))


@cache
def areas() -> tuple[str, ...]:
    """Return the names of all areas, sorted."""
    return tuple(sorted({*_own_areas(), *(_area(item.id) for item in _listed())}))


@cache
def _named(area: str) -> tuple[str, ...]:
    """Return the names of our own modules in an area."""
    if area not in _own_areas():
        return ()
    folder = import_module(f"envdoctor.probes.{area}").__path__
    return tuple(info.name for info in pkgutil.iter_modules(folder))


@cache
def _own_ids() -> frozenset[str]:
    return frozenset(_identity(area, name) for area in _own_areas() for name in _named(area))


_SWITCH = {"plugins": True}


def use_plugins(wanted: bool) -> None:  # noqa: FBT001 - it is all there is to say
    """Say whether plug-ins take part from now on, as they do unless the configuration says otherwise."""
    if wanted != _SWITCH["plugins"]:
        _SWITCH["plugins"] = wanted
        for remembered in (_listed, areas, ids, of_area, probes):
            remembered.cache_clear()


@cache
def _listed() -> tuple[plugins.Listed, ...]:
    """Return what plug-ins hold, by name."""
    return plugins.listed(plugins.installed(), _own_ids()) if _SWITCH["plugins"] else ()


@cache
def ids() -> tuple[str, ...]:
    """Return the ids of all probes, sorted, without importing any."""
    return tuple(sorted([*_own_ids(), *(item.id for item in _listed())]))


def _identity(area: str, name: str) -> str:
    return f"{area}/{name}".replace("_", "-")


@cache
def of_area(area: str) -> tuple[Probe, ...]:
    """Return the probes of an area, sorted by id. Raises EnvDoctorError if one of our own breaks the contract."""
    modules = ((name, import_module(f"envdoctor.probes.{area}.{name}")) for name in _named(area))
    found = [_probe(_identity(area, name), module) for name, module in modules]
    found += [_plugged(item) for item in _listed() if _area(item.id) == area]
    return tuple(sorted(found, key=lambda probe: probe.id))


@cache
def probes() -> tuple[Probe, ...]:
    """Return every probe, sorted by id."""
    return tuple(sorted((probe for area in areas() for probe in of_area(area)), key=lambda probe: probe.id))


def _probe(identity: str, module: ModuleType) -> Probe:
    check = getattr(module, "check", None)
    if not inspect.isfunction(check) or not (module.__doc__ or "").strip():
        raise EnvDoctorError(f"probe {identity}: a probe module has a docstring and a function check()")
    asked = needs(check)
    known = GIVEN | FACTS.keys() | views().keys()
    for need in asked:
        if need.name not in known:
            raise EnvDoctorError(f"probe {identity}: asks for {need.name!r}, which is no fact, view or given")
    return Probe(identity, inspect.cleandoc(module.__doc__ or "").strip(), check, asked)


def _plugged(item: plugins.Listed) -> Probe:
    """Return the probe of a plug-in, held to the contract; one that breaks it is broken, which stops nobody else."""
    if not item.broken:
        try:
            made = _probe(item.id, plugins.imported(item.module))
            return replace(_open(made), check=plugins.guarded(made.check), origin=item.origin)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - other people's code may raise anything
            item = replace(item, broken=plugins.why(error).removeprefix(f"probe {item.id}: "))
    return Probe(item.id, "", tuple, (), item.origin, item.broken)


def _open(probe: Probe) -> Probe:
    """Return a probe that asks for nothing that only some of our own get. Raises EnvDoctorError otherwise."""
    for need in probe.needs:
        if need.name in OURS:
            raise EnvDoctorError(f"probe {probe.id}: asks for {need.name!r}, which envdoctor's own probes alone get")
    return probe


def documented(wanted: Iterable[str]) -> dict[str, str]:
    """Return the documentation of probes by id."""
    chosen = set(wanted)
    return {probe.id: probe.doc for area in sorted(set(map(_area, chosen))) for probe in of_area(area)}


def select(chosen: Sequence[str] = (), ignored: Sequence[str] = ()) -> tuple[Probe, ...]:
    """Return the probes whose id is, or begins with, one of `chosen` (all if empty) and none of `ignored`.

    Raises UsageError for a prefix that matches no probe: a misspelt one would silently check nothing.
    """
    for prefix in (*chosen, *ignored):
        meant = [identity for identity in ids() if _matches(identity, prefix)]
        if not meant:
            raise UsageError(
                f"no probe is called or begins with {prefix!r}{nearest(prefix)} `envdoctor explain` lists them"
            )
        if all(_area(identity) == TRIED for identity in meant):
            raise UsageError(f"{prefix} is tried out on a device, which no check does: run `envdoctor smoke`")
        if not any(_is_checked(identity) or _area(identity) == TRIED for identity in meant):
            raise UsageError(f"{prefix} is a rule for locks, which a check sums up: run `envdoctor lock audit`")
    judging = filter(_is_checked, ids())
    wanted = [each for each in judging if not chosen or any(_matches(each, prefix) for prefix in chosen)]
    left = {each for each in wanted if not any(_matches(each, prefix) for prefix in ignored)}
    if not left:
        raise UsageError("nothing to judge: --ignore drops every probe that --select leaves")
    return tuple(probe for area in sorted(set(map(_area, left))) for probe in of_area(area) if probe.id in left)


def _area(identity: str) -> str:
    return identity.partition("/")[0]


def _is_checked(identity: str) -> bool:
    """Tell whether a check runs it; what is wrong with a plug-in as a whole is said wherever its area belongs."""
    return _area(identity) not in (TRIED, AUDITED) or "/" not in identity or identity in TOLD or identity == SUMMARY


def audited() -> tuple[Probe, ...]:
    """Return the rules for locks."""
    return tuple(probe for probe in of_area(AUDITED) if probe.id != SUMMARY)


def tried() -> tuple[Probe, ...]:
    """Return the probes that judge what was tried out."""
    return tuple(probe for probe in of_area(TRIED) if probe.id != TRIED)


def nearest(written: str, others: Sequence[str] = ()) -> str:
    """Return `; did you mean ...?` for a misspelt id, or a bare semicolon, for the middle of a sentence.

    `others` are names that count beside the probes'.
    """
    import difflib

    known = [*ids(), *others]
    names = {identity.partition("/")[2] or identity: identity for identity in known} | {each: each for each in known}
    within = [identity for name, identity in names.items() if written and name.startswith(written)]
    near = within or [names[name] for name in difflib.get_close_matches(written, names, cutoff=NEAR)]
    return f"; did you mean {' or '.join(list(dict.fromkeys(near))[:3])}?" if near else ";"


def _matches(identity: str, prefix: str) -> bool:
    """Tell whether a prefix means a probe; an id in full means that one alone, not `missing-file` beside `missing`."""
    return identity == prefix or (identity.startswith(prefix) and ("/" not in prefix or prefix not in ids()))


def facts_for(selected: Iterable[Probe]) -> frozenset[str]:
    """Names of the facts that these probes need, through views too."""
    return frozenset(name for name in _needed(selected) if name in FACTS)


def _views_for(selected: Iterable[Probe]) -> list[str]:
    """Names of the views that these probes need, through others too."""
    return [name for name in _needed(selected) if name in views()]


def _needed(selected: Iterable[Probe]) -> Iterable[str]:
    """Names of all that these probes need, directly or not."""
    found: dict[str, None] = {}
    pending = [need.name for probe in selected for need in probe.needs]
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found[name] = None
        if name == "lock_faults":
            pending += [need.name for probe in audited() for need in probe.needs]
        elif name in views():
            pending += [need.name for need in needs(views()[name].view)]
    return found


def known_to(policy: Policy) -> None:
    """Raise PolicyError for a mute or severity that is about no probe at all: a misspelt one would change nothing."""
    for written in (*policy.severity, *(mute.probe for mute in policy.mutes)):
        if not any(matches(written, identity) for identity in ids()):
            raise PolicyError(f"{policy.path}: no probe is called or begins with {written!r}; see `envdoctor explain`")
