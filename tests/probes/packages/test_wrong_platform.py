"""A wheel whose tags the interpreter would refuse is an error."""

import pytest
from values import MARKERS, PIP, distribution, distributions, findings, interpreter, without

from envdoctor.model import Severity
from envdoctor.probes.packages.wrong_platform import check


def judge(*tags, **fields):
    installed = distributions(distribution("ext", tags=tags), "pip")
    return findings(check, distributions=installed, interpreter=interpreter(**fields))


@pytest.mark.parametrize(
    "tag",
    [
        "cp311-cp311-manylinux_2_28_x86_64",
        "cp313-cp313-manylinux_2_28_x86_64",
        "cp312-cp312-manylinux_2_28_aarch64",
        "cp312-cp312-musllinux_1_2_x86_64",
        "cp312-cp312-macosx_11_0_arm64",
        "cp312-cp312-win_amd64",
        "cp312-cp312t-manylinux_2_28_x86_64",
        "cp313-abi3-manylinux_2_28_x86_64",
        "cp311-none-manylinux_2_28_x86_64",
        "py313-none-any",
        "py2-none-any",
        "pp310-pypy310_pp73-manylinux_2_28_x86_64",
    ],
)
def test_a_wheel_for_something_else_is_an_error(tag):
    (finding,) = judge(tag)
    assert (finding.severity, finding.subject) == (Severity.ERROR, "ext")
    assert finding.message == f"ext 1.0 was built for {tag}, this is Python 3.12 on linux x86_64"
    assert finding.remedy == (f"{PIP} install --force-reinstall --no-deps ext==1.0",)


@pytest.mark.parametrize(
    "tag",
    [
        "cp312-cp312-manylinux_2_28_x86_64",
        "cp312-cp312-manylinux2014_x86_64",
        "cp312-cp312-manylinux1_x86_64",
        "cp312-cp312-linux_x86_64",
        "cp312-none-any",
        "cp38-abi3-manylinux_2_28_x86_64",
        "cp311.cp312-abi3-manylinux_2_28_x86_64",
        "cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64",
        "cp312-cp312-linux_x86_64.win_amd64",
        "py3-none-any",
        "py2.py3-none-any",
        "py39-none-any",
        "py3-none-manylinux_2_28_x86_64",
        "not a tag",
    ],
)
def test_a_wheel_that_fits_says_nothing(tag):
    assert judge(tag) == []


def test_one_fitting_tag_is_enough():
    assert judge("cp311-cp311-win_amd64", "cp312-cp312-linux_x86_64") == []
    (finding,) = judge("cp311-cp311-win_amd64", "cp311-cp311-linux_x86_64")
    assert "cp311-cp311-win_amd64 and 1 more" in finding.message


def test_no_tags_say_nothing():
    assert judge() == []


@pytest.mark.parametrize(
    ("tag", "fields", "fits"),
    [
        ("cp312-cp312t-linux_x86_64", {"free_threaded": True}, True),
        ("cp312-cp312-linux_x86_64", {"free_threaded": True}, False),
        ("cp38-abi3-linux_x86_64", {"free_threaded": True}, False),
        ("py3-none-any", {"free_threaded": True}, True),
        ("cp312-cp312-linux_aarch64", {"markers": without("platform_machine")}, True),
        ("cp312-cp312-win_amd64", {"markers": without("platform_machine")}, False),
        ("cp310-cp310-linux_x86_64", {"version": None}, True),
        ("cp312-cp312-musllinux_1_2_x86_64", {"libc": ""}, True),
        ("cp312-cp312-macosx_11_0_arm64", {"markers": MARKERS | {"sys_platform": "darwin"}}, True),
    ],
)
def test_the_interpreter_decides_and_what_is_not_known_of_it_fits(tag, fields, fits):
    assert (judge(tag, **fields) == []) == fits
