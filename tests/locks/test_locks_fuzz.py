from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from envdoctor import locks
from envdoctor.errors import LockError
from envdoctor.locks import detect, requirements

LINUX = {"sys_platform": "linux", "python_full_version": "3.12.3", "python_version": "3.12", "os_name": "posix"}
NAMES = ("train.txt", "pylock.toml", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "x.json")
WORDS = """
a==1 b>=2 -r -e -c - -- --hash=sha256: # ; [x] os_name == 'nt' ( ) and or ' " @ git+https://h/a https://h/a-1.zip ./a
=== , --index-url = ${X} é #egg= &sha256= [ ] { .. /
"""
FRAGMENTS = st.sampled_from(
    [*WORDS.split(), " ", "\t", "\n", "\r\n", "\\\n", " #x", "\x0c", "\u2028", "\ud7ff", "\x1b", "os_name == 'nt'"]
)
TEXTS = st.sampled_from(
    ["a", "b-c", "1", "1.0", "", ".", "os_name == 'nt'", "extra == 'x'", "sha256:0", "1.0\n", "é", "/"]
)
KEY_NAMES = """
    name version source registry git editable virtual marker extra extras dependencies optional-dependencies
    dev-dependencies wheels sdist url path hash hashes size sha256 resolution-markers metadata requires-dev
    provides-extras members requirements dependency-groups vcs directory archive index commit-id type upload-time
    requires-python groups markers optional python-versions category develop files file revision ref
    requires_python resolved_reference reference legacy pipfile-spec sources verify_ssl default version python
"""
KEYS = st.sampled_from(KEY_NAMES.split())
VALUES = st.recursive(
    TEXTS | st.integers(-2, 2**70) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "name": TEXTS,
        "version": TEXTS,
        "source": st.dictionaries(KEYS, TEXTS, max_size=2) | VALUES,
        "dependencies": st.lists(st.dictionaries(KEYS, VALUES, max_size=3), max_size=3) | VALUES,
        "optional-dependencies": VALUES,
        "dev-dependencies": VALUES,
        "wheels": VALUES,
        "marker": TEXTS,
        "markers": TEXTS | st.dictionaries(TEXTS, TEXTS, max_size=2) | VALUES,
        "groups": st.lists(TEXTS, max_size=2) | VALUES,
        "extras": st.lists(TEXTS, max_size=2) | VALUES,
        "files": st.lists(st.dictionaries(KEYS, TEXTS, max_size=3), max_size=2) | VALUES,
        "optional": VALUES,
        "category": TEXTS,
        "python-versions": TEXTS,
        "resolution-markers": VALUES,
        "directory": st.just({"path": "a"}) | VALUES,
    },
)


def inline(value):
    """Write a value as inline TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value)


def outcome(path, data):
    try:
        return detect.parser(path, data)(path, data)
    except LockError as error:
        return error


def survives(name, data):
    """Read and select; LockError in one line is the only way out but a Lock."""
    lock = outcome(f"/nowhere/{name}", data)
    if isinstance(lock, LockError):
        assert "\n" not in lock.problem
        return
    for markers in (LINUX, {}):
        selection = locks.select(lock, markers, extras=lock.extras, groups=lock.groups)
        assert set(selection.wanted) <= set(selection.allowed)
        assert all(name for name in selection.allowed)
    assert not any("\n" in problem.message for problem in lock.problems)


@given(st.sampled_from(NAMES), st.binary(max_size=200))
@example("train.txt", b"\xff\xfea")
@example("train.txt", b"#coding: punycode\na==1")
@example("train.txt", b"a==1 ; python_version == '\xff'")
def test_any_bytes(name, data):
    survives(name, data)


@given(st.sampled_from(NAMES), st.text(max_size=200))
def test_any_text(name, text):
    survives(name, text.encode("utf-8", errors="surrogatepass"))


@settings(max_examples=150)
@given(st.lists(FRAGMENTS, max_size=30), st.sampled_from(["utf-8", "latin-1", "utf-16"]))
def test_any_mixture_of_requirements_syntax(fragments, encoding):
    survives("train.txt", ("z==0\n" + "".join(fragments)).encode(encoding, errors="replace"))


@settings(max_examples=80)
@given(st.lists(ENTRIES, max_size=4), VALUES, st.sampled_from(["package", "packages"]))
def test_any_shape_of_toml(entries, manifest, key):
    head = 'version = 1\nlock-version = "1.0"\ncreated-by = "x"\n'
    head = head.replace('lock-version = "1.0"\n', "") if key == "package" else head
    name = "uv.lock" if key == "package" else "pylock.toml"
    survives(name, f"{head}{key} = {inline(entries)}\nmanifest = {inline(manifest)}\n".encode())


@settings(max_examples=150)
@given(st.lists(ENTRIES, max_size=4), VALUES, st.sampled_from(["1.1", "2.0", "2.1", "4.0", "4.5.1"]))
def test_any_shape_of_poetry_and_pdm(entries, value, version):
    name, key = ("pdm.lock", "lock_version") if version.startswith("4") else ("poetry.lock", "lock-version")
    head = f"package = {inline(entries)}\nextras = {inline(value)}\n[metadata]\n{key} = '{version}'\n"
    keys = ("files", "groups", "targets", "python-versions")
    survives(name, (head + "".join(f"{each} = {inline(value)}\n" for each in keys)).encode())


@settings(max_examples=150)
@given(st.dictionaries(TEXTS, ENTRIES | VALUES, max_size=4), VALUES, st.sampled_from(["default", "develop", "é"]))
def test_any_shape_of_pipfile(entries, value, category):
    meta = {"pipfile-spec": 6, "sources": [value, {"name": "a", "url": value}], "requires": value}
    survives("Pipfile.lock", json.dumps({"_meta": meta, category: entries, "other": value}).encode())


PROJECT = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,8}[A-Za-z0-9])?", fullmatch=True)
VERSION = st.from_regex(
    r"([0-9]!)?[0-9]{1,3}(\.[0-9]{1,3}){0,3}(rc[0-9])?(\.post[0-9])?(\+[a-z0-9]{1,5})?", fullmatch=True
)
DIGEST = st.text("0123456789abcdef", min_size=64, max_size=64).map("sha256:".__add__)
PIN = st.tuples(PROJECT, VERSION, st.lists(DIGEST, max_size=3, unique=True), st.sampled_from([" ", " \\\n    ", "  "]))


@settings(max_examples=40)
@given(st.lists(PIN, min_size=1, max_size=8), st.sampled_from(["\n", "\r\n", "  # via x\n", "\n\n#\n"]))
def test_requirements_round_trip(pins, end):
    text = "".join(f"{n}=={v}{''.join(f'{gap}--hash={d}' for d in hashes)}{end}" for n, v, hashes, gap in pins)
    lock = requirements.parse("/nowhere/train.txt", text.encode())
    assert lock.problems == ()
    assert [(p.raw_name, p.version, p.hashes) for p in lock.packages] == [(n, v, tuple(h)) for n, v, h, _ in pins]
    rows = text.splitlines()
    assert all(rows[p.line - 1].startswith(f"{p.raw_name}==") for p in lock.packages)


@settings(max_examples=40)
@given(st.dictionaries(PROJECT.map(str.lower), st.tuples(VERSION, DIGEST), min_size=1, max_size=8))
def test_uv_round_trip(pins):
    edges = ", ".join(f'{{ name = "{name}" }}' for name in pins)
    text = (
        f'version = 1\n[[package]]\nname = "0-own"\nsource = {{ virtual = "." }}\ndependencies = [{edges}]\n'
        + "".join(
            f'[[package]]\nname = "{name}"\nversion = "{version}"\nsource = {{ registry = "r" }}\n'
            f'wheels = [{{ url = "https://h/{name}.whl", hash = "{digest}" }}]\n'
            for name, (version, digest) in pins.items()
        )
    )
    lock = detect.parser("uv.lock", text.encode())("uv.lock", text.encode())
    found = {p.raw_name: (p.version, p.artifacts[0].hashes[0]) for p in lock.packages if p.artifacts}
    assert (found, lock.problems) == (pins, ())
    assert len(locks.select(lock, {}).wanted) == len({p.name for p in lock.packages if p.artifacts})


POETRY = '[[package]]\nname = "a"\nversion = "1"\ngroups = ["é"]\n[metadata]\nlock-version = "2.1"\n'
PDM = '[metadata]\nlock_version = "4.5"\n[[package]]\nname = "a"\nversion = "1"\ngroups = ["é"]\n'
PIPFILE = '{"_meta": {"pipfile-spec": 6}, "default": {"a": {"version": "==1", "markers": "os_name == \'é\'"}}}'


@pytest.mark.parametrize(("name", "text"), [("poetry.lock", POETRY), ("pdm.lock", PDM), ("Pipfile.lock", PIPFILE)])
def test_other_locks_cut_short_and_broken_anywhere(name, text):
    data = text.encode()
    for place in range(len(data)):
        survives(name, data[:place])
        survives(name, data[:place] + b"\xff" + data[place:])
        survives(name, data[:place] + b"\x00" + data[place + 1 :])
        survives(name, data[:place] + b"{" + data[place:])


@pytest.mark.parametrize("cut", range(0, 400, 7))
def test_lock_cut_short_anywhere(cut):
    text = 'lock-version = "1.0"\ncreated-by = "x"\n' + '[[packages]]\nname = "a"\ndirectory = { path = "é" }\n' * 8
    survives("pylock.toml", text.encode()[:cut])
