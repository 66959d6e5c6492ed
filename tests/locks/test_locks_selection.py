from __future__ import annotations

import pytest

from envdoctor import locks
from envdoctor.errors import LockError

PYLOCK = """\
lock-version = "1.0"
created-by = "test"
extras = ["gpu"]
dependency-groups = ["dev", "docs"]
default-groups = ["dev"]
"""
HEAD = "version = 1\nrevision = 5\nrequires-python = '>=3.11'\n"


def versions(selected):
    return {name: package.version for name, package in selected.items()}


def allowed(selection):
    return {name: tuple(package.version for package in pins) for name, pins in selection.allowed.items()}


def entry(name, marker):
    return f'[[packages]]\nname = "{name}"\nversion = "1"\nmarker = "{marker}"\ndirectory = {{ path = "{name}" }}\n'


def node(name, *edges, version="1", source="registry", place="r", extras=(), groups=()):
    """Write one `[[package]]`; extras and groups are (name, edge, ...)."""
    text = f'[[package]]\nname = "{name}"\nversion = "{version}"\nsource = {{ {source} = "{place}" }}\n'
    text += f"dependencies = [{', '.join(edges)}]\n"
    for table, members in (("optional-dependencies", extras), ("dev-dependencies", groups)):
        text += f"[package.{table}]\n" + "".join(f"{key} = [{', '.join(inner)}]\n" for key, *inner in members)
    return text


def edge(name, marker="", **rest):
    parts = [f'name = "{name}"', *(f"{key} = {value}" for key, value in rest.items())]
    return "{ " + ", ".join(parts + ([f'marker = "{marker}"'] if marker else [])) + " }"


OWN = {"source": "editable", "place": "."}


def test_requirements_are_narrowed_to_the_target(read, linux):
    lock = read(
        "torch==2.10.0 ; sys_platform == 'darwin'\n"
        "torch==2.10.0+cu128 ; platform_machine == 'x86_64' and sys_platform == 'linux'\n"
        "torch==2.10.0+cu130 ; platform_machine == 'aarch64' and sys_platform == 'linux'\n"
    )
    selection = locks.select(lock, linux)
    assert versions(selection.wanted) == {"torch": "2.10.0+cu128"}
    assert allowed(selection) == {"torch": ("2.10.0+cu128",)}
    assert versions(locks.select(lock, {**linux, "platform_machine": "aarch64"}).wanted) == {"torch": "2.10.0+cu130"}


def test_pin_that_hangs_on_an_unknown_fact_is_allowed_and_not_wanted(read):
    lock = read("a==1 ; platform_release >= '6'\nb==1 ; sys_platform == 'win32'\nc==1\n")
    selection = locks.select(lock, {"sys_platform": "linux"})
    assert versions(selection.wanted) == {"c": "1"}
    assert allowed(selection) == {"a": ("1",), "c": ("1",)}


@pytest.mark.parametrize(
    ("second", "conflicting"),
    [
        ("a==2", ("a",)),
        ("a==1.0+cpu", ("a",)),
        ("A==1.0.0", ()),
        ("a==1.0 ; sys_platform == 'win32'", ()),
        ("a @ https://h.example/a-1.0-py3-none-any.whl", ()),
    ],
)
def test_two_versions_for_one_target_conflict(read, linux, second, conflicting):
    selection = locks.select(read(f"a==1.0\n{second}\n"), linux)
    assert selection.conflicting == conflicting
    assert selection.wanted["a"].line == 1


def test_two_direct_sources_of_one_name_conflict(read, linux):
    lock = read("a @ https://h.example/1/a-1-py3-none-any.whl\na @ https://h.example/2/a-1-py3-none-any.whl\n")
    assert locks.select(lock, linux).conflicting == ("a",)


@pytest.mark.parametrize(
    ("extras", "groups", "wanted"),
    [
        ((), (), {"dev-only"}),
        (("GPU",), (), {"dev-only", "gpu-only"}),
        ((), ("docs",), {"dev-only", "docs-only", "dev-docs"}),
        (("nonsense",), ("nonsense",), {"dev-only"}),
    ],
)
def test_pylock_choices(read, linux, extras, groups, wanted):
    lock = read(
        PYLOCK
        + entry("dev-only", "'dev' in dependency_groups")
        + entry("gpu-only", "'gpu' in extras")
        + entry("docs-only", "'docs' in dependency_groups")
        + entry("dev-docs", "'docs' in dependency_groups and 'dev' in dependency_groups")
        + entry("windows", "'gpu' in extras and sys_platform == 'win32'"),
        "pylock.toml",
    )
    selection = locks.select(lock, linux, extras=extras, groups=groups)
    assert set(selection.wanted) == wanted
    assert set(selection.allowed) == {"dev-only", "gpu-only", "docs-only", "dev-docs"}


TRAINER = (
    HEAD
    + node(
        "trainer",
        edge("serve", extra='["all"]'),
        edge("win", "sys_platform == 'win32'"),
        **OWN,
        extras=[("gpu", edge("cuda"))],
        groups=[("dev", edge("pytest")), ("docs", edge("sphinx"))],
    )
    + node("serve", edge("base"), extras=[("all", edge("child", extra='["x"]')), ("unasked", edge("never"))])
    + node("child", edge("base"), extras=[("x", edge("deep", "python_full_version < '4'"))])
    + "".join(node(name) for name in ("base", "deep", "cuda", "win", "pytest", "sphinx", "never"))
)
CORE = {"trainer", "serve", "child", "deep", "base"}


@pytest.mark.parametrize(
    ("extras", "groups", "wanted"),
    [
        ((), (), CORE | {"pytest"}),
        (("gpu",), (), CORE | {"pytest", "cuda"}),
        ((), ("Docs",), CORE | {"pytest", "sphinx"}),
        (("all",), (), CORE | {"pytest"}),
    ],
)
def test_uv_graph_is_walked_through_extras_of_dependencies(read, linux, extras, groups, wanted):
    selection = locks.select(read(TRAINER, "uv.lock"), linux, extras=extras, groups=groups)
    assert set(selection.wanted) == wanted
    assert set(selection.allowed) == CORE | {"pytest", "cuda", "sphinx"}


def conflicted(*, indirect=""):
    cpu, gpu = "extra == 'extra-7-trainer-cpu'", "extra == 'extra-7-trainer-gpu'"
    neither = f"{cpu} and {gpu}".replace("==", "!=")
    builds = [("2", neither), ("2+cpu", cpu), ("2+cu128", gpu)]
    edges = [edge("torch", marker, version=f'"{version}"', source='{ registry = "r" }') for version, marker in builds]
    extras = [("cpu",), ("gpu",)]
    return (
        HEAD
        + node("trainer", *edges, *([indirect] if indirect else []), **OWN, extras=extras)
        + node("wrapper", edge("trainer", extra='["cpu"]'))
        + "".join(node("torch", version=version) for version, _ in builds)
    )


@pytest.mark.parametrize(("extras", "version"), [((), "2"), (("cpu",), "2+cpu"), (("gpu",), "2+cu128")])
def test_conflicting_extras_choose_the_build(read, linux, extras, version):
    selection = locks.select(read(conflicted(), "uv.lock"), linux, extras=extras)
    assert versions(selection.wanted) == {"trainer": "1", "torch": version}
    assert selection.conflicting == ()
    assert allowed(selection)["torch"] == ("2", "2+cpu", "2+cu128")


def test_extra_switched_on_by_a_later_edge_counts_for_earlier_markers(read, linux):
    lock = read(conflicted(indirect=edge("wrapper")), "uv.lock")
    assert versions(locks.select(lock, linux).wanted)["torch"] == "2+cpu"


def test_conflicting_groups_choose_the_build(read, linux):
    old, new = (f"extra {op} 'group-7-trainer-new'" for op in ("!=", "=="))
    edges = [edge("np", old, version='"1"'), edge("np", new, version='"2"')]
    lock = read(
        HEAD + node("trainer", *edges, **OWN, groups=[("new",)]) + node("np") + node("np", version="2"), "uv.lock"
    )
    assert versions(locks.select(lock, linux).wanted)["np"] == "1"
    assert versions(locks.select(lock, linux, groups=["new"]).wanted)["np"] == "2"


def test_edges_tell_equal_versions_apart_by_source(read, linux):
    edges = [
        edge("a", "sys_platform == 'linux'", version='"1"', source='{ registry = "two" }'),
        edge("a", "sys_platform != 'linux'", version='"1"', source='{ registry = "one" }'),
    ]
    lock = read(HEAD + node("own", *edges, **OWN) + node("a", place="one") + node("a", place="two"), "uv.lock")
    selection = locks.select(lock, linux)
    assert selection.wanted["a"].url == "two"
    assert [pin.url for pin in selection.allowed["a"]] == ["two"]


def test_project_that_is_never_installed_is_not_wanted(read, linux):
    lock = read(HEAD + node("own", edge("a"), source="virtual", place=".") + node("a"), "uv.lock")
    assert set(locks.select(lock, linux).wanted) == {"a"}


def test_members_beside_the_root_are_allowed_and_not_wanted(read, linux):
    lock = read(
        HEAD
        + '[manifest]\nmembers = ["own", "side"]\n'
        + node("own", edge("a"), **OWN)
        + node("side", edge("b"), source="editable", place="side", groups=[("dev", edge("c"))])
        + "".join(map(node, "abc")),
        "uv.lock",
    )
    selection = locks.select(lock, linux)
    assert set(selection.wanted) == {"own", "a"}
    assert set(selection.allowed) == {"own", "a", "side", "b", "c"}


def test_requirements_of_a_workspace_without_project_are_wanted(read, linux):
    manifest = (
        '[manifest]\nmembers = ["m"]\n[manifest.dependency-groups]\n'
        'dev = [{ name = "a" }, { name = "b", marker = "os_name == \'nt\'" }]\nlint = [{ name = "c" }]\n'
    )
    text = HEAD + manifest + node("m", source="editable", place="m") + "".join(map(node, "abc"))
    selection = locks.select(read(text, "uv.lock"), linux)
    assert set(selection.wanted) == {"m", "a"}
    assert set(selection.allowed) == {"m", "a", "c"}


def test_edge_that_hangs_on_an_unknown_fact_is_allowed_and_not_wanted(read):
    edges = [edge("a", "platform_machine == 'x86_64'"), edge("b", "sys_platform == 'win32'")]
    lock = read(HEAD + node("own", *edges, **OWN) + node("a") + node("b"), "uv.lock")
    selection = locks.select(lock, {"sys_platform": "linux"})
    assert (set(selection.wanted), set(selection.allowed)) == ({"own"}, {"own", "a"})


def test_dependency_cycles_end(read, linux):
    text = HEAD + node("own", edge("a"), **OWN) + node("a", edge("b")) + node("b", edge("a", extra='["x"]'))
    assert set(locks.select(read(text, "uv.lock"), linux).wanted) == {"own", "a", "b"}


@pytest.mark.parametrize(
    ("text", "name", "choice", "problem"),
    [
        ("a==1\n", "a.txt", {"groups": ["dev"]}, "a requirements file has no groups, so there is no 'dev'"),
        ("a==1\n", "a.txt", {"extras": ["gpu"]}, "a requirements file has no extras, so there is no 'gpu'"),
        (PYLOCK + "packages = []\n", "pylock.toml", {"groups": ["x"]}, "the lock has no group 'x'; it has: dev, docs"),
        (TRAINER, "uv.lock", {"extras": ["cpu"]}, "the lock has no extra 'cpu'; it has: gpu"),
        (HEAD, "uv.lock", {"extras": ["cpu"]}, "the lock has no extra 'cpu'; it has: none"),
    ],
)
def test_choice_that_the_lock_lacks_is_refused_with_what_it_has(read, text, name, choice, problem):
    with pytest.raises(LockError) as caught:
        locks.check_choice(read(text, name), **{"extras": [], "groups": [], **choice})
    assert caught.value.problem == problem


def test_choice_is_compared_by_normalised_name(read):
    locks.check_choice(read(TRAINER, "uv.lock"), extras=["GPU"], groups=["Dev", "docs"])
    locks.check_choice(read("a==1\n"), extras=[], groups=[])


def test_all_pins_of_a_name_that_has_several_are_kept(read, linux):
    text = "six==1.17.0\nsix==1.17\nidna==3.10\nsix==1.16.0 ; sys_platform == 'linux'\nidna==3.9 ; os_name == 'nt'\n"
    selection = locks.select(read(text), linux)
    assert {name: [pin.line for pin in pins] for name, pins in selection.several.items()} == {"six": [1, 2, 4]}
    assert selection.conflicting == ("six",)
