from __future__ import annotations

import tomllib

import pytest
from packaging.pylock import Pylock
from packaging.tags import Tag

from envdoctor import locks
from envdoctor.errors import LockError
from envdoctor.model import Artifact, LockedDependency

H1, H2 = "1" * 64, "2" * 64
HEAD = 'lock-version = "1.0"\ncreated-by = "test"\n'
LOCK = f"""\
{HEAD}requires-python = ">=3.11"
environments = ["sys_platform == 'linux'"]
extras = ["gpu"]
dependency-groups = ["Docs_Site"]
default-groups = ["base"]

[[packages]]
name = "torch"
version = "2.11.0+cu128"
marker = "'gpu' in extras"
index = "https://user:secret@index.example/simple"
dependencies = [{{name = "numpy", version = "2.4.6"}}, {{marker = "nameless"}}]
sdist = {{ name = "torch-2.11.0+cu128.tar.gz", path = "x/torch-2.11.0+cu128.tar.gz", hashes = {{ sha256 = "{H2}" }} }}

[[packages.wheels]]
url = "https://files.example/torch-2.11.0%2Bcu128-py3-none-any.whl"
size = 10
upload-time = 2026-01-02T03:04:05Z
hashes = {{ sha256 = "{H1}", md5 = "{H1[:32]}" }}

[[packages]]
version = "2.4.6"
name = "numpy"
marker = "'base' in dependency_groups"
wheels = [{{ url = "https://files.example/numpy-2.4.6-py3-none-any.whl", hashes = {{ sha256 = "{H1}" }} }}]

[[packages]]
name = "sphinx"
marker = "'docs-site' in dependency_groups"
vcs = {{ type = "git", url = "https://h.example/sphinx", commit-id = "{"a" * 40}" }}

[[packages]]
name = "own"
directory = {{ path = ".", editable = true }}

[[packages]]
name = "other"
directory = {{ path = "./other" }}

[[packages]]
name = "fetched"
archive = {{ url = "https://h.example/fetched.zip", size = 3, hashes = {{ sha256 = "{H2}" }} }}
"""


def packages(lock):
    return {package.name: package for package in lock.packages}


def test_head_is_read(read):
    lock = read(LOCK, "pylock.toml")
    assert (lock.extras, lock.groups, lock.default_groups) == (("gpu",), ("docs-site", "base"), ("base",))
    assert (lock.requires_python, lock.environments) == (">=3.11", ('sys_platform == "linux"',))
    assert lock.indexes == ("https://****@index.example/simple",)
    assert lock.problems == ()


def test_distributions_become_artifacts(read):
    torch = packages(read(LOCK, "pylock.toml"))["torch"]
    assert torch.artifacts == (
        Artifact(
            "torch-2.11.0+cu128-py3-none-any.whl",
            "https://files.example/torch-2.11.0%2Bcu128-py3-none-any.whl",
            (f"sha256:{H1}", f"md5:{H1[:32]}"),
            10,
            "2026-01-02T03:04:05Z",
        ),
        Artifact("torch-2.11.0+cu128.tar.gz", "x/torch-2.11.0+cu128.tar.gz", (f"sha256:{H2}",)),
    )
    assert (torch.version, torch.marker) == ("2.11.0+cu128", '"gpu" in extras')
    assert torch.dependencies == (LockedDependency("numpy", "2.4.6"),)


@pytest.mark.parametrize(
    ("name", "source", "url"),
    [
        ("torch", "index", "https://****@index.example/simple"),
        ("numpy", "index", ""),
        ("sphinx", "vcs", f"git+https://h.example/sphinx@{'a' * 40}"),
        ("own", "editable", "."),
        ("other", "directory", "./other"),
        ("fetched", "url", "https://h.example/fetched.zip"),
    ],
)
def test_source_kinds(read, name, source, url):
    package = packages(read(LOCK, "pylock.toml"))[name]
    assert (package.source, package.url) == (source, url)


def test_archive_keeps_its_digest(read):
    fetched = packages(read(LOCK, "pylock.toml"))["fetched"]
    assert fetched.artifacts == (Artifact("fetched.zip", "https://h.example/fetched.zip", (f"sha256:{H2}",), 3),)


@pytest.mark.parametrize(
    ("algorithm", "value"), [("sha256", "xyz"), ("sha512", H1), ("crc32", "00"), ("sha3_256", H1[1:])]
)
def test_digest_that_can_match_nothing_is_a_problem(read, algorithm, value):
    hashes = f'hashes = {{ {algorithm} = "{value}", md5 = "{H1[:32]}" }}'
    wheel = f'wheels = [{{ url = "https://h.example/a-1-py3-none-any.whl", {hashes} }}]'
    lock = read(f'{HEAD}[[packages]]\nname = "a"\n{wheel}\n', "pylock.toml")
    assert [(p.line, f"'{algorithm}:{value}'" in p.message) for p in lock.problems] == [(4, True)]
    assert lock.packages[0].artifacts[0].hashes == (f"md5:{H1[:32]}",)


def test_lines_are_those_of_the_names(read):
    lock = read(LOCK.replace("\n", "\r\n"), "pylock.toml")
    lines = LOCK.splitlines()
    assert [(lines[p.line - 1], p.name) for p in lock.packages] == [
        (f'name = "{p.name}"', p.name) for p in lock.packages
    ]


def test_version_is_kept_as_written(read):
    text = f'{HEAD}[[packages]]\nname = "a"\nversion = "1.0.0.RC1"\ndirectory = {{ path = "a" }}\n'
    assert read(text, "pylock.toml").packages[0].version == "1.0.0.RC1"


def test_lines_of_inline_packages_are_unknown(read):
    lock = read(f'{HEAD}packages = [{{ name = "a", directory = {{ path = "a" }} }}]\n', "pylock.toml")
    assert [(p.name, p.line) for p in lock.packages] == [("a", 0)]


def test_later_minor_version_is_a_problem_and_silent(read, caplog, capfd):
    lock = read(LOCK.replace('"1.0"', '"1.1"', 1), "pylock.toml")
    assert [(p.line, p.message[:17]) for p in lock.problems] == [(1, "lock-version 1.1 ")]
    assert (caplog.records, capfd.readouterr().err) == ([], "")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('created-by = "test"\n', "", "key 'created-by': Missing required value"),
        ('extras = ["gpu"]', 'extras = "gpu"', "key 'extras': Unexpected type str"),
        ("sys_platform == 'linux'", "sys_platform", "key 'environments[0]': "),
    ],
)
def test_head_that_the_standard_forbids_is_refused(write, old, new, problem):
    assert old in LOCK
    with pytest.raises(LockError) as caught:
        locks.read(write(LOCK.replace(old, new), "pylock.toml"))
    assert problem in caught.value.problem


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ('version = "2.4.6"\n', 'version = "x y"\n', 25, "package 'numpy': key 'version': Invalid version: 'x y'"),
        ("marker = \"'base' in", "marker = \"'base' on", 25, "package 'numpy': key 'marker': "),
        ('name = "sphinx"\n', "", 29, "a package: key 'name': Missing required value"),
        ('commit-id = "', 'commit = "', 30, "package 'sphinx': key 'vcs.commit-id': Missing required value"),
    ],
)
def test_faulty_package_is_a_problem_at_its_line_and_the_rest_is_read(read, old, new, line, problem):
    assert old in LOCK
    lock = read(LOCK.replace(old, new), "pylock.toml")
    ((found,),) = ([p for p in lock.problems if p.rule == "wrong-format"],)
    assert (found.line, found.mild) == (line, False)
    assert found.message.startswith(problem)
    assert {"torch", "numpy", "own", "other", "fetched"} <= set(packages(lock))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "numpy"', 'name = "NumPy"'),
        ("numpy-2.4.6-py3", "numpy-2.4.5-py3"),
        (f'.whl", hashes = {{ sha256 = "{H1}" }}', '.whl"'),
        (f'.whl", hashes = {{ sha256 = "{H1}" }}', '.whl", hashes = {}'),
    ],
)
def test_what_a_rule_of_its_own_tells_is_read_without_a_word(read, old, new):
    assert old in LOCK
    lock = read(LOCK.replace(old, new), "pylock.toml")
    assert lock.problems == ()
    assert packages(lock)["numpy"].line == 25


@pytest.mark.parametrize("value", ["3", '"x"', "[1, 2]", "{}"])
def test_packages_of_another_shape_are_refused(write, value):
    with pytest.raises(LockError, match=r"is not a valid pylock\.toml"):
        locks.read(write(f"{HEAD}packages = {value}\n", "pylock.toml"))


@pytest.mark.parametrize("extras", [(), ("gpu",)])
@pytest.mark.parametrize("groups", [(), ("docs-site",)])
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_selection_agrees_with_packaging(read, linux, extras, groups, platform):
    text = LOCK.replace("environments =", "# environments =").replace(
        "'gpu' in extras", "'gpu' in extras and sys_platform == 'linux'"
    )
    environment = {**linux, "sys_platform": platform}
    chosen = Pylock.from_dict(tomllib.loads(text)).select(
        environment=environment, tags=[Tag("py3", "none", "any")], extras=extras, dependency_groups=("base", *groups)
    )
    ours = locks.select(read(text, "pylock.toml"), environment, extras=extras, groups=groups)
    assert {name: p.version for name, p in ours.wanted.items()} == {
        package.name: str(package.version) if package.version else None for package, _ in chosen
    }
