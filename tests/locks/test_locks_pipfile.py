"""Pipfile.lock, as pipenv writes it."""

import json

import pytest

from envdoctor import locks
from envdoctor.model import Artifact, LockOption

H1 = "sha256:" + "1" * 64
PYPI = {"name": "pypi", "url": "https://index.example/simple", "verify_ssl": True}
TORCH = {"name": "torch", "url": "https://download.pytorch.org/whl/cu128", "verify_ssl": True}


def lock(default=(), develop=(), sources=(PYPI,), requires=(), **categories):
    meta = {"hash": {"sha256": "0"}, "pipfile-spec": 6, "requires": dict(requires), "sources": list(sources)}
    whole = {"_meta": meta, "default": dict(default), "develop": dict(develop), **categories}
    return json.dumps(whole, indent=4) + "\n"


def entry(version="1.0", **keys):
    return {"hashes": [H1], "version": f"=={version}", **keys}


def test_what_the_lock_says_of_itself(read):
    found = read(lock({"six": entry()}, requires={"python_version": "3.12"}), "Pipfile.lock")
    assert (found.format, found.requires_python, found.indexes) == ("pipfile", "==3.12.*", (PYPI["url"],))
    assert (found.problems, found.groups, found.default_groups, found.roots) == ((), (), (), ())


@pytest.mark.parametrize(
    ("requires", "said"),
    [
        ({"python_full_version": "3.12.4", "python_version": "3.12"}, "==3.12.4"),
        ({"python_version": "3"}, "==3.*"),
        ({"python_version": "what"}, None),
        ({}, None),
    ],
)
def test_required_pythons(read, requires, said):
    assert read(lock(requires=requires), "Pipfile.lock").requires_python == said


def test_an_entry(read):
    keys = {"extras": ["Http"], "index": "torch", "markers": "python_version >= '3.9'"}
    (pin,) = read(lock({"FsSpec": entry("2.0+cpu", **keys)}, sources=[PYPI, TORCH]), "Pipfile.lock").packages
    assert (pin.name, pin.raw_name, pin.version, pin.line) == ("fsspec", "FsSpec", "2.0+cpu", 22)
    assert (pin.hashes, pin.artifacts, pin.extras, pin.url) == ((H1,), (), ("http",), TORCH["url"])
    assert pin.marker == "python_version >= '3.9'"


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_lines_however_it_is_written(read, indent):
    text = json.dumps(json.loads(lock({"a": entry(), "b": entry()}, {"a": entry()})), indent=indent)
    found = read(text, "Pipfile.lock").packages
    rows = text.split("\n")
    assert all(f'"{pin.name}": {{' in rows[pin.line - 1] for pin in found)
    assert len({pin.line for pin in found}) == (1 if indent is None else 3)


def test_categories_are_groups(read, linux):
    found = read(lock({"a": entry()}, {"a": entry(), "b": entry()}, docs={"c": entry()}), "Pipfile.lock")
    assert (found.groups, found.default_groups) == (("develop", "docs"), ())
    assert sorted(locks.select(found, linux).wanted) == ["a"]
    assert sorted(locks.select(found, linux, groups=["develop"]).wanted) == ["a", "b"]
    assert sorted(locks.select(found, linux, groups=["docs"]).wanted) == ["a", "c"]
    assert sorted(locks.select(found, linux).allowed) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "keys", [{"markers": "sys_platform == 'win32'"}, {"sys_platform": "== 'win32'"}, {"os_name": "== 'nt'"}]
)
def test_markers(read, linux, keys):
    found = read(lock({"a": entry(**keys)}, {"b": entry(**keys)}), "Pipfile.lock")
    assert locks.select(found, linux, groups=["develop"]).wanted == {}
    windows = {**linux, "sys_platform": "win32", "os_name": "nt"}
    assert sorted(locks.select(found, windows, groups=["develop"]).wanted) == ["a", "b"]


@pytest.mark.parametrize(
    ("keys", "kind", "url"),
    [
        ({"git": "https://u:pw@h.example/a.git", "ref": "0a"}, "vcs", "git+https://****@h.example/a.git@0a"),
        ({"git": "git+https://h.example/a.git"}, "vcs", "git+https://h.example/a.git@"),
        ({"file": "https://h.example/a-1.0.zip", "hashes": [H1]}, "url", "https://h.example/a-1.0.zip"),
        ({"path": "./a-1.0-py3-none-any.whl"}, "url", "./a-1.0-py3-none-any.whl"),
        ({"path": "./a"}, "directory", "./a"),
        ({"path": ".", "editable": True}, "editable", "."),
    ],
)
def test_sources(read, keys, kind, url):
    found = read(lock({"a": keys}), "Pipfile.lock")
    (pin,) = found.packages
    assert (pin.source, pin.url, found.problems) == (kind, url, ())
    assert [(file.url, file.hashes) for file in pin.artifacts] == (
        [(url, tuple(keys.get("hashes", ())))] if kind == "url" else []
    )
    assert pin.version == ("1.0" if kind == "url" else None)


def test_a_file_has_the_name_of_its_address(read):
    (pin,) = read(lock({"a": {"file": "https://h.example/a-1.0.zip?x", "hashes": [H1]}}), "Pipfile.lock").packages
    assert pin.artifacts == (Artifact("a-1.0.zip", "https://h.example/a-1.0.zip?x", (H1,)),)


def test_sources_are_the_options_that_say_the_same(read):
    open_one = {"name": "own", "url": "https://u:pw@own.example:8443/simple", "verify_ssl": False}
    assert read(lock(sources=[PYPI, open_one]), "Pipfile.lock").options == (
        LockOption("--index-url", PYPI["url"], 11, text=PYPI["url"]),
        LockOption("--extra-index-url", "https://****@own.example:8443/simple", 16, text='"url"'),
        LockOption("--trusted-host", "own.example", 17, text='"verify_ssl"'),
    )


def test_a_pin_of_several_sources_that_names_none_has_no_index(read):
    found = read(lock({"a": entry(), "b": entry(index="pypi")}, sources=[PYPI, TORCH]), "Pipfile.lock")
    assert [pin.url for pin in found.packages] == ["", PYPI["url"]]
    assert [pin.url for pin in read(lock({"a": entry()}), "Pipfile.lock").packages] == [PYPI["url"]]


@pytest.mark.parametrize(
    ("given", "rule", "problem"),
    [
        ({"-x": entry()}, "wrong-format", "'-x' is no name of a package"),
        ({"x": "==1"}, "wrong-format", "package 'x' is no table"),
        ({"x": entry(index="none")}, "wrong-format",
         "package 'x' is from the source 'none', which the lock does not have"),
        ({"x": entry(markers="(")}, "wrong-format", "'(' is no marker"),
        ({"x": {"version": "*"}}, "unpinned",
         "'x' is not pinned: its version is '*', and only ==VERSION names a release"),
        ({"x": {"version": "==1.*"}}, "unpinned",
         "'x' is not pinned: its version is '==1.*', and only ==VERSION names a release"),
        ({"x": {"version": 3}}, "unpinned",
         "'x' is not pinned: its version is '*', and only ==VERSION names a release"),
        ({"x": {"version": "==1", "hashes": ["sha256:0"]}}, "malformed-hash",
         "package 'x': hash 'sha256:0' is not 64 hexadecimal digits"),
    ],
)  # fmt: skip
def test_a_faulty_entry_is_told_with_its_line_and_the_rest_is_read(read, given, rule, problem):
    found = read(lock({**given, "six": entry()}), "Pipfile.lock")
    assert [(item.rule, item.message, item.line) for item in found.problems] == [(rule, problem, 17)]
    assert found.packages[-1].name == "six"


def test_what_is_open_is_a_pin_all_the_same(read, linux):
    """pipenv writes `*` for what another system needs; where it is installed it is no stranger."""
    found = read(lock({"tomli": {"version": "*", "markers": "python_version < '3.11'"}}), "Pipfile.lock")
    assert locks.select(found, {**linux, "python_version": "3.10"}).allowed["tomli"][0].version is None


@pytest.mark.parametrize(
    "text", ['{"_meta": {"pipfile-spec": 6}, "default": [1]}', '{"_meta": {"pipfile-spec": 6}, "default": 1}']
)
def test_a_category_that_is_none_is_told(read, text):
    assert [item.message for item in read(text, "Pipfile.lock").problems] == ["'default' is no table of packages"]


def test_a_key_that_stands_twice_is_told_at_the_second(read):
    text = lock({"six": entry("1.0"), "sex": entry("2.0")}).replace("sex", "six")
    (problem,) = read(text, "Pipfile.lock").problems
    assert (problem.rule, problem.line, problem.subject) == ("wrong-format", 23, "six")
    assert problem.message == "the key 'six' stands on lines 17 and 23; the last one counts"
