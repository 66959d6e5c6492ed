"""The wheel tags that fit an environment."""

import pytest

from envdoctor.locks.environments import LockEnvironment, stated


def tags(platform, machine, **fields):
    markers = {"python_version": "3.12", "sys_platform": platform, "platform_machine": machine}
    return LockEnvironment("here", markers, **fields).tags()


@pytest.mark.parametrize(
    ("platform", "machine", "fits", "does_not"),
    [
        ("darwin", "arm64", "cp312-cp312-macosx_11_0_arm64", "cp312-cp312-macosx_11_0_x86_64"),
        ("darwin", "arm64", "cp39-abi3-macosx_10_13_universal2", "cp313-cp313-macosx_11_0_arm64"),
        ("darwin", "x86_64", "cp312-cp312-macosx_10_13_x86_64", "cp312-cp312-manylinux_2_28_x86_64"),
        ("win32", "AMD64", "cp312-cp312-win_amd64", "cp312-cp312-win_arm64"),
        ("win32", "x86", "py3-none-win32", "py3-none-win_amd64"),
        ("linux", "x86_64", "cp312-cp312-manylinux_2_39_x86_64", "cp312-cp312-musllinux_1_2_x86_64"),
    ],
)
def test_a_wheel_that_fits_and_one_that_does_not(platform, machine, fits, does_not):
    found = tags(platform, machine)
    assert {fits, "py3-none-any"} <= found
    assert does_not not in found


def test_what_is_not_known_has_no_tags():
    assert tags("plan9", "mips") is None
    assert stated("3.12", None).tags() is None
    assert stated(None, "linux_x86_64").tags() is None
