"""What a lock was compiled from."""

from dataclasses import replace

import pytest

from envdoctor.facts import lock_source
from envdoctor.facts.lock_source import named_inputs
from envdoctor.locks import read
from envdoctor.model import LockHeader, LockInput, Target, Unavailable

PROJECT = """
[project]
name = "Trainer"
dependencies = ["torch>=2.9", "six"]
[project.optional-dependencies]
gpu = ["triton"]
[dependency-groups]
dev = ["pytest", { include-group = "docs" }]
[tool.uv]
override-dependencies = ["six==1.16"]
"""


@pytest.fixture
def lock(tmp_path):
    def lock(command="", text="six==1.17.0\n", name="requirements.txt", **header):
        (tmp_path / name).write_text(text)
        return replace(read(str(tmp_path / name)), header=LockHeader("pip-compile", command, **header))

    return lock


@pytest.mark.parametrize(
    ("command", "inputs"),
    [
        ("pip-compile --generate-hashes --output-file=requirements.txt pyproject.toml", ["pyproject.toml"]),
        ("uv pip compile a.in b.in -o requirements.txt -c constraints.txt --overrides o.txt", ["a.in", "b.in"]),
        ("uv pip compile --constraint c.txt --build-constraints b.txt req.in", ["req.in"]),
        ("pip-compile 'unclosed", []),
    ],
)
def test_the_command_names_inputs(lock, command, inputs):
    assert list(named_inputs(lock(command))) == inputs


def test_recorded_digests_and_askers_name_them_too(lock):
    assert list(named_inputs(lock("pip-compile a.in", inputs=(LockInput("b.in", "0"),)))) == ["b.in"]
    found = lock()
    asked = replace(found, packages=(replace(found.packages[0], via=("-r c.in", "torch")),))
    assert list(named_inputs(asked)) == ["c.in"]


def test_requirements_are_read_with_their_lines(lock, tmp_path):
    (tmp_path / "a.in").write_text("# needs\n\ntorch>=2.9 ; os_name == 'posix'\n-c x.txt\n")
    (item,) = lock_source.collect(Target("", ""), None, lock("pip-compile a.in")).inputs
    assert (item.name, item.path, len(item.digest)) == ("a.in", str(tmp_path / "a.in"), 64)
    assert [(wanted.name, wanted.text, wanted.line) for wanted in item.wanted] == [
        ("torch", "torch>=2.9 ; os_name == 'posix'", 3)
    ]


def test_a_project_and_its_groups_without_what_uv_overrides(lock, tmp_path):
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (item,) = lock_source.collect(Target("", ""), None, lock("pip-compile pyproject.toml")).inputs
    assert [(wanted.name, wanted.group) for wanted in item.wanted] == [
        ("torch", ""),
        ("triton", "extra:gpu"),
        ("pytest", "group:dev"),
        ("trainer", "project"),
    ]


def test_code_says_nothing_but_its_digest(lock, tmp_path):
    (tmp_path / "setup.py").write_text("from setuptools import setup\nsetup()\n")
    (item,) = lock_source.collect(Target("", ""), None, lock("pip-compile setup.py")).inputs
    assert (item.wanted, len(item.digest)) == ((), 64)


@pytest.mark.parametrize(
    ("command", "said"), [("", "does not say"), ("pip-compile ../x.in", "not there"), ("pip-compile x.in", "not there")]
)
def test_what_is_not_at_hand_is_not_looked_at(lock, command, said):
    found = lock_source.collect(Target("", ""), None, lock(command))
    assert isinstance(found, Unavailable)
    assert said in found.reason


POETRY = """
[tool.poetry]
name = "trainer"
[tool.poetry.dependencies]
python = "^3.10"
torch = "^2.9"
six = {version = ">=1,<2 || >=3", markers = "os_name == 'nt'"}
triton = {version = "*", optional = true}
[tool.poetry.extras]
gpu = ["triton"]
[tool.poetry.group.dev.dependencies]
pytest = "*"
"""
PIPFILE = """
[[source]]
name = "pypi"
url = "https://index.example/simple"
[packages]
torch = {version = ">=2.9", extras = ["x"]}
[dev-packages]
pytest = "*"
[requires]
python_version = "3.12"
"""
LOCKS = {
    "poetry.lock": '[metadata]\nlock-version = "2.1"\n',
    "pdm.lock": '[metadata]\nlock_version = "4.5"\n',
    "Pipfile.lock": '{"_meta": {"pipfile-spec": 6}}',
}


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("poetry.lock", POETRY, ["torch>=2.9,<3", "six ; os_name == 'nt'", "triton", "pytest", "trainer"]),
        ("pdm.lock", PROJECT, ["torch>=2.9", "triton", "pytest", "Trainer"]),
        ("Pipfile.lock", PIPFILE, ["torch[x]>=2.9", "pytest"]),
    ],
)
def test_the_project_beside_a_lock_of_its_tool(name, text, wanted, tmp_path):
    (tmp_path / name).write_text(LOCKS[name])
    (tmp_path / ("Pipfile" if name == "Pipfile.lock" else "pyproject.toml")).write_text(text)
    found = lock_source.collect(Target("/v", "/v/bin/python"), None, read(str(tmp_path / name)))
    assert [item.text for item in found.inputs[0].wanted] == wanted
    assert {item.group for item in found.inputs[0].wanted if item.name == "pytest"} < {
        "group:dev",
        "group:dev-packages",
    }
