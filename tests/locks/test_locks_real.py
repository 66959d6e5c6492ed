"""Facts of real projects' locks, counted by hand (grep) in the files themselves."""

from __future__ import annotations

import json
import os
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from packaging.pylock import Pylock
from packaging.tags import cpython_tags

from envdoctor import locks

FOLDER = os.environ.get("ENVDOCTOR_REAL_LOCKS")
pytestmark = pytest.mark.skipif(not FOLDER, reason="ENVDOCTOR_REAL_LOCKS names no directory of real locks")


@cache
def real(name):
    return locks.read(os.path.join(FOLDER, name))


@pytest.mark.parametrize(
    ("name", "packages", "hashes"),
    [
        ("gcm.requirements.txt", 37, 75),
        ("open-instruct.requirements.txt", 367, 0),
        ("odh-dw-th-torch-cuda.requirements.txt", 294, 0),
        ("odh-notebooks.pylock.cuda.toml", 314, 0),
        ("nanochat.uv.lock", 105, 0),
        ("prime-rl.uv.lock", 555, 0),
        ("cleanrl-trxl.poetry.lock", 67, 0),
        ("emote.pdm.lock", 112, 0),
        ("odh-dw-cuda128-torch290.Pipfile.lock", 182, 3034),
    ],
)
def test_every_entry_is_read_without_a_problem(name, packages, hashes):
    lock = real(name)
    prefixed = {"odh-notebooks.pylock.cuda.toml": ["wrong-format"]}  # PEP 751 knows no name before `pylock`
    assert [problem.rule for problem in lock.problems] == prefixed.get(name, [])
    pins = [pin for pin in lock.packages if pin.name]
    assert (len(pins), sum(len(p.hashes) for p in pins)) == (packages, hashes)
    assert all(p.line for p in pins)


def counted(name, text):
    """Count the pins of a lock without our readers."""
    if name.endswith(".txt"):
        return len(re.findall(r"(?m)^(?:[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?\s*(?:==|@ )|-e )", text))
    if name.endswith("Pipfile.lock"):
        return sum(len(packages) for category, packages in json.loads(text).items() if category != "_meta")
    top = tomllib.loads(text)
    return len(top.get("package") or top["packages"])


def test_as_many_pins_as_another_way_of_counting_finds():
    names = sorted(name for name in os.listdir(FOLDER) if not name.endswith(".md"))
    assert len(names) >= 9
    for name in names:
        text = Path(FOLDER, name).read_text()
        assert sum(1 for pin in real(name).packages if pin.name) == counted(name, text), name


@pytest.mark.parametrize(("name", "files"), [("cleanrl-trxl.poetry.lock", 642), ("emote.pdm.lock", 643)])
def test_every_file_of_a_lock_has_its_digest(name, files):
    found = [file for pin in real(name).packages for file in pin.artifacts]
    assert Path(FOLDER, name).read_text().count("{file = ") == files
    assert sum(len(file.hashes) for file in found) == len(found) == files


def test_groups_of_real_locks():
    emote, cleanrl = real("emote.pdm.lock"), real("cleanrl-trxl.poetry.lock")
    assert emote.groups == ("default", "atari", "ci", "docs", "tools", "torch", "wandb")
    assert (emote.unsaid != "", cleanrl.unsaid != "", cleanrl.requires_python) == (True, True, ">=3.10,<4")


@pytest.mark.parametrize(
    ("name", "package", "version", "line"),
    [
        ("gcm.requirements.txt", "omegaconf", "2.3.0", 71),
        ("gcm.requirements.txt", "pydantic", "2.7.4", 135),
        ("open-instruct.requirements.txt", "torch", "2.10.0+cu128", 1199),
        ("open-instruct.requirements.txt", "vllm", "0.19.1", 1373),
        ("open-instruct.requirements.txt", "flash-attn", "2.8.3+cu128torch2.10", 278),
        ("open-instruct.requirements.txt", "ai2-olmo-core", None, 9),
        ("odh-dw-th-torch-cuda.requirements.txt", "torch", "2.11.0", 1039),
        ("odh-dw-th-torch-cuda.requirements.txt", "vllm", "0.21.0+rhaiv.8", 1207),
        ("odh-notebooks.pylock.cuda.toml", "torch", "2.11.0", 1811),
        ("nanochat.uv.lock", "torch", "2.9.1", 2219),
        ("nanochat.uv.lock", "networkx", "3.5", 1166),
        ("prime-rl.uv.lock", "torch", "2.11.0+cu128", 7011),
        ("prime-rl.uv.lock", "transformers", "5.6.2", 7190),
        ("cleanrl-trxl.poetry.lock", "torch", "2.4.1+cu118", 1379),
        ("cleanrl-trxl.poetry.lock", "triton", "3.0.0", 1454),
        ("emote.pdm.lock", "torch", "1.12.0", 1666),
        ("emote.pdm.lock", "google-auth", "2.23.4", 571),
        ("odh-dw-cuda128-torch290.Pipfile.lock", "torch", "2.9.0+cu128", 3569),
        ("odh-dw-cuda128-torch290.Pipfile.lock", "torchvision", "0.24.0", 3603),
    ],
)
def test_pin_for_python_312_on_x86_64_linux(linux, name, package, version, line):
    selection = locks.select(real(name), linux)
    assert (selection.wanted[package].version, selection.wanted[package].line) == (version, line)
    assert selection.conflicting == ()


@pytest.mark.parametrize(
    ("changes", "version"),
    [
        ({}, "2.10.0+cu128"),
        ({"platform_machine": "aarch64"}, "2.10.0+cu130"),
        ({"sys_platform": "darwin", "platform_machine": "arm64"}, "2.10.0"),
    ],
)
def test_universal_export_splits_torch_by_platform(linux, changes, version):
    selection = locks.select(real("open-instruct.requirements.txt"), {**linux, **changes})
    assert [pin.version for pin in selection.allowed["torch"]] == [version]


@pytest.mark.parametrize(
    ("extras", "version", "index"),
    [
        ((), "2.9.1", "https://index.example/simple"),
        (("gpu",), "2.9.1+cu128", "https://download.pytorch.org/whl/cu128"),
        (("cpu",), "2.9.1+cpu", "https://download.pytorch.org/whl/cpu"),
    ],
)
def test_conflicting_extras_of_nanochat_choose_the_torch_build(linux, extras, version, index):
    lock = real("nanochat.uv.lock")
    assert (lock.project, lock.extras, lock.default_groups) == ("nanochat", ("cpu", "gpu"), ("dev",))
    selection = locks.select(lock, linux, extras=extras)
    assert (selection.wanted["torch"].version, selection.wanted["torch"].url) == (version, index)
    # the counts of packages are those of `uv export --frozen` (uv 0.13.9) with the same extras, markers applied
    assert len(selection.wanted) == {(): 92, ("gpu",): 92, ("cpu",): 76}[extras]
    assert {pin.version for pin in selection.allowed["torch"]} == {"2.9.1", "2.9.1+cpu", "2.9.1+cu128"}


@pytest.mark.parametrize(("machine", "wheel"), [("x86_64", "x86_64.whl"), ("aarch64", "aarch64.whl")])
def test_prime_rl_takes_the_wheel_of_the_machine(linux, machine, wheel):
    lock = real("prime-rl.uv.lock")
    assert lock.roots == ("prime-rl",)
    selection = locks.select(lock, {**linux, "platform_machine": machine}, extras=["flash-attn"])
    assert selection.wanted["vllm"].url.endswith(wheel)
    assert selection.wanted["flash-attn"].artifacts[0].name.endswith(wheel)
    assert selection.conflicting == ()


def test_prime_rl_extras_of_the_project_itself(linux):
    lock = real("prime-rl.uv.lock")
    plain, full = (locks.select(lock, linux, extras=extras).wanted for extras in ((), ("all",)))
    assert {"flash-attn", "deep-gemm", "vllm-router"} & set(plain) == set()
    assert {"flash-attn", "deep-gemm", "vllm-router"} <= set(full)
    assert "mamba-ssm" not in full
    assert "mamba-ssm" in locks.select(lock, linux, groups=["mamba-ssm"]).wanted


def test_pylock_selection_is_packagings(linux):
    lock = real("odh-notebooks.pylock.cuda.toml")
    with open(lock.path, "rb") as stream:
        pylock = Pylock.from_dict(tomllib.load(stream))
    tags = list(cpython_tags((3, 12), platforms=["linux_x86_64"]))
    tags += [tag for tag in _pure_tags() if tag not in tags]
    chosen = {package.name: str(package.version) for package, _ in pylock.select(environment=linux, tags=tags)}
    assert {name: pin.version for name, pin in locks.select(lock, linux).wanted.items()} == chosen


def _pure_tags():
    from packaging.tags import compatible_tags

    return compatible_tags((3, 12), "cp312", ["linux_x86_64"])
