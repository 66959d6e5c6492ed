"""Floors of a torch build, by the tables."""

import pytest
from values import torch_build, view

from envdoctor.model import Unavailable
from envdoctor.views.driver_floor import DriverFloor, builds_for, numbers


def floor(cuda):
    return view("driver_floor", torch_build=torch_build(cuda=cuda))


@pytest.mark.parametrize(
    ("cuda", "minimum", "own"),
    [
        ("11.8", "450.80.02", "520.61.05"),
        ("12.8", "525.60.13", "570.26"),
        ("13.0", "580", "580.65.06"),
        ("12.8.1", "525.60.13", "570.26"),
        ("14.0", None, None),
        ("12.99", "525.60.13", None),
    ],
)
def test_floor_and_own_driver(cuda, minimum, own):
    found = floor(cuda)
    assert (found.minimum, found.own, bool(found.source)) == (minimum, own, minimum is not None)


@pytest.mark.parametrize("cuda", [None, "", "gfx942"])
def test_a_torch_without_cuda_asks_nothing(cuda):
    assert isinstance(floor(cuda), Unavailable)


def test_a_value_has_the_two_numbers():
    assert isinstance(floor("13.2"), DriverFloor)
    assert floor("13.2").cuda == (13, 2)


def test_versions_are_compared_part_by_part():
    assert numbers("580") < numbers("580.95.05") < numbers("590") < numbers("1000.1")
    assert numbers("535.54.03") < numbers("535.183.01")


def test_builds_that_a_driver_runs():
    assert builds_for("2.10.0", "535.183.01") == ("cu128", "cu126")
    assert builds_for("2.10.0", "580.95.05") == ("cu130", "cu128", "cu126")
    assert builds_for("2.10.0", "470.1") == ()
    assert builds_for("0.0", "999") == ()
