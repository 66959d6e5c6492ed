"""Known vulnerabilities of the locked releases, as pip-audit knows them.

pip-audit (2.10) exits 0 and says "No known vulnerabilities found" also when it found out nothing: what it could not
look up stands in its answer with a `skip_reason`, and counts as unknown here.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envdoctor.audit import pip
from envdoctor.errors import EnvDoctorError
from envdoctor.system.host import Host
from envdoctor.views.lock_online import Advisory, Pin

NOT_INSTALLED = "pip-audit is not installed, which looks up known vulnerabilities (pipx install pip-audit)"
OPTIONS = ("--format", "json", "--no-deps", "--disable-pip", "--progress-spinner", "off", "--desc", "off", "-r")
_VERSION = re.compile(r"(?:\d+!)?\d[\w.]*")
"""Of the public part of a version: what else a lock may hold would make pip-audit refuse the whole list."""


@dataclass(frozen=True, slots=True)
class Audited:
    """What came of it."""

    advisories: tuple[Advisory, ...]
    unknown: Mapping[Pin, str]


def ask(pins: Sequence[Pin], host: Host, seconds: float) -> Audited:
    """Ask pip-audit within so many seconds. Raises EnvDoctorError if it gives no answer at all."""
    ends = time.monotonic() + seconds
    command = pip.on_path("pip-audit", host) or pip.as_module("pip_audit")
    if command is None:
        raise EnvDoctorError(NOT_INSTALLED)
    known: dict[tuple[str, str], dict[str, Any]] = {}
    for some in rounds(pins):
        known |= dict(answers(_run(command, some, host, ends), some))
    found: list[Advisory] = []
    unknown: dict[Pin, str] = {}
    for pin in pins:
        answer = known.get((pin[0], public(pin[1])))
        if answer is None:
            unknown[pin] = "pip-audit says nothing of it"
        elif "vulns" not in answer:
            unknown[pin] = str(answer.get("skip_reason") or "pip-audit gives no reason").partition(": ")[0]
        else:
            found += (_advisory(pin, entry) for entry in answer["vulns"])
    return Audited(tuple(found), unknown)


def public(version: str) -> str:
    """Return what advisories go by: a build with a local label has the faults of its release."""
    return version.partition("+")[0]


def rounds(pins: Sequence[Pin]) -> Iterator[dict[str, str]]:
    """Part the pins into lists of one version a name: pip-audit refuses one of two."""
    left = list(dict.fromkeys((name, public(version)) for name, version in pins))
    left = [(name, version) for name, version in left if _VERSION.fullmatch(version)]
    while left:
        some: dict[str, str] = {}
        left = [(name, version) for name, version in left if some.setdefault(name, version) != version]
        yield some


def answers(output: bytes, asked: Mapping[str, str]) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """Read one answer: what is said of each release. Raises EnvDoctorError for what is none."""
    try:
        for entry in json.loads(output)["dependencies"]:
            name = str(entry["name"])
            for vulnerability in entry.get("vulns", ()):
                str(vulnerability["id"]), tuple(vulnerability["fix_versions"])
            if name in asked:
                yield (name, asked[name]), entry
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise EnvDoctorError("pip-audit gave no answer that this envdoctor can read") from error


def _run(command: Sequence[str], asked: Mapping[str, str], host: Host, ends: float) -> bytes:
    """Run it on a list in memory: nothing is left behind, however this ends."""
    descriptor = os.memfd_create("pins", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, "".join(f"{name}=={version}\n" for name, version in asked.items()).encode())
        argv = [*command, *OPTIONS, f"/proc/{os.getpid()}/fd/{descriptor}"]
        done = host.run(argv, timeout=max(0.1, ends - time.monotonic()), env={**host.env, "PIP_NO_INPUT": "1"})
    finally:
        os.close(descriptor)
    if done.problem:
        raise EnvDoctorError(f"pip-audit: {done.problem}")
    if not done.stdout.strip():
        raise EnvDoctorError(f"pip-audit found out nothing (exit status {done.status}): its service cannot be reached")
    return done.stdout


def _advisory(pin: Pin, entry: Mapping[str, Any]) -> Advisory:
    """Take one vulnerability over; no pip-audit up to 2.10 gives a score."""
    score = entry.get("cvss")
    fixed, aliases = (tuple(map(str, entry.get(key) or ())) for key in ("fix_versions", "aliases"))
    return Advisory(
        str(entry["id"]), *pin, fixed, tuple(sorted(aliases)), float(score) if isinstance(score, int | float) else None
    )
