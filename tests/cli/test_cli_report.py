"""`report --html` by the real command line."""

import os
import stat
from pathlib import Path

import pytest
from pages import harmless
from weeks import BEGIN, record_weeks


@pytest.fixture
def state(doctor, patient):
    path = Path(doctor.home, ".local/state/envdoctor", f"{os.uname().nodename}.sqlite")
    path.parent.mkdir(parents=True, mode=0o700)
    record_weeks(path, str(patient.prefix), os.uname().nodename, until=BEGIN.replace(day=3), hostile=True)
    return path


def test_a_page_is_written_for_its_owner_alone(doctor, patient, state):
    patient.delete("transformers/models.py")
    done = doctor("report", "--html", "r.html", "--target", patient.prefix)
    assert (done.status, done.stdout, done.stderr) == (0, "", "")
    written = doctor.folder / "r.html"
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    found = harmless(written.read_text(encoding="utf-8"))
    text = found.text()
    for said in ("SICK", "models.py", "Compared with the run of 2 Jun 2026", "sglang 0.5.9 is not in train.txt"):
        assert said in text
    assert [name for name in os.listdir(doctor.folder) if "r.html" in name] == ["r.html"]


def test_standard_output_is_the_page_alone_and_one_run_is_said(doctor, patient):
    done = doctor("report", "--html", "-", "--target", patient.prefix)
    assert (done.status, done.stderr) == (0, "")
    assert "No earlier run is remembered" in harmless(done.stdout).text()


def test_since_is_an_age_or_a_date(doctor, patient, state):
    done = doctor("report", "--html", "-", "--target", patient.prefix, "--since", "2026-06-02T12:00Z")
    assert "Only what was seen since 2026-06-02 12:00 UTC is shown." in harmless(done.stdout).text()
    wrong = doctor("report", "--html", "-", "--target", patient.prefix, "--since", "yesterday")
    assert (wrong.status, wrong.stdout) == (2, "")


def test_a_history_that_cannot_be_read_is_said_on_the_page_and_by_the_status(doctor, patient, state):
    state.write_bytes(b"x" * 5000)
    done = doctor("report", "--html", "r.html", "--target", patient.prefix)
    assert done.status == 3
    assert "The history could not be read" in done.stderr
    assert "The history could not be read" in harmless((doctor.folder / "r.html").read_text()).text()
    assert state.read_bytes() == b"x" * 5000


def test_what_is_no_file_is_left_alone(doctor, patient):
    (doctor.folder / "there").mkdir()
    done = doctor("report", "--html", "there", "--target", patient.prefix)
    assert (done.status, done.stderr) == (2, "envdoctor: --html: there is there and is no file\n")
    assert doctor("report", "--target", patient.prefix).status == 2
