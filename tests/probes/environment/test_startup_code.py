"""Code that runs at start is a warning, unless a known package brought it and it is what that package installs."""

import pytest

from envdoctor.facts.owners import Owners
from envdoctor.facts.startup import Customize, Startup, StartupFile, StartupLine
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.environment.startup_code import check

SITE = "/env/lib/python3.12/site-packages"
DISTUTILS = "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; __import__('_distutils_hack').add_shim();"
COVERAGE = "import sys; exec('import coverage\\n coverage.process_startup(slug=\"pth\")')"
UNKNOWN = Unavailable("not gathered")


def file(name, *texts, kind="import", **changes):
    lines = tuple(StartupLine(number, kind, text) for number, text in enumerate(texts, 1))
    return StartupFile(f"{SITE}/{name}", changes.pop("origin", "site-packages"), lines, **changes)


def judge(*files, customize=(), owners=None):
    if not isinstance(owners, Unavailable):
        owners = Owners((), (), (), {f"{SITE}/{name}": owner for name, owner in (owners or {}).items()})
    return list(check(Startup(files, tuple(customize)), owners))


@pytest.mark.parametrize(
    ("name", "text", "owner"),
    [
        ("distutils-precedence.pth", DISTUTILS, "setuptools"),
        ("_virtualenv.pth", "import _virtualenv", None),
        ("__editable__.mine-1.0.pth", "import __editable___mine_finder; __editable___mine_finder.install()", "mine"),
        ("_editable_impl_mine.pth", "import _editable_impl_mine", "mine"),
        ("a1_coverage.pth", COVERAGE, "coverage"),
    ],
)
def test_known_code_is_a_note(name, text, owner):
    (finding,) = judge(file(name, text), owners={name: owner} if owner else {})
    assert (finding.severity, finding.subject) == (Severity.NOTE, f"{SITE}/{name}")
    assert finding.evidence["owner"] == owner
    assert finding.remedy == ()


@pytest.mark.parametrize(
    ("name", "texts", "owners"),
    [
        ("intruder.pth", ["import intruder"], {}),
        ("intruder.pth", ["import intruder"], {"intruder.pth": "intruder"}),
        ("distutils-precedence.pth", [DISTUTILS], {}),
        ("distutils-precedence.pth", [DISTUTILS], {"distutils-precedence.pth": "intruder"}),
        ("distutils-precedence.pth", [DISTUTILS, "import intruder"], {"distutils-precedence.pth": "setuptools"}),
        ("__editable__.mine-1.0.pth", ["import __editable___mine_finder"], {}),
        ("_virtualenv.pth", ["import intruder"], {}),
    ],
)
def test_other_code_is_a_warning_that_shows_it(name, texts, owners):
    (finding,) = judge(file(name, *texts), owners=owners)
    assert finding.severity == Severity.WARNING
    assert [line["text"] for line in finding.evidence["lines"]] == texts
    assert finding.evidence["owner"] == owners.get(name)


def test_entry_points_of_start_files_are_code():
    (finding,) = judge(file("intruder.start", "intruder:go", kind="entry-point"))
    assert finding.severity == Severity.WARNING


@pytest.mark.parametrize("given", [{"owners": UNKNOWN}, {"origin": "system-site"}])
def test_without_owners_file_and_text_must_do(given):
    owners = given.pop("owners", None)
    (known,) = judge(file("distutils-precedence.pth", DISTUTILS, **given), owners=owners)
    (other,) = judge(file("distutils-precedence.pth", "import intruder", **given), owners=owners)
    assert (known.severity, other.severity) == (Severity.NOTE, Severity.WARNING)


@pytest.mark.parametrize("kind", ["path", "dead", "comment", "ignored"])
def test_lines_that_run_nothing_say_nothing(kind):
    assert judge(file("a.pth", "import a", kind=kind)) == []


def test_a_file_that_could_not_be_read_is_a_warning():
    (finding,) = judge(file("a.pth", problem="is no regular file"))
    assert (finding.severity, finding.evidence["problem"]) == (Severity.WARNING, "is no regular file")


@pytest.mark.parametrize(
    ("origin", "severity"),
    [("site-packages", Severity.WARNING), ("PYTHONPATH", Severity.WARNING), ("stdlib", Severity.NOTE)],
)
def test_sitecustomize_is_a_warning_unless_it_comes_with_the_interpreter(origin, severity):
    (finding,) = judge(customize=[Customize("sitecustomize", f"{SITE}/sitecustomize.py", origin, 12)])
    assert (finding.severity, finding.subject) == (severity, f"{SITE}/sitecustomize.py")


def test_a_shadowed_sitecustomize_is_told_from_one_that_runs():
    (finding,) = judge(customize=[Customize("sitecustomize", "/x", "site-packages", 1, imported=False)])
    assert "would be imported" in finding.message
