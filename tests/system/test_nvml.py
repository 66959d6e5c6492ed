"""NVML's answers become values, each of its errors a reason or a None. A stand-in for pynvml speaks for the library."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from envdoctor.model import Unavailable
from envdoctor.system import nvml

GB = 1 << 30


class RefusalError(Exception):
    def __init__(self, value):
        super().__init__(f"error {value}")
        self.value = value


def process(pid, used):
    return SimpleNamespace(pid=pid, usedGpuMemory=used)


ANSWERS = {
    "nvmlInit": None,
    "nvmlSystemGetDriverVersion": "535.183.01",
    "nvmlSystemGetCudaDriverVersion_v2": 12020,
    "nvmlDeviceGetCount": 1,
    "nvmlDeviceGetHandleByIndex": "handle",
    "nvmlDeviceGetUUID": "GPU-1",
    "nvmlDeviceGetName": "NVIDIA A100",
    "nvmlDeviceGetPciInfo": SimpleNamespace(busId="00000000:01:00.0"),
    "nvmlDeviceGetCudaComputeCapability": [8, 0],
    "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=40 * GB, free=30 * GB, reserved=GB, used=9 * GB),
    "nvmlDeviceGetEccMode": [1, 1],
    "nvmlDeviceGetTotalEccErrors": lambda _, kind, counter: kind == 1 and {0: 2, 1: 7}[counter],
    "nvmlDeviceGetRemappedRows": (0, 1, 1, 0),
    "nvmlDeviceGetMigMode": [0, 0],
    "nvmlDeviceGetComputeRunningProcesses": [process(10, 8 * GB)],
    "nvmlDeviceGetGraphicsRunningProcesses": [process(10, GB), process(11, None)],
}
CODES = {
    "NVML_ERROR_LIBRARY_NOT_FOUND": 12,
    "NVML_ERROR_DRIVER_NOT_LOADED": 9,
    "NVML_ERROR_LIB_RM_VERSION_MISMATCH": 18,
    "NVML_MEMORY_ERROR_TYPE_UNCORRECTED": 1,
    "NVML_VOLATILE_ECC": 0,
    "NVML_AGGREGATE_ECC": 1,
    "nvmlMemory_v2": 0x02000028,
}


@pytest.fixture
def answer(monkeypatch):
    """Return a function that lets the stand-in answer as told: a value, a function, or an error's number to refuse."""

    def settle(**changes):
        module = ModuleType("pynvml")
        module.NVMLError = RefusalError
        for name, value in CODES.items():
            setattr(module, name, value)
        for name, value in (ANSWERS | changes).items():
            setattr(module, name, speaking(value))
        monkeypatch.setitem(sys.modules, "pynvml", module)
        return nvml.read()

    return settle


def speaking(value):
    def function(*arguments):
        if isinstance(value, RefusalError):
            raise value
        return value(*arguments) if callable(value) else value

    return function


def test_a_gpu_is_read_whole(answer):
    reading = answer()
    assert (reading.driver, reading.cuda) == ("535.183.01", (12, 2))
    assert reading.gpus == (
        nvml.Gpu(
            0,
            "GPU-1",
            "NVIDIA A100",
            "00000000:01:00.0",
            (8, 0),
            40 * GB,
            30 * GB,
            GB,
            ecc=True,
            ecc_uncorrected=2,
            ecc_uncorrected_ever=7,
            repair_pending=True,
            repair_failed=False,
            mig=False,
            processes=(nvml.GpuProcess(10, 8 * GB), nvml.GpuProcess(11, None, "graphics")),
        ),
    )


@pytest.mark.parametrize("used", [9, 10], ids=["used without the reserve", "used with it"])
def test_memory_in_use_leaves_the_reserve_out_however_nvml_counts(answer, used):
    memory = SimpleNamespace(total=40 * GB, free=30 * GB, reserved=GB, used=used * GB)
    assert answer(nvmlDeviceGetMemoryInfo=memory).gpus[0].memory_used == 9 * GB


@pytest.mark.parametrize(
    ("code", "reason", "failed"),
    [
        (12, "libnvidia-ml.so.1 cannot be loaded", False),
        (9, "the NVIDIA driver is not loaded", False),
        (18, "NVML: driver/library version mismatch", False),
        (999, "NVML: error 999", True),
        (4, "NVML: error 4", True),
    ],
)
def test_why_nvml_cannot_be_begun_with_is_a_reason(answer, code, reason, failed):
    assert answer(nvmlInit=RefusalError(code)) == Unavailable(reason, failed=failed)


@pytest.mark.parametrize("name", [name for name in ANSWERS if name.startswith(("nvmlDeviceGet", "nvmlSystem"))])
def test_any_one_refusal_costs_its_value_alone(answer, name):
    reading = answer(**{name: RefusalError(3)})
    assert isinstance(reading, nvml.Reading)
    assert len(reading.gpus) == (0 if name == "nvmlDeviceGetCount" else 1)


def test_a_lost_gpu_keeps_its_place(answer):
    gone = answer(nvmlDeviceGetCount=2, nvmlDeviceGetHandleByIndex=lambda at: refuse(15) if at else "handle")
    assert [(gpu.index, gpu.uuid, gpu.problem) for gpu in gone.gpus] == [(0, "GPU-1", None), (1, "", "error 15")]


def refuse(code):
    raise RefusalError(code)


def test_processes_that_are_not_listed_are_unknown_and_an_empty_list_is_none_running(answer):
    assert answer(nvmlDeviceGetComputeRunningProcesses=RefusalError(4)).gpus[0].processes is None
    nobody = answer(nvmlDeviceGetComputeRunningProcesses=[], nvmlDeviceGetGraphicsRunningProcesses=[])
    assert nobody.gpus[0].processes == ()


def test_an_older_driver_is_asked_for_the_older_list(answer):
    older = answer(
        nvmlDeviceGetComputeRunningProcesses=RefusalError(13),
        nvmlDeviceGetComputeRunningProcesses_v2=[process(10, GB)],
        nvmlDeviceGetGraphicsRunningProcesses=RefusalError(13),
    )
    assert older.gpus[0].processes == (nvml.GpuProcess(10, GB),)


def test_pages_of_an_older_gpu_count_as_its_repair(answer):
    older = answer(nvmlDeviceGetRemappedRows=RefusalError(3), nvmlDeviceGetRetiredPagesPendingStatus=1).gpus[0]
    assert (older.repair_pending, older.repair_failed) == (True, None)


def test_mig_devices_are_named(answer):
    sliced = answer(
        nvmlDeviceGetMigMode=[1, 1],
        nvmlDeviceGetMaxMigDeviceCount=3,
        nvmlDeviceGetMigDeviceHandleByIndex=lambda _, slot: refuse(6) if slot == 1 else f"slice {slot}",
        nvmlDeviceGetUUID=lambda handle: f"MIG-{handle[-1]}" if handle.startswith("slice") else "GPU-1",
    ).gpus[0]
    assert (sliced.mig, sliced.mig_devices) == (True, ("MIG-0", "MIG-2"))


def test_memory_that_the_operating_system_manages_is_marked(answer):
    assert answer(nvmlDeviceGetNumaNodeId=0).gpus[0].numa
    assert not answer(nvmlDeviceGetNumaNodeId=RefusalError(3)).gpus[0].numa


@pytest.mark.parametrize(("number", "cuda"), [(12020, (12, 2)), (13000, (13, 0)), (11080, (11, 8)), (12100, (12, 10))])
def test_cuda_numbers_are_taken_apart(number, cuda):
    assert nvml.decoded(number) == cuda


def test_the_real_binding_has_every_function_that_is_called():
    import pynvml

    assert not {name for name in (*ANSWERS, *CODES) if not hasattr(pynvml, name)}
