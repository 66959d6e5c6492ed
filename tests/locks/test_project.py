"""What a pyproject.toml asks for."""

import tomllib

import pytest

from envdoctor.locks import project
from envdoctor.locks.project import Wish


def parsed(text):
    return project.parse(tomllib.loads(text))


def test_standard_tables():
    found = parsed(
        """
        [project]
        name = "My_App"
        dependencies = ["Torch[opt]>=2,<3 ; os_name == 'posix'", "not a requirement", 3]
        [project.optional-dependencies]
        GPU = ["triton"]
        [dependency-groups]
        dev = ["pytest", {include-group = "docs"}, {other = 1}]
        docs = [{include-group = "dev"}]
        """
    )
    assert (found.name, found.groups) == ("my-app", ("dev", "docs"))
    assert found.wishes == (
        Wish("torch", "<3,>=2", 'os_name == "posix"', ("opt",)),
        Wish("triton", when=("extra:gpu",)),
        Wish("pytest", when=("group:dev",)),
        Wish("pytest", when=("group:docs",)),
    )


def test_poetrys_tables():
    found = parsed(
        """
        [tool.poetry]
        name = "app"
        [tool.poetry.dependencies]
        python = "^3.9"
        a = "^1.2"
        b = {version = "*", extras = ["X"], markers = "os_name == 'nt'", python = "<3.11"}
        c = [{version = "1"}, {path = "../c", platform = "darwin"}]
        d = {git = "https://h.example/d", optional = true}
        e = {version = "*", optional = true}
        [tool.poetry.extras]
        all = ["d", "a"]
        [tool.poetry.dev-dependencies]
        f = "*"
        [tool.poetry.group.docs]
        optional = true
        [tool.poetry.group.docs.dependencies]
        g = "*"
        """
    )
    assert (found.groups, found.optional_groups) == (("docs", "dev"), ("docs",))
    assert found.wishes == (
        Wish("a", "^1.2"),
        Wish("b", "*", "(os_name == 'nt') and (python_version < \"3.11\")", ("x",)),
        Wish("c", "1"),
        Wish("c", "*", 'sys_platform == "darwin"'),
        Wish("d", when=("extra:all",)),
        Wish("f", when=("group:dev",)),
        Wish("g", when=("group:docs",)),
    )


def test_poetrys_dependencies_only_say_more_of_standard_ones():
    text = '[project]\ndependencies = ["a"]\n[tool.poetry.dependencies]\nb = "*"\n'
    assert parsed(text).wishes == (Wish("a"),)


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        (Wish("a"), "a"),
        (Wish("a", "^1.2", "os_name == 'nt'", ("x", "y")), "a[x,y]>=1.2,<2 ; os_name == 'nt'"),
        (Wish("a", "<1 || >=2"), "a"),
        (Wish("a", "nonsense^"), "a"),
    ],
)
def test_a_wish_as_a_requirement(wish, text):
    assert wish.text == text


@pytest.mark.parametrize(
    "text",
    ["project = 1", "tool = [1]", "[tool]\npoetry = 1", "[tool.poetry]\ndependencies = 3\ngroup = [1]\nextras = 1",
     "dependency-groups = {a = 1, b = [1, {include-group = 1}]}", "[tool.pdm]\ndev-dependencies = {a = 1}",
     "[tool.poetry.dependencies]\n'-' = 1\na = 1\nb = [1, {version = 1, extras = 1, python = 1, markers = 1}]"],
)  # fmt: skip
def test_odd_shapes_are_passed_over(text):
    assert {wish.constraint for wish in parsed(text).wishes} <= {"*"}


@pytest.mark.parametrize("text", ["broken", "[project]\nname = '\xff'", None])
def test_a_file_that_cannot_be_read_is_none(tmp_path, text):
    if text is not None:
        (tmp_path / "pyproject.toml").write_bytes(text.encode("latin-1"))
    assert project.beside(str(tmp_path / "poetry.lock")) is None
