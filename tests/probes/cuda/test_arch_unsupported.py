"""A GPU runs machine code of its major capability and PTX of older ones; the rules are NVIDIA's."""

import pytest
from values import arch_list, driver, findings, gpu, torch_build, variables

from envdoctor import knowledge
from envdoctor.facts.arch_list import runs
from envdoctor.model import Severity
from envdoctor.probes.cuda.arch_unsupported import check

CU128 = ("sm_70", "sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")


def judge(*capabilities, archs=CU128, ptx=False, torch=("2.8.0+cu128", "12.8"), **facts):
    cards = driver(*[gpu(index, capability=capability) for index, capability in enumerate(capabilities)])
    return findings(check, driver=cards, arch_list=arch_list(*archs, ptx=ptx), torch_build=torch_build(*torch), **facts)


@pytest.mark.parametrize(
    ("capability", "archs", "expected"),
    [
        ((6, 1), ("sm_60",), True),
        ((6, 0), ("sm_61",), False),
        ((8, 9), ("sm_80", "sm_86"), True),
        ((12, 0), ("sm_90",), False),
        ((12, 0), ("sm_90", "compute_90"), True),
        ((8, 0), ("sm_90", "compute_90"), False),
        ((10, 3), ("sm_100",), True),
        ((9, 0), ("sm_90a",), True),
        ((10, 3), ("sm_100a",), False),
        ((10, 3), ("sm_100f",), True),
        ((12, 0), ("sm_100f",), False),
        ((12, 0), ("compute_100f",), False),
        ((12, 0), ("compute_100a",), False),
        ((12, 1), ("sm_120",), True),
        ((8, 7), ("sm_80", "sm_86"), False),
        ((8, 7), ("sm_87",), True),
        ((8, 9), ("sm_87",), False),
        ((8, 7), ("sm_80", "compute_80"), True),
        ((7, 5), ("sm_72",), False),
        ((11, 0), ("sm_101",), True),
        ((11, 0), ("sm_110",), True),
        ((9, 0), ("gfx942",), False),
        ((9, 0), (), False),
    ],
)
def test_rules(capability, archs, expected):
    assert runs(capability, archs, ptx=False) is expected


@pytest.mark.parametrize(("ptx", "expected"), [(True, True), (False, False), (None, None)])
def test_ptx_of_the_last_one_decides_for_newer_gpus_alone(ptx, expected):
    assert runs((15, 0), CU128, ptx=ptx) is expected
    assert runs((6, 1), CU128, ptx=ptx) is False


@pytest.mark.parametrize("capability", [(6, 1), (5, 0), (3, 7)])
def test_a_gpu_without_code_is_an_error(capability):
    (found,) = judge((9, 0), capability, variables=variables(CUDA_DEVICE_ORDER="PCI_BUS_ID"))
    assert (found.severity, found.subject) == (Severity.ERROR, "cuda:1")


@pytest.mark.parametrize("capability", [(7, 0), (8, 9), (9, 0), (12, 0), None])
def test_a_gpu_with_code_or_of_unknown_capability_is_healthy(capability):
    assert judge(capability) == []


def test_a_gpu_that_the_job_does_not_see_does_not_matter():
    hidden = variables(CUDA_VISIBLE_DEVICES="0", CUDA_DEVICE_ORDER="PCI_BUS_ID")
    assert judge((9, 0), (6, 1), variables=hidden) == []


def test_newer_gpus_are_passed_over_where_ptx_is_not_settled():
    assert judge((15, 0), ptx=None) == []
    assert len(judge((15, 0))) == 1


@pytest.mark.parametrize(
    ("torch", "archs", "capability", "label"),
    [
        (("2.8.0+cu128", "12.8"), CU128, (6, 1), "torch==2.8.0+cu126"),
        (("2.11.0+cu130", "13.0"), ("sm_75", "sm_80", "sm_90", "sm_120"), (7, 0), "torch==2.11.0+cu126"),
    ],
)
def test_the_label_of_the_same_release_that_holds_it_is_advised(torch, archs, capability, label):
    (found,) = judge(capability, archs=archs, torch=torch)
    assert label in found.remedy[0]


def test_where_no_label_of_the_release_holds_it_others_are_named():
    (found,) = judge((12, 0), archs=("sm_80", "sm_90"), torch=("2.5.1+cu124", "12.4"))
    assert found.remedy[0].startswith("install a torch that holds code for it: 2.15.0+cu132")


def test_where_no_known_build_holds_it_that_is_said():
    (found,) = judge((2, 0))
    assert "no known build" in found.remedy[0]


def test_the_table_of_exceptions_names_each_code_for_its_own_gpu():
    for row in knowledge.rows("arch_apart"):
        own = f"{row['code'][3:-1]}.{row['code'][-1]}"
        assert row["runs_on"][0] == own
