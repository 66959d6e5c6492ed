"""A package needs a newer glibc than the interpreter runs with.

Why it matters: the loader refuses the library: "version `GLIBC_2.32' not found". It comes from wheels without a
manylinux promise, built on a newer distribution than this one, and from environments copied to an older machine.

What to do: take an older release that was built for this glibc, build it from source here, or move to a newer base
image. glibc itself is part of the operating system and is not to be replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.extensions import Extension, Extensions
from envdoctor.facts.interpreter import Interpreter
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.versions import same_release
from envdoctor.views.expected import Expected
from envdoctor.views.remedies import Remedies

_MANYLINUX = re.compile(r"manylinux(?:_(\d+)_(\d+)|(1|2010|2014))_")
_LEGACY = {"1": (2, 5), "2010": (2, 12), "2014": (2, 17)}
"""What the older names mean (PEP 600)."""


def check(
    extensions: Extensions,
    distributions: Distributions,
    interpreter: Interpreter,
    remedies: Remedies,
    expected: Expected | Unavailable,
) -> Iterable[Finding]:
    """Compare what objects name, and what tags promise, with the interpreter's glibc."""
    match = re.fullmatch(r"glibc (\d+\.\d+.*)", interpreter.libc)
    if match is None:
        yield from _unknown(extensions, interpreter)
        return
    have = _numbers(match[1])
    needy: dict[str, Extension] = {}
    for item in extensions.items:
        if item.glibc and _numbers(item.glibc) > max(have, _numbers(_need(needy.get(item.name)))):
            needy[item.name] = item
    for package in distributions.own:
        worst = needy.get(package.name)
        tagged = _tagged(package)
        if worst is not None:
            yield _finding(package, worst.glibc or "", match[1], worst.path, _remedy(package, remedies, expected))
        elif tagged > have:
            need = ".".join(map(str, tagged))
            yield _finding(package, need, match[1], package.tags[0], _remedy(package, remedies, expected))


def _unknown(extensions: Extensions, interpreter: Interpreter) -> Iterable[Finding]:
    """Say what is needed where the interpreter did not say what it has; another libc than glibc is not judged."""
    needy = max((item for item in extensions.items if item.glibc), key=lambda item: _numbers(_need(item)), default=None)
    if needy is not None and not interpreter.libc:
        yield Finding(
            Severity.NOTE,
            needy.name,
            f"{needy.name} needs glibc {needy.glibc} ({needy.path}); which one this interpreter runs with is not known",
            {"need": needy.glibc, "have": None, "where": needy.path},
        )


def _need(item: Extension | None) -> str:
    return (item.glibc if item else None) or "0"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def _tagged(package: Distribution) -> tuple[int, ...]:
    """Return the lowest glibc that any of its tags asks for; () if one asks for none."""
    found = []
    for tag in package.tags:
        for platform in tag.rpartition("-")[2].split("."):
            match = _MANYLINUX.match(platform)
            if match is None:
                return ()
            found.append(_LEGACY[match[3]] if match[3] else (int(match[1]), int(match[2])))
    return min(found, default=())


def _finding(package: Distribution, need: str, have: str, where: str, remedy: tuple[str, ...]) -> Finding:
    return Finding(
        Severity.ERROR,
        package.name,
        f"{package.label} needs glibc {need} ({where}), this interpreter runs with {have}",
        {"need": need, "have": have, "where": where, "tags": list(package.tags)},
        remedy,
    )


def _remedy(package: Distribution, remedies: Remedies, expected: Expected | Unavailable) -> tuple[str, ...]:
    pin = None if isinstance(expected, Unavailable) else expected.wanted.get(package.name)
    if pin is not None and pin.version and package.version and not same_release(pin.version, package.version):
        return remedies.reinstall([(package.name, pin.version)])
    return (f"build it here: {_from_source(package, remedies)}", "or use a base image with a newer glibc")


def _from_source(package: Distribution, remedies: Remedies) -> str:
    """Build on this machine, with its glibc."""
    (command,) = remedies.reinstall([(package.name, package.version)])
    return f"{command} --no-build-isolation --no-binary {package.name}"
