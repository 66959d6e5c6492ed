"""`envdoctor cache status`, `cache accept`, and the marks that checks raise."""

import shutil

import pytest
from cachetrees import inductor
from patients import Patient, Wheel

TORCH = Wheel(
    "torch", "2.11.0", {"torch/__init__.py": "", "torch/version.py": "__version__ = '2.11.0+cu130'\ncuda = '13.0'\n"}
)


@pytest.fixture
def patient(tmp_path):
    found = Patient(tmp_path / "project")
    found.install(TORCH, requested=True)
    return found


@pytest.fixture
def cache(tmp_path):
    return inductor(tmp_path / "cache", cuda_0=4, cuda_1=4)


@pytest.fixture
def ask(doctor, patient, cache):
    """Run a command on the patient with that cache."""

    def run(*words, **options):
        variables = {"TORCHINDUCTOR_CACHE_DIR": str(cache)} | options.pop("env", {})
        return doctor(*words, "--target", patient.prefix, env=variables, **options)

    return run


def judged(ask, *options):
    answer = ask("check", "--select", "cache/missing", "--select", "cache/shrunken", "--format", "json", *options)
    return [(finding["probe"], finding["severity"]) for finding in answer.findings()]


def states(doctor):
    return list(doctor.home.rglob("*.sqlite"))


def test_status_names_places_counts_devices_and_makers(ask, cache):
    answer = ask("cache", "status")
    assert (answer.status, answer.stderr) == (0, "")
    for said in (
        f"{cache} (TORCHINDUCTOR_CACHE_DIR)",
        "8 aotautograd, 8 fxgraph keys; 24 files",
        "torch 2.11.0+cu130 (8)",
        "cuda:1          4 aotautograd, 4 fxgraph, 4 py",
        "torch_extensions",
        "marks:\n  in all          8 aotautograd, 8 fxgraph",
    ):
        assert said in answer.stdout


def test_status_as_json(ask, cache):
    report = ask("cache", "status", "--format", "json").report
    found = report["caches"][0]
    assert (report["schema"], found["place"]["path"], found["keys"]["fxgraph"]) == (1, str(cache), 8)
    assert {"kind": "fxgraph", "device": "cuda:1", "keys": 4} in report["counts"]
    assert {mark["device"] for mark in report["marks"]} == {"", "cuda:0", "cuda:1"}
    assert "cache/missing" in report["passed"]


def test_a_cache_that_is_warmed_on_one_device_alone_has_shrunk_until_that_is_accepted(ask, cache):
    assert judged(ask) == []
    shutil.rmtree(cache)
    assert judged(ask) == [("cache/missing", "warning")]
    inductor(cache, cuda_0=4)
    assert judged(ask) == [("cache/shrunken", "warning")]
    assert judged(ask) == [("cache/shrunken", "warning")], "the mark stays"
    accepted = ask("cache", "accept")
    assert accepted.status == 0
    assert "marks:\n  in all          4 aotautograd, 4 fxgraph" in accepted.stdout
    assert judged(ask) == []


def test_without_state_nothing_is_written_and_a_gone_cache_is_a_note(ask, cache, doctor):
    assert judged(ask, "--no-state") == []
    ask("cache", "status", "--no-state")
    assert states(doctor) == []
    shutil.rmtree(cache)
    assert judged(ask, "--no-state") == [("cache/missing", "note")]


def test_a_damaged_state_is_set_aside_and_said(ask, doctor):
    judged(ask)
    (path,) = states(doctor)
    path.write_bytes(b"x" * 4096)
    answer = ask("check", "--select", "cache/shrunken")
    assert "was damaged" in answer.stdout
    assert len(list(path.parent.glob("*.damaged-*"))) == 1
    assert "was damaged" not in ask("check", "--select", "cache/shrunken").stdout


def test_a_state_that_cannot_be_written_is_said_and_changes_no_verdict(ask, doctor):
    (doctor.home / ".local").write_text("")
    answer = ask("check", "--select", "cache/missing")
    assert answer.status == 0
    assert "marks of caches" in answer.stdout
    assert ask("cache", "accept").status == 3


def test_a_target_without_torch_has_no_caches(doctor, tmp_path):
    bare = Patient(tmp_path / "bare")
    answer = doctor("cache", "status", "--target", bare.prefix)
    assert answer.status == 0
    assert "torch is not installed" in answer.stdout
    assert doctor("cache", "accept", "--target", bare.prefix).status == 3


def test_a_cache_below_a_root_is_counted_as_files(doctor, tmp_path):
    """It is where a job without variables would have it: those of the caller are not the image's."""
    image = tmp_path / "img"
    inductor(image / "tmp/torchinductor_root", cpu=2)
    target = Patient(image / "opt")
    target.install(TORCH)
    env = {"TORCHINDUCTOR_CACHE_DIR": "/elsewhere"}
    report = doctor("cache", "status", "--root", image, "--target", target.prefix, "--format", "json", env=env).report
    assert report["caches"][0]["keys"] == {"aotautograd": 2, "fxgraph": 2}
    assert "cache/not-writable" in [skipped["probe"] for skipped in report["skipped"]]
    assert report["marks"] == []
