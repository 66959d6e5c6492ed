"""`envdoctor freeze` and `thaw`: what they refuse, what they say, and what a check then knows."""

import json
import os
import stat

import pytest
from patients import Wheel

PROBE = "environment/freeze-bypassed"
NEW = Wheel("sglang", "0.5.9", {"sglang/__init__.py": ""})


def modes(prefix):
    """Return the permissions of everything but our own folder."""
    found = {}
    for folder, folders, files in os.walk(prefix):
        folders[:] = [name for name in folders if name != ".envdoctor"]
        for name in ("", *files):
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                found[path] = stat.S_IMODE(os.lstat(path).st_mode)
    return found


def seal_of(patient):
    return json.loads((patient.prefix / ".envdoctor/seal.json").read_text())


@pytest.fixture
def frozen(patient, doctor):
    done = doctor("freeze", "--target", patient.prefix)
    assert (done.status, done.stderr) == (0, "")
    return patient


def test_one_in_order_is_frozen_and_thawed_again(patient, doctor):
    (patient.prefix / "pip.conf").write_bytes(b"[global]\ntimeout = 9")
    (patient.site / "numpy/__init__.py").chmod(0o444)
    before = modes(patient.prefix)
    done = doctor("freeze", "--target", patient.prefix)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith(f"frozen {patient.prefix}: {len(before)} files and directories have no write bit\n")
    assert f"require-hashes in {patient.prefix}/pip.conf\n" in done.stdout
    assert "not held by it: uv as root" in done.stdout
    assert not [path for path, mode in modes(patient.prefix).items() if mode & 0o222]
    assert seal_of(patient)["frozen"] is True
    answer = doctor.check(patient.prefix)
    assert (answer.report["verdict"], answer.findings(PROBE)) == ("healthy", [])
    assert PROBE in answer.report["passed"]
    thawed = doctor("thaw", "--target", patient.prefix)
    assert (thawed.status, thawed.stderr) == (0, "")
    assert thawed.stdout == (
        f"thawed {patient.prefix}: write bits and pip.conf are as before the freeze\n"
        f"sealed in {patient.prefix}/.envdoctor/seal.json\n"
    )
    assert modes(patient.prefix) == before
    assert (patient.prefix / "pip.conf").read_bytes() == b"[global]\ntimeout = 9"
    assert seal_of(patient)["frozen"] is False
    assert doctor.check(patient.prefix).report["verdict"] == "healthy"


def test_the_seal_knows_the_times_that_the_freeze_left(frozen, doctor):
    """Its index holds ctimes, which a change of modes moves; were it taken before, all would be hashed again."""
    files = json.loads(doctor("snapshot", "--target", frozen.prefix).stdout)["facts"]["files"]
    assert (files["checked"] > 5, files["hashed"]) == (True, 0)


def test_a_sick_one_is_left_alone(patient, doctor):
    patient.delete("transformers/models.py")
    before = modes(patient.prefix)
    refused = doctor("freeze", "--target", patient.prefix)
    assert refused.status == 1
    assert refused.stdout.startswith("SICK  1 error\n")
    assert refused.stderr == "envdoctor: not frozen: mend the errors above first\n"
    assert modes(patient.prefix) == before
    assert not (patient.prefix / ".envdoctor").exists()


@pytest.mark.parametrize("command", ["freeze", "thaw"])
def test_a_conda_environment_is_refused_before_anything_is_done(command, patient, doctor):
    (patient.prefix / "conda-meta").mkdir()
    before = modes(patient.prefix)
    refused = doctor(command, "--target", patient.prefix)
    assert (refused.status, refused.stdout) == (2, "")
    assert "is a conda environment" in refused.stderr
    assert modes(patient.prefix) == before


def test_one_whose_seal_cannot_be_written_is_not_frozen(patient, doctor, tmp_path):
    before = modes(patient.prefix)
    (patient.prefix / ".envdoctor").mkdir()
    (patient.prefix / ".envdoctor/seal.json").mkdir()
    (tmp_path / "state").write_text("in the way")
    refused = doctor("freeze", "--target", patient.prefix, env={"XDG_STATE_HOME": str(tmp_path / "state")})
    assert (refused.status, refused.stdout) == (3, "")
    assert modes(patient.prefix) == before
    assert not (patient.prefix / "pip.conf").exists()


def test_frozen_twice_is_frozen(frozen, doctor):
    before = modes(frozen.prefix)
    assert doctor("freeze", "--target", frozen.prefix).status == 0
    assert modes(frozen.prefix) == before
    assert doctor("thaw", "--target", frozen.prefix).status == 0
    assert not (frozen.prefix / "pip.conf").exists()


def test_what_is_not_frozen_needs_no_thaw(patient, doctor):
    before = modes(patient.prefix)
    done = doctor("thaw", "--target", patient.prefix)
    assert (done.status, done.stdout) == (0, f"{patient.prefix} is not frozen\n")
    assert modes(patient.prefix) == before
    assert not (patient.prefix / ".envdoctor").exists()


def test_a_frozen_one_can_be_sealed_in_its_place(frozen, doctor):
    assert doctor("seal", "--target", frozen.prefix).stdout.startswith(
        f"sealed {frozen.prefix} in {frozen.prefix}/.envdoctor/"
    )
    assert stat.S_IMODE((frozen.prefix / ".envdoctor").stat().st_mode) & 0o222 == 0
    assert doctor.check(frozen.prefix).findings(PROBE) == []


class TestBypassed:
    def test_by_write_bits_that_were_given_back(self, frozen, doctor):
        (frozen.site / "numpy").chmod(0o755)
        (found,) = doctor.check(frozen.prefix).findings(PROBE)
        assert (found["severity"], found["subject"]) == ("warning", str(frozen.site / "numpy"))
        assert found["remedy"] == [f"envdoctor freeze --target {frozen.prefix}"]
        assert doctor("freeze", "--target", frozen.prefix).status == 0
        assert doctor.check(frozen.prefix).findings(PROBE) == []

    def test_by_a_pip_conf_without_the_line(self, frozen, doctor):
        frozen.prefix.chmod(0o755)
        (frozen.prefix / "pip.conf").unlink()
        frozen.prefix.chmod(0o555)
        (found,) = doctor.check(frozen.prefix).findings(PROBE)
        assert found["subject"] == f"{frozen.prefix}/pip.conf"

    def test_neither_of_which_keeps_a_thaw_from_giving_the_rest_back(self, frozen, doctor):
        (frozen.site / "numpy").chmod(0o755)
        assert doctor("thaw", "--target", frozen.prefix).status == 0
        assert doctor.check(frozen.prefix).report["verdict"] == "healthy"

    def test_by_an_install_which_a_thaw_does_not_call_good(self, frozen, doctor):
        sealed = seal_of(frozen)
        frozen.site.chmod(0o755)
        frozen.install(NEW, at=4_000_000_000)
        before = modes(frozen.prefix)
        refused = doctor("thaw", "--target", frozen.prefix)
        assert refused.status == 1
        assert "sglang 0.5.9" in refused.stdout
        assert refused.stderr == (
            "envdoctor: not thawed: it was changed since the freeze; thaw it as it is with --force, "
            "its old seal then stays\n"
        )
        assert (modes(frozen.prefix), seal_of(frozen)) == (before, sealed)
        forced = doctor("thaw", "--target", frozen.prefix, "--force")
        assert (forced.status, forced.stderr) == (0, "")
        assert seal_of(frozen) == {**sealed, "frozen": False}
        assert frozen.site.stat().st_mode & 0o200
        assert ("packages/foreign", "sglang") in doctor.check(frozen.prefix).said("error", "warning")


def test_a_freeze_that_was_killed_half_way_is_ended_by_a_thaw(frozen, doctor):
    path = frozen.prefix / ".envdoctor/seal.json"
    (frozen.prefix / ".envdoctor").chmod(0o755)
    path.unlink()
    done = doctor("thaw", "--target", frozen.prefix)
    assert done.stdout == f"thawed {frozen.prefix}: write bits and pip.conf are as before the freeze\n"
    assert not path.exists()
    assert frozen.site.stat().st_mode & 0o200
