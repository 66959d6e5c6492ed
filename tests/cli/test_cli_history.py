"""`envdoctor timeline` and `envdoctor blame`, by processes."""

import pytest


def test_both_tell_of_a_healthy_environment(patient, doctor):
    told = doctor("timeline", "--target", patient.prefix, "--format", "json")
    assert (told.status, told.stderr, told.report["schema"]) == (0, "", 1)
    assert told.report["target"]["packages"] == 2
    why = doctor("blame", "NumPy", "--target", patient.prefix)
    assert (why.status, why.stderr) == (0, "")
    assert "required by  transformers 5.6.0: numpy\n" in why.stdout
    assert "\033" not in why.stdout


def test_what_is_unknown_is_named_with_what_is_like_it(patient, doctor):
    answer = doctor("blame", "transformrs", "--target", patient.prefix)
    assert (answer.status, answer.stdout) == (2, "")
    assert answer.stderr.endswith("and not in its lock; there are: transformers\n")


def test_what_is_only_locked_is_told(patient, doctor):
    (patient.site / "numpy-2.3.5.dist-info/METADATA").unlink()
    (patient.site / "numpy-2.3.5.dist-info").rename(patient.folder / "gone")
    answer = doctor("blame", "numpy", "--target", patient.prefix)
    assert answer.status == 0
    assert answer.stdout.startswith("numpy is not installed, and the lock has it\n")
    assert "gone: numpy 2.3.5: the lock has it" in doctor("timeline", "--target", patient.prefix).stdout


@pytest.mark.parametrize("command", [("timeline",), ("blame", "numpy")])
def test_a_snapshot_tells_the_same(command, patient, doctor):
    doctor("snapshot", "-o", "s.json", "--target", patient.prefix)
    here = doctor(*command, "--target", patient.prefix, "--format", "json")
    there = doctor(*command, "--snapshot", "s.json", "--format", "json")
    assert there.status == 0
    assert {k: v for k, v in here.report.items() if k not in ("taken_at", "snapshot")} == {
        k: v for k, v in there.report.items() if k not in ("taken_at", "snapshot")
    }
    assert doctor(*command, "--snapshot", "s.json", "--target", "x").status == 2


@pytest.mark.parametrize("command", [("timeline",), ("blame", "numpy")])
def test_a_target_that_cannot_be_read_is_the_doctors_failure(command, patient, doctor):
    patient.site.rename(patient.folder / "elsewhere")
    answer = doctor(*command, "--target", patient.prefix)
    assert (answer.status, answer.stdout, len(answer.stderr.splitlines())) == (3, "", 1)
