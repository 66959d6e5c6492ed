"""Only allowed variables are taken, and never a secret."""

import pytest

from envdoctor import knowledge
from envdoctor.facts import variables
from envdoctor.model import Target
from envdoctor.system.host import LocalHost


def taken(**env):
    return variables.collect(Target("/env", "/env/bin/python"), LocalHost(env=env, cwd="/")).values


@pytest.mark.parametrize(
    "name",
    [
        "PYTHONPATH",
        "PIP_USER",
        "UV_INDEX_URL",
        "LD_LIBRARY_PATH",
        "CUDA_HOME",
        "TORCHINDUCTOR_CACHE_DIR",
        "TRITON_CACHE_DIR",
        "TORCH_CUDA_ARCH_LIST",
        "NCCL_DEBUG",
        "SLURM_JOB_ID",
        "OMP_NUM_THREADS",
        "VIRTUAL_ENV",
        "TMPDIR",
        "HF_HOME",
    ],
)
def test_what_bears_on_the_environment_is_taken(name):
    assert taken(**{name: "1"}) == {name: "1"}


@pytest.mark.parametrize("row", knowledge.rows("guards"), ids=lambda row: row["variable"])
def test_every_guard_variable_is_taken(row):
    assert row["variable"] in taken(**{row["variable"]: "1"})


@pytest.mark.parametrize(
    "name",
    [
        "HOME",
        "USER",
        "SLURM_JOB_USER",
        "HF_TOKEN",
        "PIP_TOKEN",
        "UV_PUBLISH_PASSWORD",
        "UV_INDEX_MINE_USERNAME",
        "PIP_PROXY",
        "NCCL_SECRET",
        "CUDA_API_KEY",
        "PYTHON_KEYRING_BACKEND",
        "TORCHX_AUTH",
        "AWS_ACCESS_KEY_ID",
        "WANDB_API_KEY",
    ],
)
def test_private_and_secret_variables_are_not(name):
    assert taken(**{name: "x"}) == {}


def test_credentials_in_urls_are_redacted():
    values = taken(PIP_EXTRA_INDEX_URL="https://me:pw@index.example/simple?token=abc")
    assert values == {"PIP_EXTRA_INDEX_URL": "https://****@index.example/simple?****"}


def test_whatever_an_index_calls_its_key_is_hidden():
    env = {"PIP_FIND_LINKS": "https://index.example/simple?access=hunter2&x=1#top /srv", "TORCH_HOME": "/a?b=c"}
    assert taken(**env) == {
        "PIP_FIND_LINKS": "https://index.example/simple?****#top /srv",
        "TORCH_HOME": "/a?b=c",
    }
