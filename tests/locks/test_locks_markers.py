from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker, default_environment

from envdoctor.locks.markers import Environment

PARTIAL = {"sys_platform": "linux", "python_version": "3.11"}


@pytest.mark.parametrize(
    ("marker", "value"),
    [
        (None, True),
        ("", True),
        ("sys_platform == 'linux'", True),
        ("sys_platform=='win32'", False),
        ("'linux' in sys_platform", True),
        ("platform_machine == 'x86_64'", None),
        ("sys_platform == 'win32' and platform_machine == 'x86_64'", False),
        ("sys_platform == 'linux' and platform_machine == 'x86_64'", None),
        ("sys_platform == 'linux' or platform_machine == 'x86_64'", True),
        ("sys_platform == 'win32' or platform_machine == 'x86_64'", None),
        (
            "platform_machine == 'x86_64' and (sys_platform == 'win32' or os_name == 'nt' and python_version < '3')",
            False,
        ),
        ("(sys_platform=='linux')and(python_version<'4')", True),
        ("sys.platform == 'linux'", True),
        ("python_version ~= 'nonsense'", None),
        ("this is no marker", None),
        ("(sys_platform == 'linux'", None),
        ("sys_platform == 'linux' sys_platform == 'linux'", None),
        ("(" * 100000, None),
        ("extra == 'gpu'", None),
        ("'gpu' in extras and sys_platform == 'win32'", False),
    ],
)
def test_unknown_is_neither_true_nor_false(marker, value):
    assert Environment(PARTIAL).applies(marker) is value


@pytest.mark.parametrize("variable", sorted(default_environment()))
def test_nothing_is_filled_in_from_the_interpreter_that_runs_the_doctor(variable):
    own = default_environment()[variable]
    assert Environment({}).applies(f"{variable} == '{own}'") is None
    assert Environment({}).applies(f"{variable} != '{own}'") is None


@pytest.mark.parametrize(
    ("marker", "value"),
    [
        ("python_full_version >= '3.11'", True),
        ("python_full_version < '3.11'", False),
        ("python_full_version == '3.11.*'", True),
        ("python_full_version != '3.11.*'", False),
        ("python_full_version >= '3.11.4'", None),
        ("python_full_version == '3.11.4'", None),
        ("python_full_version != '3.11.4'", None),
        ("python_full_version in '3.11.1 3.11.2'", None),
        ("implementation_version >= '3.11'", None),
    ],
)
def test_minor_version_decides_what_no_patch_release_could_change(marker, value):
    assert Environment(PARTIAL).applies(marker) is value


def test_full_version_implies_the_minor_one():
    assert Environment({"python_full_version": "3.12.3"}).applies("python_version == '3.12'") is True


@pytest.mark.parametrize("full", ["3.13.0rc1", "3.14.0a1+", "3.12.3"])
def test_development_builds_are_compared_as_packaging_does(full):
    values = {"python_full_version": full, "python_version": full[:4]}
    for marker in ("python_full_version >= '3.13'", "python_full_version < '3.14'", "python_version >= '3.13'"):
        assert Environment(values).applies(marker) is Marker(marker).evaluate({**default_environment(), **values})


@pytest.mark.parametrize(
    ("marker", "value"),
    [
        ("extra == 'GPU_x'", True),
        ("extra != 'gpu-x'", False),
        ("extra == 'cpu'", False),
        ("'Gpu.X' in extras", True),
        ("'cpu' not in extras", True),
        ("'dev' in dependency_groups", True),
        ("'docs' in dependency_groups or 'gpu-x' in extras", True),
        ("extra >= 'gpu-x'", None),
    ],
)
def test_choices_are_compared_by_normalised_name(marker, value):
    chosen = {"extra": frozenset(["gpu-x"]), "extras": frozenset(["gpu-x"]), "dependency_groups": frozenset(["dev"])}
    assert Environment({}, chosen).applies(marker) is value


COMPARISONS = st.sampled_from(
    [
        "sys_platform == 'linux'",
        'os_name != "nt"',
        "python_version < '3.12'",
        "python_full_version >= '3.12.1'",
        "platform_machine in 'x86_64 aarch64'",
        "'win' not in sys_platform",
        "'3.11' <= python_version",
    ]
)
MARKERS = st.recursive(
    COMPARISONS,
    lambda inner: st.builds(
        lambda left, word, right, brackets: f"({left}) {word} {right}" if brackets else f"{left} {word} {right}",
        inner,
        st.sampled_from(["and", "or"]),
        inner,
        st.booleans(),
    ),
    max_leaves=8,
)


@given(MARKERS)
def test_fully_known_target_gets_packagings_answer(marker):
    values = dict(default_environment())
    assert Environment(values).applies(marker) is Marker(marker).evaluate(values)


@given(MARKERS, st.sets(st.sampled_from(sorted(default_environment()))))
def test_what_is_decided_on_partial_knowledge_is_right(marker, missing):
    values = dict(default_environment())
    partly = Environment({key: value for key, value in values.items() if key not in missing}).applies(marker)
    assert partly in (None, Marker(marker).evaluate(values))
