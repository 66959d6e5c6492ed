"""Metadata that no honest author wrote: every probe still has its say, and advice stays advice."""

import shlex

import pytest
from patients import Patient, Wheel, findings

DIGITS = "9" * 5000
"""More digits than int() reads of a string (sys.set_int_max_str_digits, Python 3.11)."""
SIX = Wheel("six", "1.17.0", {"six.py": ""})
MARKERS = (
    'os_name ~= "posix"',
    f'python_version > "3.{DIGITS[:4000]}"',
    f'python_version > "3.{DIGITS}"',
    'python_version ~= "3"',
    'platform_release >= "6.8.0-generic"',
    'platform_version > "#1"',
    '"linux" in "linux"',
    'extra ~= "x"',
    "(" * 1500 + 'os_name == "posix"' + ")" * 1500,
    " and ".join(['os_name == "posix"'] * 150),
    " and ".join(['os_name == "posix"'] * 3000),
)
NUMBERS = (DIGITS, f"1+{DIGITS}", f"{DIGITS}!1", f"1.dev{DIGITS}", DIGITS[:4090])
EVIL = (
    *("-r/etc/passwd", "--index-url=http://index.example", "-e.", "$(touch x)", "a;touch x", "`touch x`"),
    *("x @ file:///x", "a b", "six @ git+ssh://x/y"),
)


@pytest.fixture
def patient(tmp_path):
    return Patient(tmp_path)


def installed(patient, number, *requires):
    patient.install(Wheel(f"app{number}", "1", {f"app{number}.py": ""}, requires))


def said(patient, lock=None):
    """Check with all probes and return the report; none may crash or be lost."""
    patient.install(SIX)
    report = patient.check(lock=lock)
    assert [(outcome.probe, outcome.crashed) for outcome in report.outcomes if outcome.crashed] == []
    assert report.failed == {}
    return report


def test_no_marker_crashes_a_probe(patient):
    for number, marker in enumerate(MARKERS):
        installed(patient, number, f"six; {marker}", "six[x]>=2")
    broken = findings(said(patient), "packages/broken-requirement")
    assert {finding.subject for finding in broken} == {f"app{number}" for number in range(len(MARKERS))}


def test_no_required_version_crashes_a_probe(patient):
    for number, version in enumerate(NUMBERS):
        installed(patient, number, *(f"six{by}{version}" for by in ("==", ">=", "~=1.", "!=", "==1.*,<", "===")))
    said(patient)


def test_no_installed_version_crashes_a_probe(patient):
    locked = [Wheel(f"app{number}", "1") for number in range(len(NUMBERS))]
    for number, version in enumerate(NUMBERS):
        app = patient.install(Wheel(f"app{number}", "1", {f"app{number}.py": ""}))
        lines = f"Name: app{number}\nVersion: {version}\nRequires-Python: >={version}\nRequires-Dist: app{number}>=1\n"
        (app / "METADATA").write_text(lines)
        installed(patient, f"-user{number}", f"app{number}>=1", f"app{number}<2")
    drifted = findings(said(patient, patient.lock(locked)), "packages/drifted")
    assert len(drifted) == len(NUMBERS)


def test_no_locked_version_crashes_a_probe(patient):
    (patient.folder / "lock.txt").write_text(f"six=={DIGITS}\napp==1.{DIGITS} ; python_version > '3.{DIGITS}'\n")
    report = said(patient, lock=str(patient.folder / "lock.txt"))
    assert ("packages/drifted", "six") in findings(report)


def test_torch_of_hostile_numbers_crashes_no_probe(patient):
    build = f"__version__ = '{DIGITS}+cu{DIGITS}'\ncuda = '{DIGITS}'\ngit_version = 'x'\n"
    patient.install(Wheel("torch", "2.11.0+cu128", {"torch/__init__.py": "", "torch/version.py": build}))
    patient.install(Wheel("torchvision", "0.1", {"torchvision.py": ""}, (f"torch=={DIGITS}",)))
    said(patient)


def test_what_is_no_name_enters_no_command(patient):
    for number, name in enumerate(EVIL):
        info = patient.install(Wheel(f"app{number}", "1", {f"app{number}.py": ""}))
        (info / "METADATA").write_text(f"Name: {name}\nVersion: 1\nRequires-Dist: {name}\nRequires-Dist: six{name}\n")
        (info / "RECORD").write_text(f"app{number}.py,sha256=x,9\ngone.py,sha256=x,9\n")
    report = said(patient, patient.lock([SIX]))
    steps = [step for _, finding in report.findings() for step in finding.remedy]
    words = {word for step in steps if " install " in step or " uninstall " in step for word in shlex.split(step)}
    options = {"--python", "--no-deps", "--force-reinstall", "--ignore-installed"}
    assert words <= options | {str(patient.python), "pip", "install", "uninstall", "six==1.17.0"}
