"""envdoctor.toml and [tool.envdoctor]: every key acts, and a mistake is told with file and line."""

import pytest

FOREIGN = "einops-0.8.1.dist-info/METADATA"


@pytest.fixture
def contaminated(patient):
    patient.add(FOREIGN, "Metadata-Version: 2.1\nName: einops\nVersion: 0.8.1\n")
    patient.add("einops-0.8.1.dist-info/RECORD", f"{FOREIGN},,\n")
    return patient


def configure(patient, text, name="envdoctor.toml"):
    path = patient.folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("allow = [\n", 2, "TOML"),
        ("\n\nalow = ['x']\n", 3, "alow"),
        ("groups = ['a']\nallow = 'x'\n", 2, "allow"),
        ("[severity]\n'packages/foreign' = 'fatal'\n", 2, "fatal"),
        ("\n[[mute]]\nprobe = 'packages/foreign'\n", 2, "why"),
    ],
)
def test_mistake_in_the_configuration_is_one_line_with_its_place(text, line, said, patient, doctor):
    path = configure(patient, text)
    answer = doctor("check", "--target", patient.prefix)
    assert (answer.status, answer.stdout) == (2, "")
    assert answer.stderr.startswith(f"envdoctor: {path}:{line}: ")
    assert said in answer.stderr
    assert answer.stderr.count("\n") == 1


MUTE = "mute = [{probe = 'packages/foreign', subject = 'einops', why = 'plots', until = %s}]\n"


def test_muted_finding_is_counted_and_no_longer_fails(contaminated, doctor):
    path = configure(contaminated, MUTE % "2999-01-01")
    answer = doctor.check(contaminated.prefix, "--fail-on", "warning")
    assert answer.status == 0
    assert [(f["probe"], f["subject"]) for f in answer.report["muted"]] == [("packages/foreign", "einops")]
    assert answer.report["config"] == str(path)
    assert f"muted    1 of packages/foreign, by {path}" in doctor("check", "--target", contaminated.prefix).stdout


def test_expired_mute_warns_and_hides_nothing(contaminated, doctor):
    configure(contaminated, MUTE % "2020-01-01")
    answer = doctor.check(contaminated.prefix)
    assert answer.said("warning") == {("packages/foreign", "einops"), ("policy/expired-mute", "packages/foreign")}
    assert answer.report["muted"] == []


@pytest.mark.parametrize(
    ("name", "text", "status", "said"),
    [
        ("envdoctor.toml", "", 0, {("packages/foreign", "einops", "warning")}),
        ("envdoctor.toml", "allow = ['Einops']\n", 0, set()),
        ("envdoctor.toml", "allow = ['Ein*']\n", 0, set()),
        ("pyproject.toml", "allow = ['Einops']\n", 0, set()),
        ("envdoctor.toml", "severity = {'packages/foreign' = 'error'}\n", 1, {("packages/foreign", "einops", "error")}),
    ],
)
def test_allow_and_severity_act(name, text, status, said, contaminated, doctor):
    configure(contaminated, f"[tool.envdoctor]\n{text}" if name == "pyproject.toml" else text, name)
    answer = doctor.check(contaminated.prefix)
    assert answer.status == status
    assert {(f["probe"], f["subject"], f["severity"]) for f in answer.findings()} == said


@pytest.mark.parametrize("name", ["packages/foriegn", "packagse", "foreign", "packages/foreign/x"])
@pytest.mark.parametrize("text", ["severity = {'%s' = 'note'}\n", "mute = [{probe = '%s', why = 'known'}]\n"])
def test_unknown_probe_is_a_usage_error_and_not_a_rule_without_effect(text, name, contaminated, doctor):
    path = configure(contaminated, text % name)
    answer = doctor("check", "--target", contaminated.prefix)
    assert (answer.status, answer.stdout) == (2, "")
    assert answer.stderr.startswith(f"envdoctor: {path}: ")
    assert repr(name) in answer.stderr


def test_target_and_lock_may_be_configured(contaminated, doctor, tmp_path):
    (contaminated.folder / "requirements.txt").rename(contaminated.folder / "train.lock")
    config = configure(contaminated, "target = '.venv'\nlock = 'train.lock'\n")
    answer = doctor("check", "--format", "json", "--config", config, cwd=tmp_path)
    assert answer.report["target"]["prefix"] == str(contaminated.prefix)
    assert answer.report["target"]["lock"] == str(contaminated.folder / "train.lock")
