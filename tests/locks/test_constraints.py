"""Poetry's constraints as PEP 440 writes them."""

import pytest

from envdoctor.locks import constraints
from envdoctor.locks.environments import LockEnvironment


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        ("*", ("",)),
        ("^3.10", (">=3.10,<4",)),
        ("^1.2.3", (">=1.2.3,<2",)),
        ("^0.2.3", (">=0.2.3,<0.3",)),
        ("^0.0.3", (">=0.0.3,<0.0.4",)),
        ("^0", (">=0,<1",)),
        ("~1.2.3", (">=1.2.3,<1.3",)),
        ("~1", (">=1,<2",)),
        ("~=1.2", ("~=1.2",)),
        ("11.11.3.6", ("==11.11.3.6",)),
        ("2.*", ("==2.*",)),
        ("2.x", ("==2.*",)),
        (">=3.7.1,<3.10", (">=3.7.1,<3.10",)),
        (">=1 <2", (">=1,<2",)),
        ("(>=1, <2)", (">=1,<2",)),
        (">=3.19.0,<4.21.0 || >4.21.0,<5", (">=3.19.0,<4.21.0", ">4.21.0,<5")),
        ("^1 | ^3", (">=1,<2", ">=3,<4")),
        ("==2.4.1+cu118", ("==2.4.1+cu118",)),
        ("", None),
        ("^x", None),
        (">=1,|", None),
        ("<*", None),
        ("=== ,", None),
    ],
)
def test_alternatives(text, sets):
    assert constraints.alternatives(text) == sets


@pytest.mark.parametrize(
    ("constraint", "version", "admitted"),
    [
        ("^1.2", "1.9", True),
        ("^1.2", "2.0", False),
        ("<1 || >=2", "2.1rc1", True),
        ("2.4.1", "2.4.1+cu118", True),
        ("what?", "1", True),
        ("^1.2", "no version", True),
        (">=" + "9" * 5000, "1", True),
    ],
)
def test_what_is_unclear_admits_all(constraint, version, admitted):
    assert constraints.admits(constraint, version) is admitted


@pytest.mark.parametrize(
    ("text", "requires"),
    [("*", None), (None, None), ("^3.10", ">=3.10,<4"), ("3.9.* || >=3.11", "==3.9.* || >=3.11"), ("^x", None)],
)
def test_pythons(text, requires):
    assert constraints.requires_python(text) == requires


@pytest.mark.parametrize(("python", "admitted"), [("3.9", True), ("3.10", False), ("3.11", True)])
def test_alternatives_of_pythons_admit_an_environment(python, admitted):
    assert LockEnvironment("", {"python_version": python}).admitted("==3.9.* || >=3.11") is admitted


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        ("*", None),
        ("<3.11", 'python_version < "3.11"'),
        ("^3.8", 'python_version >= "3.8" and python_version < "4"'),
        (">=3.8.1", 'python_full_version >= "3.8.1"'),
        ("3.9.* || >=3.11", 'python_version == "3.9.*" or python_version >= "3.11"'),
    ],
)
def test_markers(text, marker):
    assert constraints.python_marker(text) == marker
