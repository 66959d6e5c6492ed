"""A .pth path into another environment is an error, elsewhere outside a warning, an editable's sources a note."""

import pytest

from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.metadata import DirectUrl
from envdoctor.facts.owners import Owners
from envdoctor.facts.startup import Startup, StartupFile, StartupLine
from envdoctor.model import Severity, Unavailable
from envdoctor.probes.environment.foreign_path import check

SITE = "/env/lib/python3.12/site-packages"
OTHER = "/other/lib/python3.12/site-packages"
UNKNOWN = Unavailable("not gathered")


def editable(url="file:///home/me/my%20project"):
    info = f"{SITE}/mine-1.0.dist-info"
    return Distribution("mine", "1.0", "mine", SITE, info, "site-packages", direct_url=DirectUrl(url, editable=True))


def line(path, *, kind="path", inside=False, environment=None, number=1):
    return StartupLine(number, kind, path, path, inside, environment)


def judge(*lines, name="a.pth", owner=None, distributions=()):
    owners = Owners((), (), (), {f"{SITE}/{name}": owner} if owner else {})
    files = (StartupFile(f"{SITE}/{name}", "site-packages", lines),)
    return list(check(Startup(files), owners, Distributions(tuple(distributions))))


@pytest.mark.parametrize(
    ("given", "severity"),
    [
        (line(OTHER, environment="/other"), Severity.ERROR),
        (line("/data/code"), Severity.WARNING),
        (line(f"{SITE}/inner", inside=True), Severity.NOTE),
        (line("/gone", kind="dead"), Severity.NOTE),
    ],
)
def test_a_path_is_judged_by_where_it_leads(given, severity):
    (finding,) = judge(given)
    assert (finding.severity, finding.subject) == (severity, f"{SITE}/a.pth")
    assert given.path in finding.message
    assert bool(finding.remedy) == (severity > Severity.NOTE)


def test_a_file_is_as_bad_as_its_worst_line():
    worst = line(OTHER, environment="/other", number=2)
    (finding,) = judge(line("/data/code"), worst, line("/gone", kind="dead", number=3))
    assert finding.severity == Severity.ERROR
    assert finding.evidence["lines"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "owner", "path"),
    [
        ("__editable__.mine-1.0.pth", "mine", "/home/me/elsewhere"),
        ("easy-install.pth", None, "/home/me/my project"),
        ("easy-install.pth", None, "/home/me/my project/src"),
    ],
)
def test_an_editable_install_is_a_note(name, owner, path):
    (finding,) = judge(line(path), name=name, owner=owner, distributions=[editable()])
    assert finding.severity == Severity.NOTE


@pytest.mark.parametrize(
    ("given", "severity"),
    [
        ({"owner": "mine", "distributions": []}, Severity.WARNING),
        ({"owner": "other", "distributions": [editable()]}, Severity.WARNING),
        ({"distributions": [editable("file:///home/me/my")]}, Severity.WARNING),
    ],
)
def test_no_file_is_excused_that_no_editable_install_explains(given, severity):
    (finding,) = judge(line("/home/me/my project 2"), name="__editable__.mine-1.0.pth", **given)
    assert finding.severity == severity


def test_an_editable_install_does_not_excuse_another_environment():
    (finding,) = judge(line(OTHER, environment="/other"), owner="mine", distributions=[editable()])
    assert finding.severity == Severity.ERROR


def test_it_speaks_without_owners_and_distributions():
    files = (StartupFile(f"{SITE}/a.pth", "site-packages", (line(OTHER, environment="/other"),)),)
    (finding,) = check(Startup(files), UNKNOWN, UNKNOWN)
    assert finding.severity == Severity.ERROR


def test_files_without_paths_say_nothing():
    assert judge(StartupLine(1, "import", "import os")) == []
