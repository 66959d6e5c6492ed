"""Torch and NVML speak of the same GPU."""

import pytest
from values import attempt, driver, failure, gpu, tried, variables

from envdoctor.model import Severity, Unavailable
from envdoctor.probes.smoke.device import check

UUID = "3f1c2d4e-0a1b-4c2d-8e9f-001122334455"
CARD = gpu(uuid=f"GPU-{UUID}")
SAME = {"name": CARD.name, "capability": [9, 0], "uuid": UUID}


def judge(*gpus, setting=None, order="PCI_BUS_ID", device="cuda:0", **said):
    given = {"CUDA_DEVICE_ORDER": order} | ({} if setting is None else {"CUDA_VISIBLE_DEVICES": setting})
    told = attempt("device", device=device, **(SAME | said))
    return tried(check, told, driver=driver(*(gpus or (CARD,))), variables=variables(**given))


@pytest.mark.parametrize(
    ("said", "differs", "message"),
    [
        ({"name": "NVIDIA A100"}, "name", f"cuda:0 is NVIDIA A100 to torch and {CARD.name} to NVML (name)"),
        ({"capability": [8, 0]}, "capability", "cuda:0 is [8, 0] to torch and [9, 0] to NVML (capability)"),
        ({"uuid": UUID.replace("3f", "00")}, "uuid", f"to torch and {UUID} to NVML (uuid)"),
    ],
)
def test_each_difference_is_an_error(said, differs, message):
    (found,) = judge(**said)
    assert (found.severity, found.subject, found.evidence["differs"]) == (Severity.ERROR, "cuda:0", differs)
    assert message in found.message
    assert found.remedy == ("export CUDA_DEVICE_ORDER=PCI_BUS_ID",)


def test_a_uuid_differs_in_whatever_case():
    assert judge(uuid=f"GPU-{UUID}".upper().replace("3F", "00"))[0].evidence["differs"] == "uuid"


def test_differences_of_one_device_are_one_finding():
    assert len(judge(name="NVIDIA T4", capability=[7, 5], uuid=UUID.replace("3f", "00"))) == 1


@pytest.mark.parametrize(
    "said",
    [{}, {"uuid": ""}, {"uuid": f"GPU-{UUID}".upper()}, {"uuid": UUID.upper()}, {"uuid": "b'?'"}, {"name": None}],
    ids=["same", "torch without uuid", "prefix and case", "case", "no uuid", "no name"],
)
def test_healthy_neighbours(said):
    assert judge(**said) == []


def test_what_nvml_does_not_know_is_not_compared():
    assert judge(gpu(uuid=CARD.uuid, capability=None)) == []


def test_a_slice_has_a_name_and_a_uuid_of_its_own():
    sliced = gpu(uuid=CARD.uuid, mig=True, mig_devices=("MIG-11111111-0a1b-4c2d-8e9f-001122334455",))
    own = {"name": "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "uuid": "11111111-0a1b-4c2d-8e9f-001122334455"}
    assert judge(sliced, **own) == []
    assert judge(sliced, **own, capability=[8, 0])[0].evidence["differs"] == "capability"


def test_the_gpu_that_the_variable_names_is_the_one_compared():
    other = gpu(1, name="NVIDIA T4", capability=(7, 5))
    assert len(judge(CARD, other, setting="1")) == 1
    assert judge(CARD, other, setting="1,0", device="cuda:1") == []


def test_where_it_is_not_known_which_gpu_it_is_nothing_is_compared():
    assert judge(gpu(name="NVIDIA T4"), gpu(1), order="") == []
    hung = Unavailable("NVML gave no answer within 3 s", failed=True)
    assert tried(check, attempt("device", **SAME), driver=driver(problem=hung), variables=variables()) == []


def test_a_device_that_torch_cannot_use_is_told():
    (found,) = tried(check, attempt("device", failure("RuntimeError: torch sees 1 GPUs, so there is no cuda:3")))
    assert found.message == "cuda:0: device failed: RuntimeError: torch sees 1 GPUs, so there is no cuda:3"
