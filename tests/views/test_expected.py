"""The lock as this target sees it: its markers, its groups, its extras."""

import pytest
from values import MARKERS, expected, interpreter, lock, pin, without

from envdoctor.model import Target

ARM = pin("torch==2.11.0", marker='platform_machine == "aarch64"')
CUDA = pin("torch==2.11.0+cu128", marker='platform_machine == "x86_64"')


def test_a_pin_is_chosen_by_the_targets_machine():
    assert expected(lock=lock(ARM, CUDA)).wanted["torch"].version == "2.11.0+cu128"


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_an_unknown_machine_wants_neither_and_allows_both(machine):
    found = expected(lock=lock(ARM, CUDA), interpreter=interpreter(markers=without("platform_machine")))
    assert "torch" not in found.wanted
    assert {package.version for package in found.allowed["torch"]} == {"2.11.0", "2.11.0+cu128"}


def test_groups_and_extras_come_from_the_target():
    given = lock(pin("pytest==8.0", marker='"dev" in dependency_groups'), pin("wandb==1.0", marker='"log" in extras'))
    plain = expected(lock=given)
    asked = expected(lock=given, target=Target("/env", "/env/bin/python", groups=("dev",), extras=("log",)))
    assert (list(plain.wanted), list(asked.wanted)) == ([], ["pytest", "wandb"])
    assert list(plain.allowed) == ["pytest", "wandb"]


def test_another_python_wants_another_pin():
    given = lock(pin("numpy==1.26.4", marker='python_version < "3.12"'))
    older = interpreter(markers=MARKERS | {"python_version": "3.11", "python_full_version": "3.11.9"})
    assert not expected(lock=given).allowed
    assert "numpy" in expected(lock=given, interpreter=older).wanted
