"""Whatever holds a secret in an environment, no report repeats it and no seal keeps it."""

import stat

import pytest
from patients import Patient, Wheel

from envdoctor import seals
from envdoctor.reports import json, text

SECRET = "S3CRETs3cret"
SIX = Wheel("six", "1.17.0", {"six.py": ""})
REQUIREMENTS = (f"seven @ https://me:{SECRET}@index.example/seven.whl", f"eight @@ https://{SECRET}@index.example/")
STARTUP = {
    "assigned.pth": f"""import os; os.environ["API_KEY"] = "{SECRET}"; HF_TOKEN='{SECRET}'\n""",
    "address.pth": f"import x; x.load('https://{SECRET}@index.example/a?b=1&access_token={SECRET}')\n",
}


@pytest.fixture
def patient(tmp_path):
    patient = Patient(tmp_path)
    patient.install(SIX, requested=True)
    return patient


def test_no_report_repeats_a_secret_of_the_environment(patient):
    for number, requirement in enumerate(REQUIREMENTS):
        patient.install(Wheel(f"app{number}", "1", {f"app{number}.py": ""}, (requirement,)))
    address = f"https://index.example/direct.whl?access_token={SECRET}"
    patient.install(Wheel("direct", "1", {"direct.py": ""}), direct_url={"url": address, "archive_info": {}})
    for name, line in STARTUP.items():
        patient.add(name, line)
    report = patient.check()
    rendered = json.render(report) + text.render(report)
    assert SECRET not in rendered
    hidden = {finding.subject.rpartition("/")[2] for _, finding in report.findings() if "****" in str(finding)}
    assert hidden == {"app0", "app1", "direct", *STARTUP}, "what holds a secret is reported all the same"


def test_a_secret_in_the_lock_is_neither_repeated_nor_kept_by_a_seal(patient):
    lock = patient.folder / "requirements.txt"
    patient.lock([SIX])
    lock.write_text(f"--extra-index-url https://me:{SECRET}@index.example/simple\n" + lock.read_text())
    done = patient.seal(lock=str(lock))
    folder = patient.prefix / ".envdoctor"
    assert SECRET not in json.render(done.report) + text.render(done.report)
    assert [path.name for path in folder.iterdir() if SECRET in path.read_text()] == []
    copy = folder / seals.read(str(patient.prefix)).lock_name
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert "--extra-index-url https://****@index.example/simple\nsix==1.17.0" in copy.read_text()


def test_what_is_named_for_a_secret_and_is_none_is_kept(patient):
    lock = patient.lock([SIX, Wheel("tokenizers", "0.22.1"), Wheel("secret", "1"), Wheel("token", "2")])
    done = patient.seal(lock=lock, force=True)
    assert " tokenizers==0.22.1\n" in text.render(done.report)
    copy = patient.prefix / ".envdoctor" / seals.read(str(patient.prefix)).lock_name
    assert copy.read_text() == (patient.folder / "requirements.txt").read_text()


@pytest.mark.parametrize("content", [f"root:{SECRET}:20000:0:99999\nx {SECRET}\n", f"{SECRET}\n"], ids=["list", "word"])
def test_a_link_to_a_file_of_somebody_elses_shows_nothing_of_it(content, patient):
    (patient.folder / "private").write_text(content)
    linked = ("INSTALLER", "METADATA", "RECORD", "WHEEL", "direct_url.json", "top_level.txt", "entry_points.txt")
    for number, name in enumerate(linked):
        info = patient.install(Wheel(f"app{number}", "1", {f"app{number}.py": ""}))
        (info / name).unlink(missing_ok=True)
        (info / name).symlink_to(patient.folder / "private")
    report = patient.check(lock=patient.lock([SIX]))
    assert SECRET not in json.render(report) + text.render(report)
    foreign = {finding.subject for probe, finding in report.findings() if probe == "packages/foreign"}
    assert foreign == {f"app{number}" for number in range(len(linked))}
