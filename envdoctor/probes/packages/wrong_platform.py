"""A package was built for another interpreter, machine or operating system.

Why it matters: its compiled parts cannot be loaded here. Installers refuse such a wheel; it comes by copying an
environment between machines, by `--platform` with `--target`, or by a change of interpreter beneath the environment.

What to do: reinstall it for this interpreter, or make the environment anew on this machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from envdoctor.facts.distributions import Distributions
from envdoctor.facts.interpreter import Interpreter
from envdoctor.model import Finding, Severity
from envdoctor.views.remedies import Remedies

_MANYLINUX = re.compile(r"(?:many|musl)?linux(?:\d+)?(?:_\d+_\d+)?_(.+)")


def check(distributions: Distributions, interpreter: Interpreter, remedies: Remedies) -> Iterable[Finding]:
    """Compare each wheel's tags (PEP 425) with the interpreter; the age of glibc is packages/glibc-too-old's."""
    for item in distributions.own:
        if item.tags and not any(fits(tag, interpreter) for tag in item.tags):
            yield Finding(
                Severity.ERROR,
                item.name,
                f"{item.label} was built for {_shown(item.tags)}, this is {_here(interpreter)}",
                {
                    "tags": list(item.tags),
                    "version": interpreter.version,
                    "machine": interpreter.markers.get("platform_machine"),
                },
                remedies.reinstall([(item.name, item.version)]),
            )


def fits(tag: str, interpreter: Interpreter) -> bool:
    """Tell whether a tag set such as `cp311.cp312-abi3-manylinux_2_28_x86_64` fits; what is not known of us fits."""
    parts = tag.split("-")
    if len(parts) != 3:
        return True
    pythons, abis, platforms = (part.split(".") for part in parts)
    python_fits = any(_python_fits(python, abi, interpreter) for python in pythons for abi in abis)
    return python_fits and any(_platform_fits(platform, interpreter) for platform in platforms)


def _python_fits(python: str, abi: str, interpreter: Interpreter) -> bool:
    match = re.fullmatch(r"(cp|py|pp|ip|jy)(\d)(\d{0,3})", python)
    if match is None or interpreter.minor is None:
        return True
    major, minor = (int(part) for part in interpreter.minor.split("."))
    kind, wanted_major, wanted_minor = match[1], int(match[2]), int(match[3]) if match[3] else None
    cpython = interpreter.markers.get("implementation_name", "cpython") == "cpython"
    if wanted_major != major or (kind != "py" and (kind == "cp") != cpython):
        return False
    threads = "t" if interpreter.free_threaded else ""
    if abi == "none":  # packaging.tags: cp311-none is for 3.11 alone, py311-none for all later ones
        return wanted_minor is None or wanted_minor == minor or (kind == "py" and wanted_minor < minor)
    if abi == "abi3":
        return not threads and (wanted_minor or 0) <= minor
    return (
        kind != "cp"
        or abi in (f"cp{major}{minor}{threads}", f"cp{major}{minor}m")
        or (abi == "abi3t" and bool(threads))
    )


def _platform_fits(platform: str, interpreter: Interpreter) -> bool:
    machine = interpreter.markers.get("platform_machine")
    system = interpreter.markers.get("sys_platform", "linux")
    if platform == "any":
        return True
    match = _MANYLINUX.fullmatch(platform)
    if match is None:
        return not system.startswith("linux")
    if platform.startswith("musl") and interpreter.libc.startswith("glibc"):
        return False
    return system.startswith("linux") and (machine is None or match[1] == machine)


def _shown(tags: tuple[str, ...]) -> str:
    return tags[0] if len(tags) == 1 else f"{tags[0]} and {len(tags) - 1} more"


def _here(interpreter: Interpreter) -> str:
    machine = interpreter.markers.get("platform_machine", "an unknown machine")
    threads = ", free-threaded" if interpreter.free_threaded else ""
    return f"Python {interpreter.minor}{threads} on {interpreter.markers.get('sys_platform', 'linux')} {machine}"
