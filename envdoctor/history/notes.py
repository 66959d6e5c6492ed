"""What else is dated on disk, and what is gone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from envdoctor.facts.batches import GAP, SEEDS
from envdoctor.facts.distributions import Distributions
from envdoctor.facts.files import Files
from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.metadata import normalised
from envdoctor.facts.owners import Owners
from envdoctor.facts.startup import Startup
from envdoctor.history.events import Gone, Noted
from envdoctor.history.installs import Evidence
from envdoctor.model import Unavailable
from envdoctor.printable import size_of
from envdoctor.seals import Seal

REQUIRES = " requires it"
TOGETHER = 5.0
"""Seconds within which two times are taken for those of one act."""


def created(interpreter: Interpreter, distributions: Distributions) -> Iterator[Noted]:
    """Yield when the environment was made, and by what, as pyvenv.cfg says it."""
    if interpreter.created_at is not None:
        keys = interpreter.pyvenv
        maker = next((f" by {tool} {keys[tool]}" for tool in ("uv", "virtualenv") if tool in keys), "")
        copied = " or copied" if any(item.times == "copied" for item in distributions.own) else ""
        recorded = f", with Python {interpreter.recorded_version}" if interpreter.recorded_version else ""
        yield Noted("created", interpreter.created_at, "pyvenv.cfg", f"environment made{copied}{maker}{recorded}")


def sealed(seal: Seal) -> Iterator[Noted]:
    """Yield when the present seal was taken."""
    try:
        at = datetime.fromisoformat(seal.taken_at).timestamp()
    except (ValueError, OverflowError):
        return
    count = len(seal.distributions)
    yield Noted("sealed", at, "seal", f"sealed as good, with {count} package{'' if count == 1 else 's'}")


def edited(files: Files) -> Iterator[Noted]:
    """Yield files that are not what was installed, by package: those that one person changed in one go."""
    for state in files.distributions:
        times = [file.changed_at for file in state.altered if file.changed_at is not None]
        if times:
            name = normalised(state.name.rpartition("-")[0])
            paths = tuple(file.path for file in state.altered)
            which = "a file of" if state.altered_count == 1 else f"{state.altered_count} files of"
            what = f"{which} {name} changed after the install"
            yield Noted("edited", max(times), name, what, paths, state.altered_count)


def startup_code(startup: Startup, owners: Owners | Unavailable) -> Iterator[Noted]:
    """Yield .pth files and start-up modules in the environment that belong to no package."""
    owned = {} if isinstance(owners, Unavailable) else owners.top_level
    for file in startup.files:
        if file.origin == "site-packages" and file.written_at is not None and file.path not in owned:
            runs = any(line.kind in ("import", "entry-point") for line in file.lines)
            what = "written, and run at every start of Python" if runs else "written, which adds to the path"
            yield Noted("startup", file.written_at, file.path, what)
    for module in startup.customize:
        if module.origin == "site-packages" and module.written_at is not None and module.path not in owned:
            yield Noted("startup", module.written_at, module.path, "written, and run at every start of Python")


def changed(distributions: Distributions, others: list[Noted]) -> Iterator[Noted]:
    """Yield when a name came or went in site-packages after the last install, unless another event accounts for it."""
    last = max((batch.ended for batch in distributions.batches), default=None)
    explained = [event.at for event in others if event.kind == "startup"]
    for site, at in distributions.changed.items():
        if last is not None and at > last + GAP and not any(abs(at - other) <= TOGETHER for other in explained):
            what = "changed after the last install: something was removed, or put there by hand"
            yield Noted("changed", at, site, what)


def gone(evidence: Evidence) -> Iterator[Gone]:
    """Yield what was there by all accounts and is not, and what failed uninstalls left."""
    found: dict[str, tuple[str | None, list[str]]] = {}
    if not isinstance(evidence.expected, Unavailable):
        for name, package in evidence.expected.wanted.items():
            found.setdefault(name, (package.version, []))[1].append("the lock has it")
    if not isinstance(evidence.seal, Unavailable):
        for item in evidence.seal.distributions:
            found.setdefault(item.name, (item.version, []))[1].append("it was sealed")
    for edge in evidence.requirements.edges:
        if edge.installed is None:
            found.setdefault(edge.name, (None, []))[1].append(edge.requirer + REQUIRES)
    there = evidence.distributions.active
    for name, (version, said) in sorted(found.items()):
        if name not in there and name not in SEEDS:
            yield Gone(name, version, tuple(said), recorded=not said[0].endswith(REQUIRES))
    for leftover in () if isinstance(evidence.owners, Unavailable) else evidence.owners.leftovers:
        yield Gone(leftover.path, None, (f"left by an uninstall that failed, {size_of(leftover.size)}",))
