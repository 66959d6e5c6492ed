"""The worked example: a distribution of probes, installed by real pip beside an installed envdoctor, and used."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from doctor import Answer
from junit_rules import broken_rules
from patients import Patient
from plugged import distribution, probe
from sarif_rules import is_taken_by_github, is_valid

import envdoctor
from envdoctor.wheels import Wheel

pytestmark = pytest.mark.venv

NIGHTLY = '''"""The torch that is installed is a nightly build.

Why it matters: nightly builds leave the index after some weeks, and nobody can rebuild the environment then.

What to do: install a release.
"""
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Finding, Severity


def check(torch_build: TorchBuild):
    if ".dev" in torch_build.version:
        yield Finding(Severity.WARNING, "torch", f"torch {torch_build.version} is a nightly build")
'''
EXPECTED = probe(
    'yield Finding(Severity.NOTE, "lock", f"{len(expected.wanted)} packages are wanted")',
    asks="expected",
    title="The lock has been counted.",
)
"""Uses a view."""
MODULES = {
    "torch_nightly": NIGHTLY,
    "lock_counted": EXPECTED,
    "out_of_order": "import nothing_of_that_name\n",
    "raises": probe("raise ValueError('no luck')"),
}
TORCH = Wheel("torch", "2.12.0.dev20260601", {"torch/version.py": "__version__ = '2.12.0.dev20260601'\ncuda = None\n"})
CHECK = ("check", "--no-state", "--select", "acme", "--select", "packages/missing-file")


@pytest.fixture(scope="module")
def installed(tmp_path_factory, new_venv):
    """A venv with envdoctor and the plug-in, both installed by pip from wheels."""
    folder = tmp_path_factory.mktemp("own")
    package = Path(envdoctor.__file__).parent
    files = {
        str(path.relative_to(package.parent)): path.read_bytes()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    venv = new_venv(folder, folder / "wheelhouse")
    for wheel in (Wheel("gpu-envdoctor", envdoctor.__version__, files), distribution("acme-probes", MODULES)):
        wheel.build(venv.wheelhouse)
    venv.pip("install", "gpu-envdoctor", "acme-probes")
    # what envdoctor depends on comes from the tests' own environment: no index is at hand
    (venv.site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    return venv


@pytest.fixture
def ask(installed, tmp_path):
    """Run the installed envdoctor."""

    def run(*arguments, env=None, cwd=None):
        done = subprocess.run(
            [installed.python, "-m", "envdoctor", *map(os.fspath, arguments)],
            cwd=cwd or tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"} | (env or {}),
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return Answer(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def patient(tmp_path):
    found = Patient(tmp_path / "project")
    found.install(TORCH, requested=True)
    found.lock([TORCH])
    return found


def test_it_is_the_installed_one_that_runs(installed):
    code = "import envdoctor; print(envdoctor.__file__)"
    done = subprocess.run([installed.python, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(installed.site))


def test_its_probes_judge_and_its_broken_ones_are_said(ask, patient):
    answer = ask(*CHECK, "--format", "json", "--target", patient.prefix)
    report = answer.report
    assert (answer.status, answer.stderr) == (3, "")
    assert answer.said("warning") == {("acme/torch-nightly", "torch")}
    assert answer.said("note") == {("acme/lock-counted", "lock")}
    assert [f["message"] for f in answer.findings("acme/lock-counted")] == ["1 packages are wanted"]
    assert report["passed"] == ["packages/missing-file"]
    assert report["seen"]["plugins"] == "acme-probes 1.0"
    assert {item["probe"]: item["error"] for item in report["crashed"]} == {
        "acme/out-of-order": "acme-probes 1.0: ModuleNotFoundError: No module named 'nothing_of_that_name' "
        "(out_of_order.py:1)",
        "acme/raises": "acme-probes 1.0: ValueError: no luck (raises.py:11)",
    }


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit"])
def test_findings_outrank_broken_ones_in_every_format(form, ask, patient):
    for options, status in (((), 3), (("--fail-on", "warning"), 1), (("--ignore", "acme"), 0)):
        answer = ask(*CHECK, *options, "--format", form, "--target", patient.prefix)
        assert (answer.status, answer.stderr) == (status, "")


def test_reports_for_programs_are_valid(ask, patient):
    document = json.loads(ask(*CHECK, "--format", "sarif", "--target", patient.prefix).stdout)
    is_valid(document)
    (run,) = document["runs"]
    assert {result["ruleId"] for result in run["results"]} == {"acme/torch-nightly", "acme/lock-counted"}
    assert all(is_taken_by_github(result) for result in run["results"])
    assert run["invocations"][0]["executionSuccessful"] is False
    rules = {rule["id"]: rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"]}
    assert rules["acme/torch-nightly"] == "The torch that is installed is a nightly build."
    root = ET.fromstring(ask(*CHECK, "--format", "junit", "--target", patient.prefix).stdout)
    assert broken_rules(root) == []
    assert len(list(root.iter("error"))) == 2


def test_they_can_be_left_out(ask, patient):
    (patient.folder / "envdoctor.toml").write_text("plugins = false\n")
    answer = ask("check", "--no-state", "--format", "json", "--target", patient.prefix)
    assert answer.report["crashed"] == []
    assert "acme" not in answer.stdout
    assert ask(*CHECK, "--target", patient.prefix).status == 2


def test_the_policy_speaks_of_them(ask, patient):
    (patient.folder / "envdoctor.toml").write_text(
        '[severity]\n"acme/torch-nightly" = "error"\n[[mute]]\nprobe = "acme/lock-counted"\nwhy = "known"\n'
    )
    answer = ask(*CHECK, "--format", "json", "--target", patient.prefix)
    assert (answer.status, answer.said("error")) == (1, {("acme/torch-nightly", "torch")})
    assert [item["probe"] for item in answer.report["muted"]] == ["acme/lock-counted"]


def test_explain_lists_them_with_where_they_come_from(ask):
    said = ask("explain").stdout
    assert "The torch that is installed is a nightly build. [acme-probes 1.0]" in said
    assert "broken: ModuleNotFoundError" in said
    assert "Comes from: acme-probes 1.0." in ask("explain", "acme/torch-nightly").stdout
    assert "did you mean acme/torch-nightly?" in ask("explain", "acme/torch-nightli").stderr


def test_nobody_elses_directory_brings_any(ask, patient, installed, tmp_path):
    """Neither PYTHONPATH nor the current directory nor the user's site-packages, which root must not run code from."""
    foreign = tmp_path / "foreign"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    user = tmp_path / ".local" / "lib" / version / "site-packages"
    for folder in (foreign, user):
        wheel = distribution("evil-probes", {"ran": "open('/dev/stderr', 'w').write('ran')"}, {"evil": "evil_probes"})
        for path, content in wheel.entries().items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
    answer = ask(*CHECK, "--format", "json", "--target", patient.prefix, env={"PYTHONPATH": str(foreign)}, cwd=foreign)
    assert "evil" not in answer.stdout + answer.stderr
    assert "evil" not in ask("explain", env={"PYTHONPATH": str(foreign)}, cwd=foreign).stdout


def test_removed_by_pip_they_are_gone(installed, ask, patient):
    installed.pip("uninstall", "acme-probes")
    try:
        assert ask("check", "--no-state", "--select", "acme", "--target", patient.prefix).status == 2
    finally:
        installed.pip("install", "acme-probes")
