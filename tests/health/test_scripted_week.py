"""A week under cron: a real environment and cache on disk, real rounds, and a clock that is set on."""

import json
import shlex
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from cachetrees import inductor
from doctor import Doctor
from patients import Patient, Wheel
from prometheus_client.parser import text_string_to_metric_families
from toolboxes import toolkit

from envdoctor.health import workflow
from envdoctor.system.host import LocalHost

pytestmark = pytest.mark.whole
BEGIN = datetime(2026, 6, 1, 9, tzinfo=UTC)
VERSION = "__version__ = '2.11.0+cu130'\ncuda = '13.0'\ngit_version = 'abc1234'\ndebug = False\n"
TORCH = Wheel("torch", "2.11.0", {"torch/__init__.py": "", "torch/version.py": VERSION})
FORMER = Wheel("transformers", "5.6.0", {"transformers/__init__.py": "VERSION = '5.6.0'\n"})
MOVED = Wheel("transformers", "5.8.1", {"transformers/__init__.py": "VERSION = '5.8.1'\n"})
EXTENSION = Wheel("deepspeed", "0.19.8", {"deepspeed/__init__.py": ""})
SERVING = Wheel("sglang", "0.5.9", {"sglang/__init__.py": ""}, ("transformers==5.8.1",))
LOCKED = (TORCH, FORMER, EXTENSION)


@dataclass(frozen=True, slots=True)
class At(LocalHost):
    """This machine at another time."""

    moment: datetime = BEGIN

    def now(self):
        return self.moment


class Week:
    def __init__(self, folder):
        self.folder, self.doctor, self.hours = folder, Doctor(folder), 0
        self.patient = Patient(folder / "project")
        for wheel in LOCKED:
            self.patient.install(wheel, requested=True)
        self.patient.lock(LOCKED)
        self.cache, self.cuda = inductor(folder / "cache", cuda_0=4, cuda_1=4), toolkit(folder / "cuda", "13.0", "13.0")
        shutil.copytree(self.patient.prefix, folder / "sound", symlinks=True)
        self.told, self.metrics = folder / "told", folder / "envdoctor.prom"
        script = folder / "tell"
        script.write_text(f"#!/bin/sh\ncat >> {shlex.quote(str(self.told))}\n")
        script.chmod(0o755)
        variables = {"TORCHINDUCTOR_CACHE_DIR": self.cache, "CUDA_HOME": self.cuda, "PATH": f"{self.cuda}/bin:/bin"}
        table = ", ".join(f'{name} = "{value}"' for name, value in variables.items())
        (folder / "health.toml").write_text(
            f'deadline = 60\ntextfile = "{self.metrics}"\nnotify = ["{script}"]\n'
            f'[[target]]\npath = "{self.patient.prefix}"\nlock = "requirements.txt"\nenvironment = {{ {table} }}\n'
        )

    def rounds(self, count=2):
        """Let cron run, every six hours; return what was told, one list of changes a call, and the last verdict."""
        self.told.unlink(missing_ok=True)
        for _ in range(count):
            host = At(env=self.doctor.environment(), cwd=str(self.folder), moment=BEGIN + timedelta(hours=self.hours))
            done = workflow.run(workflow.Asked(str(self.folder / "health.toml")), host)
            assert not done.said, done.said
            self.hours += 6
            families = list(text_string_to_metric_families(self.metrics.read_text()))
        (verdict,) = [
            sample.labels["verdict"]
            for family in families
            if family.name == "envdoctor_verdict"
            for sample in family.samples
            if sample.value == 1
        ]
        calls = (
            [json.loads(line)["changes"] for line in self.told.read_text().splitlines()] if self.told.exists() else []
        )
        return [{(one["kind"], one["probe"]) for one in changes} for changes in calls], verdict

    def diff(self, first, second):
        """Return the events between two times, in hours since the week began."""
        times = [(BEGIN + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M") for hours in (first, second)]
        told = self.doctor("diff", *times, "--target", self.patient.prefix, "--format", "json")
        return {(event["area"], event["subject"]) for event in told.report["events"] if event["weight"] != "detail"}

    def history(self):
        return self.doctor("history", "--target", self.patient.prefix, "--format", "json").report


@pytest.fixture
def week(tmp_path):
    return Week(tmp_path)


def test_the_story_is_told_right_and_once(week):
    told, verdict = week.rounds()
    assert (told, verdict) == ([], "warnings")
    before = {finding["probe"] for finding in week.history()["environments"][0]["findings"]}
    sound = week.hours - 6

    week.patient.uninstall(FORMER)
    week.patient.install(MOVED, at=BEGIN.timestamp())
    week.patient.install(SERVING, requested=True, at=BEGIN.timestamp())
    (told,), verdict = week.rounds()
    assert told == {("appeared", "packages/drifted"), ("appeared", "packages/foreign")}
    assert verdict == "sick"
    contaminated = week.hours - 6

    shutil.rmtree(week.cache)
    (told,), _ = week.rounds()
    assert ("appeared", "cache/missing") in told
    assert all(probe.startswith("cache/") for _, probe in told)
    wiped = week.hours - 6

    shutil.rmtree(week.cuda)
    toolkit(week.cuda, "12.8", "12.8")
    (told,), _ = week.rounds()
    assert ("appeared", "cuda/toolkit-mismatch") in told
    assert all(probe.startswith("cuda/") for _, probe in told)
    swapped = week.hours - 6

    shutil.rmtree(week.patient.prefix)
    shutil.copytree(week.folder / "sound", week.patient.prefix, symlinks=True)
    inductor(week.cache, cuda_0=4, cuda_1=4)
    shutil.rmtree(week.cuda)
    toolkit(week.cuda, "13.0", "13.0")
    (told,), verdict = week.rounds()
    assert {kind for kind, _ in told} == {"healed"}
    assert verdict != "sick"
    rebuilt = week.hours - 6

    assert week.diff(sound, contaminated) == {("packages", "sglang"), ("packages", "transformers")}
    assert {area for area, _ in week.diff(contaminated, wiped)} == {"caches"}
    assert {area for area, _ in week.diff(wiped, swapped)} == {"toolkit"}
    assert week.diff(sound, rebuilt) == set(), "it is as it was"
    (past,) = week.history()["environments"]
    gone = {finding["probe"]: finding["gone"] for finding in past["findings"]}
    assert {"packages/foreign", "packages/drifted", "cache/missing", "cuda/toolkit-mismatch"} <= gone.keys()
    assert {probe for probe, when in gone.items() if not when} == before
    assert [span["verdict"] for span in past["spans"]] == ["warnings", "sick", "warnings"]
