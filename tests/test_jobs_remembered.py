"""What a check remembers of its job: allowed variables without secrets, and none of one rank or job."""

import os

from fakes import FakeHost
from values import TARGET

from envdoctor import jobs
from envdoctor.facts import variables
from envdoctor.model import Target, Unavailable
from envdoctor.snapshot import Snapshot
from envdoctor.state import environments
from envdoctor.state.values import Subject

SECRET = "hunter2"
ENV = {
    "CUDA_HOME": "/usr/local/cuda",
    "PIP_INDEX_URL": f"https://me:{SECRET}@index.example/simple",
    "PIP_PASSWORD": SECRET,
    "HF_TOKEN": SECRET,
    "EDITOR": "vi",
    "SLURM_JOB_ID": "4711",
    "RANK": "3",
}


def remembered(folder, target=TARGET, **env):
    host = FakeHost(env={"XDG_STATE_HOME": str(folder), **ENV, **env})
    write = jobs.environment(Snapshot(variables=variables.collect(target, host)), target, host)
    assert write() is None
    return environments.last(f"{folder}/envdoctor/node7.sqlite", Subject("node7", str(os.geteuid()), TARGET.prefix))


def test_only_what_is_allowed_and_lasts_is_kept_and_nothing_secret(tmp_path):
    moment, kept = remembered(tmp_path)
    assert moment == FakeHost().now()
    assert kept == {
        "CUDA_HOME": "/usr/local/cuda",
        "PIP_INDEX_URL": "https://****@index.example/simple",
        "XDG_STATE_HOME": str(tmp_path),
    }
    with open(tmp_path / "envdoctor/node7.sqlite", "rb") as stream:
        assert SECRET.encode() not in stream.read()


def test_another_job_of_the_same_kind_writes_nothing(tmp_path):
    remembered(tmp_path)
    before = os.stat(tmp_path / "envdoctor/node7.sqlite").st_mtime_ns
    remembered(tmp_path, SLURM_JOB_ID="4712", RANK="4", MASTER_PORT="29501")
    assert os.stat(tmp_path / "envdoctor/node7.sqlite").st_mtime_ns == before


def test_a_generation_is_remembered_under_its_link(tmp_path):
    once = Target("/env.generations/1", "/env.generations/1/bin/python", superseded=TARGET.prefix)
    assert remembered(tmp_path, once) is not None


def test_variables_that_are_not_known_are_not_remembered():
    assert jobs.environment(Snapshot(variables=Unavailable("--root")), TARGET, FakeHost()) is None


def test_where_nothing_can_be_written_the_check_goes_on_without_a_word(tmp_path):
    (tmp_path / "file").write_text("")
    host = FakeHost(env={"XDG_STATE_HOME": str(tmp_path / "file")})
    assert jobs.environment(Snapshot(variables=variables.collect(TARGET, host)), TARGET, host)() is None
