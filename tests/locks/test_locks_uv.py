from __future__ import annotations

import pytest

from envdoctor.model import Artifact, LockedDependency, LockProblem

H1 = "sha256:" + "1" * 64
INDEX = "https://index.example/simple"
TIME, POSIX = "2026-01-02T03:04:05Z", "os_name == 'posix'"
HEAD = 'version = 1\nrevision = 3\nrequires-python = ">=3.11"\n'
LOCK = f"""\
{HEAD}supported-markers = ["sys_platform == 'linux'"]
some-later-key = {{ a = 1 }}

[[package]]
name = "trainer"
version = "0.1.0"
source = {{ editable = "." }}
dependencies = [
    {{ name = "Torch", version = "2.9.1", source = {{ registry = "{INDEX}" }}, extra = ["Opt_E"], marker = "{POSIX}" }},
]

[package.optional-dependencies]
GPU = [{{ name = "triton" }}]

[package.dev-dependencies]
dev = [{{ name = "pytest" }}]

[package.metadata]
provides-extras = ["gpu", "empty"]

[package.metadata.requires-dev]
dev = [{{ name = "pytest" }}]
docs = []

[[package]]
name = "torch"
version = "2.9.1"
source = {{ registry = "https://u:p@index.example/simple" }}
resolution-markers = ["python_full_version >= '3.12'", "python_full_version < '3.12'"]
sdist = {{ url = "https://files.example/torch-2.9.1.tar.gz", hash = "{H1}", size = 3, upload-time = "{TIME}" }}
wheels = [
    {{ url = "https://files.example/torch-2.9.1%2Bx-py3-none-any.whl", hash = "{H1}" }},
    {{ path = "torch-2.9.1-py3-none-any.whl" }},
]

[[package]]
name = "triton"
version = "3"
source = {{ url = "https://files.example/triton-3-py3-none-any.whl" }}
wheels = [{{ url = "https://files.example/triton-3-py3-none-any.whl", hash = "sha256:xyz" }}]

[[package]]
name = "pytest"
source = {{ git = "https://h.example/pytest?rev=main#{"a" * 40}" }}
"""


def package(name, source='{ registry = "https://index.example/simple" }', **rest):
    lines = "".join(f"{key.replace('_', '-')} = {value}\n" for key, value in rest.items())
    return f'[[package]]\nname = "{name}"\nversion = "1"\nsource = {source}\n{lines}\n'


def by_name(lock):
    return {package.name: package for package in lock.packages}


def test_head_is_read(read):
    lock = read(LOCK, "uv.lock")
    assert (lock.project, lock.roots) == ("trainer", ("trainer",))
    assert (lock.extras, lock.groups, lock.default_groups) == (("gpu", "empty"), ("dev", "docs"), ("dev",))
    assert (lock.requires_python, lock.environments) == (">=3.11", ("sys_platform == 'linux'",))
    assert lock.indexes == ("https://****@index.example/simple",)


def test_edges_keep_what_tells_versions_apart(read):
    assert by_name(read(LOCK, "uv.lock"))["trainer"].dependencies == (
        LockedDependency("torch", "2.9.1", POSIX, ("opt-e",), (), INDEX),
        LockedDependency("triton", when=("extra:gpu",)),
        LockedDependency("pytest", when=("group:dev",)),
    )


def test_files_become_artifacts(read):
    torch = by_name(read(LOCK, "uv.lock"))["torch"]
    assert torch.artifacts == (
        Artifact("torch-2.9.1+x-py3-none-any.whl", "https://files.example/torch-2.9.1%2Bx-py3-none-any.whl", (H1,)),
        Artifact("torch-2.9.1-py3-none-any.whl", "torch-2.9.1-py3-none-any.whl"),
        Artifact("torch-2.9.1.tar.gz", "https://files.example/torch-2.9.1.tar.gz", (H1,), 3, TIME),
    )
    assert torch.marker == "(python_full_version >= '3.12') or (python_full_version < '3.12')"


def test_bad_hash_is_a_problem_at_its_package(read):
    lock = read(LOCK, "uv.lock")
    message = "'triton-3-py3-none-any.whl': hash 'sha256:xyz' is not 64 hexadecimal digits"
    assert lock.problems == (LockProblem(40, message, "", "malformed-hash", "sha256:xyz", "triton"),)
    assert by_name(lock)["triton"].artifacts[0].hashes == ()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines_are_those_of_the_names(read, newline):
    lines = LOCK.splitlines()
    lock = read(LOCK.replace("\n", newline), "uv.lock")
    assert [lines[p.line - 1] for p in lock.packages] == [f'name = "{p.name}"' for p in lock.packages]


def test_lines_are_unknown_where_tables_cannot_be_told_apart(read):
    text = HEAD + 'x = """\n[[package]]\nname = "fake"\n"""\n' + package("a", '{ virtual = "." }')
    assert [(p.name, p.line) for p in read(text, "uv.lock").packages] == [("a", 0)]


@pytest.mark.parametrize(
    ("source", "kind", "url"),
    [
        ('{ registry = "https://index.example/simple" }', "index", INDEX),
        ('{ registry = "../wheels" }', "index", "../wheels"),
        ('{ git = "https://h.example/a#0123" }', "vcs", "https://h.example/a#0123"),
        ('{ url = "https://h.example/a.zip", subdirectory = "b" }', "url", "https://h.example/a.zip"),
        ('{ path = "a-1.tar.gz" }', "url", "a-1.tar.gz"),
        ('{ directory = "a" }', "directory", "a"),
        ('{ editable = "a" }', "editable", "a"),
        ('{ virtual = "a" }', "virtual", "a"),
    ],
)
def test_source_kinds(read, source, kind, url):
    (found,) = read(HEAD + package("a", source), "uv.lock").packages
    assert (found.source, found.url) == (kind, url)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('[[package]]\nversion = "1"\n', "a package has no proper name"),
        (package("b c"), "a package has no proper name"),
        (package("b", '{ teleport = "x" }'), "package 'b' has a source that is not known"),
        (package("b", "3"), "package 'b' has a source that is not known"),
        (package("b").replace("version", "x"), "package 'b' has no version"),
        (package("b", dependencies='[{ name = "own", marker = "nonsense" }]'), "'nonsense' is no marker"),
        (package("b", dependencies="[{ }, 3]"), "a dependency has no proper name"),
        (package("b", dependencies='[{ name = "gone" }]'), "'b' depends on 'gone', which the lock does not hold"),
    ],
)
def test_faulty_entry_is_a_problem_and_the_rest_is_read(read, entry, message):
    lock = read(HEAD + package("own", '{ virtual = "." }') + entry + package("z"), "uv.lock")
    assert [problem.message for problem in lock.problems] == [message]
    assert {"own", "z"} <= set(by_name(lock))


def test_lock_without_project_says_that_nothing_tells_what_is_wanted(read):
    ((problem),) = read(HEAD + package("a"), "uv.lock").problems
    assert "no project or workspace member" in problem.message


def test_workspace_without_a_project_of_its_own_starts_from_all_members(read):
    manifest = '[manifest]\nmembers = ["A_1", "b"]\n'
    text = HEAD + manifest + package("a-1", '{ editable = "a" }') + package("b", '{ virtual = "b" }')
    lock = read(text + package("dep", '{ directory = "dep" }'), "uv.lock")
    assert (lock.project, lock.roots) == (None, ("a-1", "b"))


def test_project_at_the_root_is_where_a_workspace_starts(read):
    manifest = '[manifest]\nmembers = ["a", "own"]\n'
    lock = read(HEAD + manifest + package("a", '{ editable = "a" }') + package("own", '{ editable = "." }'), "uv.lock")
    assert lock.roots == ("own",)


def test_groups_of_the_workspace_itself_count_beside_a_project(read):
    manifest = '[manifest.dependency-groups]\nlint = [{ name = "a" }]\n'
    lock = read(HEAD + manifest + package("own", '{ virtual = "." }') + package("a"), "uv.lock")
    assert (lock.roots, lock.groups) == (("own", ""), ("lint",))


def test_requirements_of_the_workspace_itself_are_edges_of_a_nameless_root(read):
    manifest = (
        '[manifest]\nmembers = ["a"]\nrequirements = [{ name = "z", extras = ["x"] }]\n'
        '[manifest.dependency-groups]\nlint = [{ name = "ruff", marker = "os_name == \'nt\'" }]\n'
    )
    lock = read(HEAD + manifest + package("a", '{ virtual = "a" }') + package("z") + package("ruff"), "uv.lock")
    assert (lock.roots, lock.groups) == (("a", ""), ("lint",))
    assert by_name(lock)[""].dependencies == (
        LockedDependency("z", extras=("x",)),
        LockedDependency("ruff", marker="os_name == 'nt'", when=("group:lint",)),
    )


def test_names_whose_requirements_are_overridden(read):
    lock = read(
        f"""{HEAD}
        [manifest]
        overrides = [{{ name = "Torch", specifier = ">=2.9" }}]
        [[manifest.dependency-metadata]]
        name = "modelexpress"
        requires-dist = ["nixl"]
        """,
        "uv.lock",
    )
    assert lock.overridden == ("torch", "modelexpress")


@pytest.mark.parametrize(
    ("edge", "named"), [('name = "nixl"', "'nixl'"), ('name = "torch", version = "2.8.0"', "'torch 2.8.0'")]
)
def test_edges_to_what_is_not_held(read, edge, named):
    lock = read(
        f"""{HEAD}
        [[package]]
        name = "trainer"
        source = {{ editable = "." }}
        dependencies = [{{ name = "torch", version = "2.9.1", source = {{ registry = "{INDEX}" }} }}, {{ {edge} }}]
        [[package]]
        name = "torch"
        version = "2.9.1"
        source = {{ registry = "{INDEX}" }}
        """,
        "uv.lock",
    )
    (problem,) = lock.problems
    assert (problem.rule, problem.line) == ("incomplete", 6)
    assert problem.message == f"'trainer' depends on {named}, which the lock does not hold"
