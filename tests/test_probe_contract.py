"""What holds for every probe, those of tomorrow included."""

import ast
import re
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Union, get_args, get_origin, get_type_hints

import pytest
import typer

import envdoctor
from envdoctor import registry
from envdoctor.cli import app
from envdoctor.facts.smoke import Smoke
from envdoctor.facts.threads import Race
from envdoctor.model import LockFaults, Target, Unavailable
from envdoctor.policy import Policy
from envdoctor.registry import Probe
from envdoctor.snapshot import FACTS

PACKAGE = Path(envdoctor.__file__).parent
TESTS = Path(__file__).parent
PROBES = registry.probes()
PROMISED = {
    "packages": "foreign missing drifted broken-requirement duplicate-metadata leftover file-collision missing-file "
    "altered-file unowned-file orphan direct-url shadowed version-skew compromised wrong-platform missing-record "
    "altered-build companion-mismatch torch-cpu-build numpy-abi extension-abi glibc-too-old",
    "environment": "moved dangling-python python-mismatch system-site-packages user-site pythonpath startup-code "
    "wrong-pip guard-bypassed freeze-bypassed foreign-path missing-headers no-compiler",
    "cuda": "toolkit-mismatch toolkit-split toolkit-changed home-conflict wheel-mix library-shadowed mixed-cudnn "
    "stub-on-path compat-library driver-too-old driver-library-mismatch fabric-manager-mismatch arch-unsupported "
    "ptxas-too-old missing-libcuda-link gpu-missing",
    "smoke": "device arch allocate matmul compile flex-attention recompile fresh-process half graphs toolchain hung "
    "threads",
    "cache": "missing shrunken cold-device stale corrupt-entry partial-file dangling-path not-writable foreign-owner "
    "writable-by-others noexec network-filesystem ephemeral stale-lock toolkit-mismatch in-use",
    "compile": "thread-race forked-workers",
    "node": "small-shm low-disk low-limits orphaned-gpu-memory gpu-errors busy-gpu",
}
"""Ids are public: none of these is ever renamed."""
GIVEN = {
    "policy": Policy,
    "moment": "datetime",
    "target": Target,
    "smoke": Smoke,
    "race": Race,
    "lock_faults": LockFaults,
}

every_probe = pytest.mark.parametrize("probe", PROBES, ids=[probe.id for probe in PROBES])


def members(annotation):
    """Return the types of a union, `Unavailable` left out."""
    kinds = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return {kind for kind in kinds if kind is not Unavailable}


def type_of(name):
    """Return the type of a fact, view or given value, by the word of whoever makes it."""
    if name in GIVEN:
        return GIVEN[name]
    maker = import_module(f"envdoctor.facts.{name}").collect if name in FACTS else registry.views()[name].view
    (kind,) = members(get_type_hints(maker)["return"])
    return kind


def path_of(probe):
    return f"{probe.id.replace('-', '_')}.py"


@every_probe
def test_its_title_is_one_sentence(probe: Probe):
    assert re.fullmatch(r"[A-Z][^|]*\.", probe.title)
    assert ". " not in probe.title
    assert probe.doc.split("\n")[1:2] == [""], "the sentence is a paragraph of its own"


@every_probe
def test_its_docstring_says_why_and_what_to_do(probe: Probe):
    beginnings = [paragraph.partition(": ")[0] for paragraph in probe.doc.split("\n\n")]
    assert beginnings[1:3] == ["Why it matters", "What to do"]


@every_probe
def test_its_id_is_its_path(probe: Probe):
    area, fault = probe.id.split("/")
    assert probe.check.__module__ == f"envdoctor.probes.{area}.{fault}".replace("-", "_")
    assert re.fullmatch(r"[a-z]+/[a-z]+(-[a-z]+)*", probe.id)


@every_probe
def test_it_annotates_each_parameter_with_its_type(probe: Probe):
    hints = get_type_hints(probe.check)
    for need in probe.needs:
        found, wanted = members(hints[need.name]), type_of(need.name)
        assert [getattr(kind, "__name__", kind) for kind in found] == [getattr(wanted, "__name__", wanted)], need.name
        assert need.tolerant == (Unavailable in get_args(hints[need.name])), need.name


@every_probe
def test_it_is_tested_at_the_mirrored_path(probe: Probe):
    area, fault = path_of(probe).split("/")
    test = TESTS / "probes" / area / f"test_{fault}"
    assert probe.check.__module__ in test.read_text(encoding="utf-8"), f"{test} does not import the probe"


@pytest.mark.parametrize("area", PROMISED)
def test_promised_ids_are_there(area):
    found = {probe.id for probe in PROBES}
    assert {f"{area}/{fault}" for fault in PROMISED[area].split()} <= found


def test_every_fact_and_view_is_needed_by_some_probe():
    assert registry.facts_for(PROBES) == FACTS.keys()
    asked = {need.name for probe in PROBES for need in probe.needs}
    asked |= {name for view in registry.views().values() for name in view.view.__code__.co_varnames}
    assert registry.views().keys() <= asked


def commands_named(path):
    """Yield the commands of envdoctor that strings of a module name: as a step, or between backticks."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            beginning = "`" if id(node) in docstrings else r"^|`"
            yield from re.findall(rf"(?:{beginning})envdoctor ([a-z][a-z-]*)", node.value)


def test_advice_names_only_commands_that_exist():
    named = {command for path in PACKAGE.rglob("*.py") for command in commands_named(path)}
    assert named <= typer.main.get_command(app).commands.keys()
    assert "seal" in named, "the search finds what is there"


def test_the_search_for_commands_sees_steps_and_backticks(tmp_path):
    path = tmp_path / "probe.py"
    advice = "'envdoctor b', f'envdoctor c {y}', 'run `envdoctor d`', 'no envdoctor e'"
    path.write_text(f"'envdoctor knows `envdoctor a`'\nx = {advice}")
    assert set(commands_named(path)) == {"a", "b", "c", "d"}
