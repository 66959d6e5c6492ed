"""Which files the pre-commit hook takes for locks."""

import re
from pathlib import Path

import pytest

HOOKS = Path(__file__).parent.parent / ".pre-commit-hooks.yaml"
FILES = re.compile(re.search(r"^  files: '(.*)'$", HOOKS.read_text(encoding="utf-8"), re.MULTILINE)[1])


@pytest.mark.parametrize(
    "name",
    [
        "pylock.toml",
        "pylock.cuda.toml",
        "deploy/pylock.toml",
        "uv.lock",
        "a/uv.lock",
        "poetry.lock",
        "a/pdm.lock",
        "Pipfile.lock",
        "lockfiles/train-cu128.txt",
        "a/lockfiles/train.txt",
        "requirements.lock.txt",
        "requirements-lock.txt",
        "requirements/requirements-cu128.lock.txt",
        "requirements_lock_cuda.txt",
        "requirements-locked.txt",
    ],
)
def test_a_lock_is_audited(name):
    assert FILES.search(name)


@pytest.mark.parametrize(
    "name",
    [
        "requirements.txt",
        "requirements-dev.txt",
        "requirements/base.txt",
        "requirements.lock.in",
        "requirements-unlocked.txt",
        "requirements-blocklist.txt",
        "lockfiles/train.in",
        "lockfiles/README.md",
        "my-lockfiles/notes.txt",
        "pyproject.toml",
        "pylock.a.b.toml",
        "not-pylock.toml",
        "pylock.toml.bak",
        "juv.lock",
        "uv.lock.d/notes.txt",
    ],
)
def test_what_is_no_lock_by_its_name_is_left_alone(name):
    assert not FILES.search(name)
