"""Requirement edges: markers and extras are evaluated for the target, and nothing is borrowed from the doctor."""

import pytest
from values import MARKERS, distribution, distributions, interpreter, requirements, without


def edges(*requires, installed=(), markers=MARKERS):
    given = distributions(distribution("app", requires=requires), *installed)
    found = requirements(distributions=given, interpreter=interpreter(markers=markers))
    return [(edge.requirer, edge.name, edge.installed, edge.satisfied) for edge in found.edges]


@pytest.mark.parametrize(
    ("text", "satisfied"),
    [
        ("torch", True),
        ("torch==2.11.0", True),
        ("torch>=2.11", True),
        ("torch<2.11", False),
        ("torch==2.10.0", False),
        ("Torch (>=2.0,<3)", True),
        ("torch @ https://index.example/torch.whl", True),
    ],
)
def test_a_requirement_is_compared_with_what_an_import_would_find(text, satisfied):
    assert edges(text, installed=["torch==2.11.0+cu128"]) == [("app", "torch", "2.11.0+cu128", satisfied)]


def test_a_prerelease_that_is_installed_counts():
    assert edges("torch>=2.11", installed=["torch==2.12.0.dev20260101"])[0][3]


def test_what_is_absent_is_unsatisfied():
    assert edges("torch") == [("app", "torch", None, False)]


def test_a_version_that_cannot_be_read_is_not_called_wrong():
    assert edges("torch>=2", installed=[distribution("torch", None)])[0][3]


@pytest.mark.parametrize(
    ("marker", "applies"),
    [
        ('python_version >= "3.12"', True),
        ('python_version < "3.12"', False),
        ('sys_platform == "win32"', False),
        ('platform_machine == "x86_64" and sys_platform == "linux"', True),
        ('extra == "test"', False),
    ],
)
def test_markers_are_the_targets(marker, applies):
    assert bool(edges(f"torch; {marker}")) == applies


@pytest.mark.parametrize("operator", ["==", "!="])
def test_a_dead_interpreter_borrows_nothing_from_the_doctors(operator):
    assert edges(f'torch; platform_machine {operator} "x86_64"', markers=without("platform_machine")) == []
    assert edges('torch; python_version >= "3.12"', markers=without("platform_machine"))


def test_an_extra_that_is_asked_for_brings_its_requirements():
    wheel = ['nvidia-nccl; extra == "cuda_12"', 'sphinx; extra == "docs"']
    found = edges("torch[cuda-12]", installed=[distribution("torch", requires=wheel)])
    assert ("torch", "nvidia-nccl", None, False) in found
    assert "sphinx" not in [name for _, name, _, _ in found]


def test_extras_are_followed_through_extras():
    chain = [distribution("a", requires=['b[y]; extra == "x"']), distribution("b", requires=['c; extra == "y"'])]
    assert ("b", "c", None, False) in edges("a[x]", installed=chain)


def test_extras_that_ask_for_each_other_come_to_an_end():
    ring = distribution("ring", requires=['ring[b]; extra == "a"', 'ring[a]; extra == "b"'])
    assert len(edges("ring[a]", installed=[ring])) == 3


def test_a_name_with_extra_in_it_is_no_extra():
    assert edges("pydantic-extra-types>=2") == [("app", "pydantic-extra-types", None, False)]


def test_what_is_no_requirement_is_kept_as_invalid():
    found = requirements(distributions=distributions(distribution("app", requires=["torch >> 2", "six"])))
    assert found.invalid == (("app", "torch >> 2"),)
    assert [edge.name for edge in found.edges] == ["six"]


def test_only_the_first_copy_on_the_path_requires_anything():
    hidden = distribution("app", "0.9", site="/usr/lib/python3/dist-packages", requires=["old"])
    assert edges("new", installed=[hidden]) == [("app", "new", None, False)]


def test_needs_and_required_by_are_two_readings_of_the_edges():
    chain = distributions(distribution("a", requires=["b", "a[x]"]), distribution("b", requires=["c"]), "c")
    found = requirements(distributions=chain)
    assert found.reachable(["a"]) == {"a", "b", "c"}
    assert [edge.requirer for edge in found.required_by["b"]] == ["a"]
    assert "a" not in found.required_by, "a package does not keep itself"
