import pytest

from envdoctor.errors import UsageError
from envdoctor.locking import platforms
from envdoctor.locking.platforms import Platform


@pytest.mark.parametrize(
    ("said", "meant", "to_uv"),
    [
        ("manylinux_2_28_x86_64", "manylinux_2_28_x86_64", "x86_64-manylinux_2_28"),
        ("x86_64-manylinux_2_28", "manylinux_2_28_x86_64", "x86_64-manylinux_2_28"),
        ("manylinux2014_aarch64", "manylinux_2_17_aarch64", "aarch64-manylinux_2_17"),
        ("manylinux_2_30_x86_64", "manylinux_2_30_x86_64", "x86_64-manylinux_2_28"),
        ("manylinux_2_43_x86_64", "manylinux_2_43_x86_64", "x86_64-manylinux_2_40"),
    ],
)
def test_a_platform_is_known_by_its_wheel_tag(said, meant, to_uv):
    platform = platforms.parse(said)
    assert (str(platform), platforms.for_uv(platform)) == (meant, to_uv)


@pytest.mark.parametrize("said", ["", "linux_x86_64", "win_amd64", "manylinux_2_28", "x86_64", "musllinux_1_2_x86_64"])
def test_others_are_refused(said):
    with pytest.raises(UsageError, match="manylinux_2_28_x86_64"):
        platforms.parse(said)


@pytest.mark.parametrize("tag", ["manylinux_2_12_x86_64", "manylinux_2_28_ppc64le"])
def test_what_uv_does_not_know_is_said(tag):
    with pytest.raises(UsageError, match="uv cannot resolve"):
        platforms.for_uv(platforms.parse(tag))


def test_a_machine_is_known_by_what_its_python_says():
    assert platforms.of_machine("glibc 2.36", "x86_64") == Platform((2, 36), "x86_64")
    assert platforms.of_machine("", "x86_64") is None
    assert platforms.of_machine("glibc 2.36", "") is None
