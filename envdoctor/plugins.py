"""Probes of other people: modules under the contract of ours, in distributions that are installed beside envdoctor.

A distribution names them by an entry point of the group `envdoctor.probes`: its name is the area, its value a package
of probes, or the module of a single one. They are looked for where envdoctor itself is installed and nowhere else:
PYTHONPATH, the current directory and the user's own site-packages belong to the job, and whoever runs envdoctor as
root must not run what a user has put there.

Format: PyPA entry points specification, whose reader is configparser. importlib.metadata would say the same for ten
times the start-up time; a check without plug-ins is to cost no more than the look for them.
"""

from __future__ import annotations

import os
import pkgutil
import re
import site
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import envdoctor
from envdoctor.errors import EnvDoctorError, described
from envdoctor.model import Finding, Severity

GROUP = "envdoctor.probes"
CLOSED = "smoke"
"""The area whose probes judge steps that envdoctor tries out: a plug-in brings no step."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point."""

    area: str
    value: str
    """Dotted name of a package or module."""
    origin: str
    """Distribution and version."""
    problem: str = ""
    """Why nothing can be read off it, "" if something can."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A probe by its name, not imported yet."""

    id: str
    """`<area>/<fault>`; the area alone for what is wrong with an entry point as a whole."""
    module: str
    origin: str
    broken: str = ""
    """Why it cannot be a probe, "" if it may be one."""


def folders() -> tuple[str, ...]:
    """Return the directories that envdoctor's own environment consists of, the one that it lies in first."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(envdoctor.__file__)))
    return tuple(dict.fromkeys([own, *(path for path in site.getsitepackages() if path in sys.path)]))


def installed(places: Sequence[str] | None = None) -> tuple[Plugin, ...]:
    """Return the entry points of these directories (by default of envdoctor's environment), sorted.

    Of a distribution that lies in two of them the first one counts, as for an import.
    """
    found: dict[str, tuple[Plugin, ...]] = {}
    for name, version, text in _declared(folders() if places is None else places):
        found.setdefault(name, tuple(_parsed(text, name, f"{name} {version}".rstrip())))
    return tuple(sorted((each for several in found.values() for each in several), key=lambda p: (p.area, p.origin)))


def _declared(places: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield name, version and entry points of each distribution that seems to have some for us."""
    for folder in places:
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith(".dist-info"))
        except OSError:
            continue
        for info in names:
            try:
                with open(os.path.join(folder, info, "entry_points.txt"), "rb") as stream:
                    content = stream.read()
            except OSError:
                continue
            if GROUP.encode() in content:
                name, _, version = info.removesuffix(".dist-info").partition("-")
                yield re.sub(r"[-_.]+", "-", name).lower(), version, content.decode("utf-8", "replace")


def _parsed(text: str, name: str, origin: str) -> Iterator[Plugin]:
    import configparser  # of no use to a check without plug-ins

    parser = configparser.ConfigParser(delimiters=("=",), comment_prefixes=("#", ";"), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment, method-assign] # names are case-sensitive
    try:
        parser.read_string(text)
    except configparser.Error as error:
        said = str(error).partition("\n")[0]
        yield Plugin(name, "", origin, f"its entry_points.txt cannot be read: {said}")
        return
    for area, value in parser.items(GROUP) if parser.has_section(GROUP) else ():
        yield Plugin(area, value, origin, _problem(area, value))


def _problem(area: str, value: str) -> str:
    if not _NAME.fullmatch(area):
        return f"{area!r} is no name of an area: lower-case letters and digits, with hyphens between words"
    if area == CLOSED:
        return f"the area {CLOSED} is about steps that envdoctor tries out itself: choose another"
    if not _MODULE.fullmatch(value):
        return f"{value!r} is no package or module: give its dotted name alone"
    return ""


def listed(plugins: Iterable[Plugin], own: Collection[str]) -> tuple[Listed, ...]:
    """Return the probes that plug-ins hold, sorted; of each package its `__init__` alone is imported.

    An id of our `own`, or of another plug-in before it, is not replaced; that, and whatever else is wrong with an
    entry point, is told under the name of its area.
    """
    found: dict[str, Listed] = {}
    problems: dict[str, dict[str, list[str]]] = {}
    for plugin in plugins:
        wrong = problems.setdefault(plugin.area, {}).setdefault(plugin.origin, [])
        names, problem = _modules(plugin)
        wrong += [problem] if problem else []
        for fault, module in names:
            identity = f"{plugin.area}/{fault}"
            holder = "our own" if identity in own else found[identity].origin if identity in found else ""
            if holder:
                wrong.append(f"{identity} is there already, from {holder}, and stays")
                continue
            broken = "" if _NAME.fullmatch(fault) else f"{module} is no name of a fault: lower-case words, with `_`"
            found[identity] = Listed(identity, module, plugin.origin, broken)
    told = [
        Listed(area, "", ", ".join(origin for origin in by_origin if by_origin[origin]), _joined(by_origin))
        for area, by_origin in problems.items()
        if any(by_origin.values())
    ]
    return tuple(sorted([*found.values(), *told], key=lambda item: item.id))


def _joined(problems: Mapping[str, Sequence[str]]) -> str:
    """Return all that is wrong in an area; where several distributions are at fault, each with its name."""
    told = {origin: "; ".join(said) for origin, said in problems.items() if said}
    return "; ".join(f"{origin}: {said}" if len(told) > 1 else said for origin, said in told.items())


def _modules(plugin: Plugin) -> tuple[list[tuple[str, str]], str]:
    """Return fault and dotted name of each module that an entry point means, or why there is none."""
    if plugin.problem:
        return [], plugin.problem
    try:
        package = imported(plugin.value)
        if not hasattr(package, "__path__"):
            return [(_fault(plugin.value.rpartition(".")[2]), plugin.value)], ""
        names = [info.name for info in pkgutil.iter_modules(package.__path__) if not info.name.startswith("_")]
    except (Exception, SystemExit) as error:  # noqa: BLE001 - other people's code may raise anything
        return [], f"{plugin.value} cannot be imported: {why(error)}"
    if not names:
        return [], f"{plugin.value} holds no module"
    return [(_fault(name), f"{plugin.value}.{name}") for name in names], ""


def _fault(module: str) -> str:
    return module.replace("_", "-")


def imported(name: str) -> ModuleType:
    """Import a module of a plug-in; what it prints goes to stderr, since stdout is the report's."""
    with redirect_stdout(sys.stderr):
        return import_module(name)


def why(error: BaseException) -> str:
    """Name what other people's code raised, and the line."""
    if isinstance(error, EnvDoctorError):
        return str(error)
    if isinstance(error, SyntaxError):  # says the line itself; the traceback has none of that file
        return f"{type(error).__name__}: {error}"
    return described(error)


def guarded(check: Callable[..., object]) -> Callable[..., Iterable[Finding]]:
    """Return a plug-in's check as one that prints nothing, ends nothing and yields sound findings or raises."""

    def run(*arguments: object) -> list[Finding]:
        with redirect_stdout(sys.stderr):
            try:
                found = check(*arguments)
                if not isinstance(found, Iterable):
                    raise TypeError(f"check() returned a {type(found).__name__}, not findings")
                return [_sound(item) for item in found]
            except SystemExit as left:
                raise RuntimeError(f"check() called for an exit with {left.code!r}") from left

    return run


def _sound(item: object) -> Finding:
    """Return a finding whose parts are of the right types. Raises TypeError; evidence is the judge's to look at."""
    if not isinstance(item, Finding):
        raise TypeError(f"check() yielded a {type(item).__name__}, not a Finding")
    if not isinstance(item.severity, Severity):
        raise TypeError(f"the severity of a finding is {item.severity!r}, not a Severity")
    for name, text in (("subject", item.subject), ("message", item.message)):
        if not isinstance(text, str) or not text:
            raise TypeError(f"the {name} of a finding is {text!r}, not a text")
    if not isinstance(item.evidence, dict):
        raise TypeError(f"the evidence of a finding is a {type(item.evidence).__name__}, not a dict")
    if not isinstance(item.remedy, tuple) or not all(isinstance(step, str) for step in item.remedy):
        raise TypeError("the remedy of a finding is no tuple of texts")
    return item
