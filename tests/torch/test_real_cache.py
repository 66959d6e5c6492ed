"""A compile cache that a real inductor made is whole; each damage done to it is found, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from envdoctor.facts.cache_entries import damaged

pytestmark = pytest.mark.torch

STEP = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.Linear(8, 4))
torch.compile(model)(torch.randn(4, 8)).sum().backward()
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make the cache once: a step forward and backward."""
    cache = tmp_path_factory.mktemp("inductor") / "cache"
    python = Path(os.environ["ENVDOCTOR_TORCH_TARGET"], "bin", "python")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("TORCH", "TRITON", "PYTHON"))}
    argv = [python, "-W", "ignore", "-c", STEP]
    subprocess.run(argv, check=True, capture_output=True, env=env | {"TORCHINDUCTOR_CACHE_DIR": str(cache)})
    return cache


@pytest.fixture
def cache(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "cache"))


def found(cache):
    damage = damaged(str(cache), limit_files=10_000, limit_bytes=256 << 20, deadline=30)
    assert damage.complete
    return [(Path(item.path).relative_to(cache), item.kind) for item in damage.entries]


def first(cache, pattern):
    return min(path for path in cache.glob(pattern) if path.is_file()).relative_to(cache)


def test_the_cache_is_whole(made):
    assert damaged(str(made), limit_files=10_000, limit_bytes=256 << 20, deadline=30).checked > 10
    assert found(made) == []


@pytest.mark.parametrize(
    ("pattern", "damage", "kind"),
    [
        ("fxgraph/*/*/*", lambda _: b"", "empty"),
        ("aotautograd/*/*", lambda _: b"", "empty"),
        ("??/*.py", lambda _: b"", "empty"),
        ("??/*.py", lambda data: data[: len(data) // 2] + b"(", "not-python"),
        ("??/*.py", lambda _: bytes(range(256)), "not-python"),
        ("??/*.so", lambda _: b"", "empty"),
        ("??/*.so", lambda data: data[: len(data) // 2], "truncated-elf"),
        ("??/*.so", lambda data: data[:-1], "truncated-elf"),
        ("??/*.so", lambda _: b"garbage" * 100, "not-elf"),
    ],
)
def test_each_damage_is_found_and_nothing_else(cache, pattern, damage, kind):
    name = first(cache, pattern)
    (cache / name).write_bytes(damage((cache / name).read_bytes()))
    assert found(cache) == [(name, kind)]


def test_an_empty_source_is_damage_once_its_library_is_gone(cache):
    source = first(cache, "??/*.main.cpp")
    (cache / source).write_bytes(b"")
    assert found(cache) == []
    (cache / source).with_suffix(".so").unlink()
    assert found(cache) == [(source, "empty")]


def test_what_torch_rebuilds_by_itself_is_no_damage(cache):
    for pattern in ("??/*.py", "??/*.so", "fxgraph/*/*/*"):
        (cache / first(cache, pattern)).unlink()
    assert found(cache) == []
