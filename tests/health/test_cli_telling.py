"""`envdoctor health` by its real command line: what it prints, and to whom it speaks."""

import json
import os
import shlex
import subprocess

import pytest
from doctor import COMMAND, Doctor
from nobody import NOBODY
from nodes import give
from patients import Patient, Wheel
from prometheus_client.parser import text_string_to_metric_families
from tools import needed

from envdoctor.health import schedule, units

pytestmark = pytest.mark.whole
SIX = Wheel("six", "1.17.0", {"six.py": ""})
APART = ("--deadline", "60")


@pytest.fixture
def patient(tmp_path):
    """Return an environment of whoever runs the tests, and a doctor for it, with a configuration that names it."""
    found = Patient(tmp_path / "project")
    found.install(SIX, requested=True)
    found.lock((SIX,))
    config = tmp_path / "health.toml"
    config.write_text(
        f'deadline = 60\n[[target]]\npath = "{found.prefix}"\nlock = "requirements.txt"\nenvironment = {{}}\n'
    )
    doctor = Doctor(tmp_path)
    found.health = lambda *options, **more: doctor("health", "--config", config, *options, **more)
    return found


def spoil(patient):
    (patient.site / "six.py").unlink()


def test_one_week_of_a_user(patient, tmp_path):
    """Quiet while nothing changes; one call for each change; metrics that any run renews."""
    told, metrics = tmp_path / "told", tmp_path / "envdoctor.prom"
    script = tmp_path / "tell"
    script.write_text(f"#!/bin/sh\ncat >> {told}\n")
    script.chmod(0o755)
    options = ("--quiet-unless-changed", "--notify", shlex.quote(str(script)), "--textfile", metrics)

    first = patient.health(*options)
    assert (first.status, first.stderr) == (0, "")
    assert first.stdout
    second = patient.health(*options)
    assert (second.status, second.stdout, second.stderr) == (0, "", "")
    assert not told.exists()
    assert verdict(metrics) == {"healthy": 1.0, "sick": 0.0, "warnings": 0.0}

    spoil(patient)
    third, fourth = patient.health(*options), patient.health(*options)
    assert (third.status, fourth.status, fourth.stdout) == (1, 1, "")
    assert "packages/missing-file" in third.stdout
    assert verdict(metrics)["sick"] == 1

    (patient.site / "six.py").touch()
    assert patient.health(*options).status == 0
    calls = [json.loads(line) for line in told.read_text().splitlines()]
    assert [{(item["kind"], item["probe"]) for item in call["changes"]} for call in calls] == [
        {("appeared", "packages/missing-file")},
        {("healed", "packages/missing-file")},
    ]
    assert calls[0]["targets"][0]["verdict"] == "sick"


def test_a_command_that_is_not_there_is_missed_before_there_is_anything_to_tell(patient):
    answer = patient.health("--notify", "no-such-program --now")
    assert answer.status == 0
    assert answer.stderr.startswith("envdoctor: no-such-program cannot be told of a change: ")


def verdict(path):
    families = {family.name: family for family in text_string_to_metric_families(path.read_text())}
    return {sample.labels["verdict"]: sample.value for sample in families["envdoctor_verdict"].samples}


def test_nagios(patient):
    spoil(patient)
    sick = patient.health("--nagios")
    assert (sick.status, sick.stderr) == (2, "")
    assert sick.stdout.startswith(f"ENVDOCTOR CRITICAL: {patient.prefix}: ")
    assert " | environments=1;;;0 sick=1;;0;0;1 " in sick.stdout


def test_nagios_without_a_configuration_that_can_be_read(tmp_path):
    answer = Doctor(tmp_path)("health", "--nagios", "--config", tmp_path / "none.toml")
    assert answer.status == 3
    assert answer.stdout == f"ENVDOCTOR UNKNOWN: {tmp_path}/none.toml: No such file or directory\n"
    assert answer.stderr == ""


def test_what_is_wrong_with_an_environment_is_not_wrong_with_the_node(patient):
    spoil(patient)
    answer = patient.health("--slurm")
    assert (answer.status, answer.stdout) == (0, "")
    assert patient.health("--quiet-unless-changed").stdout == ""  # it was remembered, all the same


def test_a_run_that_fails_drains_no_node(tmp_path):
    answer = Doctor(tmp_path)("health", "--slurm", "--config", tmp_path / "none.toml")
    assert (answer.status, answer.stdout) == (0, "")
    assert "No such file" in answer.stderr


@pytest.mark.parametrize("options", [("--nagios", "--slurm"), ("--nagios", "--format", "json")])
def test_two_ways_to_print_are_one_too_many(tmp_path, options):
    answer = Doctor(tmp_path)("health", *options)
    assert answer.status == 2
    assert "name one" in answer.stderr


def test_of_an_environment_that_was_named_by_hand_nobody_is_told(patient, tmp_path):
    config = tmp_path / "health.toml"
    config.write_text(f'textfile = "{tmp_path}/x.prom"\nnotify = ["/bin/false"]\n{config.read_text()}')
    spoil(patient)
    by_hand = patient.health("--target", patient.prefix, "--no-state")
    assert (by_hand.status, by_hand.stderr) == (1, "")
    assert not (tmp_path / "x.prom").exists()
    usual = patient.health()
    assert (usual.status, usual.stderr) == (1, "envdoctor: /bin/false was told and ended with status 1\n")
    assert (tmp_path / "x.prom").exists()


def test_the_rights_that_the_service_leaves_root_are_enough(node):
    """As systemd would: the capabilities of the unit, and no new ones by any program."""
    setpriv = needed("setpriv", "Debian's package util-linux has it")
    patient = node.patient("one")
    patient.interpreter('id -u > "$(dirname "$(dirname "$0")")/uid"; exec /usr/bin/python3 "$@"')
    give(patient.folder)
    home = patient.folder.parent
    home.chmod(0o700)
    metrics = node.folder / "metrics"
    metrics.mkdir()
    os.chown(metrics, NOBODY, NOBODY)
    unit = units.service(units.Plan(("/bin/true",), schedule.parse("10m")))
    (allowed,) = [line.partition("=")[2] for line in unit.splitlines() if line.startswith("CapabilityBoundingSet=")]
    bounds = ",".join(["-all", *(f"+{name.removeprefix('CAP_').lower()}" for name in allowed.split())])
    options = ("--config", node.configure(), "--format", "json", "--textfile", metrics / "envdoctor.prom", *APART)
    done = subprocess.run(
        [setpriv, f"--bounding-set={bounds}", "--no-new-privs", *COMMAND, "health", *map(str, options)],
        env=node.doctor.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    (look,) = json.loads(done.stdout)["targets"]
    assert (look["reason"], look["report"]["failed"], done.stderr) == ("", [], "")
    assert (patient.prefix / "uid").read_text() == f"{NOBODY}\n"
    assert "envdoctor_verdict" in (metrics / "envdoctor.prom").read_text()
