"""Another minor version is an error, another patch release a warning; what the lock and the seal say counts too."""

import pytest

from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.startup import SiteDirectory, Startup
from envdoctor.model import Lock, Severity, Unavailable
from envdoctor.probes.environment.python_mismatch import check
from envdoctor.seals import Seal

NONE = Unavailable("not there")


def interpreter(version, recorded=None, **changes):
    return Interpreter("/env/bin/python", (), True, None, version, recorded or version, {}, **changes)


def seal(version):
    return Seal("2026-01-01T00:00:00Z", "0.1.0", "node7", version, "/usr/bin/python3", ())


def lock(requires):
    return Lock("/train.txt", "uv", (), requires_python=requires)


def worst(speaker, *, startup=NONE, lock=NONE, seal=NONE):
    found = list(check(speaker, startup, lock, seal))
    assert len(found) <= 1
    return found[0].severity if found else None


@pytest.mark.parametrize(
    ("running", "recorded", "severity"),
    [
        ("3.12.3", "3.12.3", None),
        ("3.12.9", "3.12.3", Severity.WARNING),
        ("3.13.0", "3.12.3", Severity.ERROR),
        ("3.14.0rc2", "3.14.0", None),  # venv records no pre-release
        ("3.14.0", "3.14.0rc2", Severity.WARNING),
        ("3.12.3", "unknown", None),
    ],
)
def test_the_recorded_version_is_compared(running, recorded, severity):
    assert worst(interpreter(running, recorded)) == severity


@pytest.mark.parametrize(
    ("running", "sealed", "severity"),
    [
        ("3.12.3", "3.12.3", None),
        ("3.12.3", "3.12.4", Severity.WARNING),
        ("3.12.3", "3.11.3", Severity.ERROR),
        ("3.14.0rc2", "3.14.0", Severity.WARNING),
        ("3.12.3", None, None),
    ],
)
def test_the_sealed_version_is_compared(running, sealed, severity):
    assert worst(interpreter(running), seal=seal(sealed)) == severity


@pytest.mark.parametrize(
    ("running", "requires", "severity"),
    [
        ("3.12.3", ">=3.11", None),
        ("3.12.3", ">=3.13", Severity.ERROR),
        ("3.12.3", "==3.11.*", Severity.ERROR),
        ("3.14.0rc2", ">=3.13", None),
        ("3.12.3", "nonsense", None),
        ("3.12.3", None, None),
    ],
)
def test_the_locks_requires_python_is_compared(running, requires, severity):
    assert worst(interpreter(running), lock=lock(requires)) == severity


def site(python, distributions, *, read):
    return SiteDirectory(f"/env/lib/{python}/site-packages", python, distributions, read=read, writable=True)


@pytest.mark.parametrize(
    ("old", "own", "changes", "severity"),
    [
        (120, 1, {}, Severity.ERROR),
        (3, 120, {}, Severity.WARNING),
        (0, 120, {}, None),
        (120, 1, {"kind": "prefix"}, None),  # a system prefix holds several Pythons
    ],
)
def test_packages_of_another_minor_version_are_not_read(old, own, changes, severity):
    sites = Startup(sites=(site("python3.11", old, read=False), site("python3.12", own, read=True)))
    assert worst(interpreter("3.12.3", **changes), startup=sites) == severity


def test_all_reasons_are_one_finding():
    (finding,) = check(interpreter("3.13.0", "3.12.3"), NONE, lock("<3.13"), seal("3.12.3"))
    assert finding.message.count(";") == 2


def test_an_unknown_version_says_nothing():
    assert worst(interpreter(None)) is None
