"""What `cuda:N` is, under every kind of CUDA_VISIBLE_DEVICES."""

import pytest
from values import driver, gpu, variables, view

from envdoctor.model import Unavailable

FOUR = tuple(gpu(index) for index in range(4))
UNEQUAL = (gpu(0, name="NVIDIA T4"), gpu(1, name="NVIDIA H100 80GB HBM3"))
UUID = FOUR[2].uuid


def devices(gpus=FOUR, setting=None, **given):
    values = {} if setting is None else {"CUDA_VISIBLE_DEVICES": setting}
    return view("devices", driver=driver(*gpus), variables=variables(**values, **given))


def seen(found):
    return [(device.ordinal, device.gpu.index) for device in found.visible]


@pytest.mark.parametrize(
    ("setting", "indices"),
    [
        (None, [0, 1, 2, 3]),
        ("2,1", [2, 1]),
        ("0, 3", [0, 3]),
        (" 1gpu2,2ampere", [1, 2]),
        (UUID, [2]),
        (UUID[:12], [2]),
        (f"{UUID},{FOUR[0].uuid}", [2, 0]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
        ("0,2,-1,1", [0, 2]),
        ("0,7,1", [0]),
        ("0,GPU-1", [0]),
        (f"{UUID},0", [2]),
        ("GPU-", []),
        ("GPU-ffff", []),
        ("1,1", []),
        (f"{UUID},{UUID[:12]}", []),
    ],
)
def test_which_gpus_a_value_names(setting, indices):
    assert seen(devices(setting=setting)) == list(enumerate(indices))


def test_what_follows_an_invalid_entry_is_told():
    found = devices(setting="0,7,1,2")
    assert (found.invalid, found.ignored, found.repeated, found.hidden) == ("7", ("1", "2"), None, False)


def test_an_entry_that_is_there_twice_is_told():
    found = devices(setting="0,1,0")
    assert (found.repeated, found.invalid) == ("0", None)


@pytest.mark.parametrize("setting", ["", " ", "-1", "NoDevFiles"])
def test_hiding_all_is_told_from_a_mistake(setting):
    assert devices(setting=setting).hidden


def test_unequal_gpus_have_no_known_order_by_default():
    assert [device.subject for device in devices(UNEQUAL).visible] == [item.uuid for item in UNEQUAL]
    assert (seen(devices(UNEQUAL, "1")), devices(UNEQUAL, "1").untold) == ([], ("1",))
    assert {device.ordinal for device in devices(UNEQUAL, "1,0").visible} == {None}


def test_unequal_gpus_in_pci_order_are_told():
    found = devices(UNEQUAL, "1", CUDA_DEVICE_ORDER="PCI_BUS_ID")
    assert (seen(found), found.visible[0].subject, found.untold) == ([(0, 1)], "cuda:0", ())


def test_a_uuid_tells_an_unequal_gpu():
    assert seen(devices(UNEQUAL, UNEQUAL[1].uuid)) == [(0, 1)]


def test_a_lost_gpu_is_not_seen_and_leaves_the_order_open():
    assert seen(devices((gpu(0), gpu(1, uuid="", problem="GPU is lost")))) == [(None, 0)]


SLICED = (
    gpu(0, mig=True, mig_devices=("MIG-aa11", "MIG-bb22")),
    gpu(1, mig=True, mig_devices=("MIG-cc33",)),
)


@pytest.mark.parametrize(
    ("setting", "found"),
    [
        (None, [(0, "MIG-aa11")]),
        ("MIG-cc33", [(1, "MIG-cc33")]),
        ("MIG-bb", [(0, "MIG-bb")]),
        (f"MIG-{SLICED[1].uuid}/1/0", [(1, f"MIG-{SLICED[1].uuid}/1/0")]),
        ("MIG-dd", []),
        ("MIG-aa11,0", [(0, "MIG-aa11")]),
        ("0", [(0, "MIG-aa11")]),
    ],
)
def test_slices_are_named(setting, found):
    assert [(device.gpu.index, device.mig) for device in devices(SLICED, setting).visible] == found


def test_without_nvml_nothing_is_known():
    reason = Unavailable("NVML gave no answer within 3 s", failed=True)
    assert view("devices", driver=driver(problem=reason), variables=variables()) == reason
