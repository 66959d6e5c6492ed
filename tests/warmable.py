"""A target whose torch only pretends: it counts hits and misses, writes entries, and has two GPUs to choose from."""

from patients import Patient, Wheel

INIT = '''
import os
import torch.cuda
import torch._dynamo.utils
from torch._dynamo.utils import counters

__version__ = "2.11.0+cu130"


class device:
    def __init__(self, name):
        self.name = name
        self.type, _, index = name.partition(":")
        self.index = int(index) if index else None

    def __str__(self):
        return self.name


def count(name, by=1):
    group = counters["aot_autograd" if name.startswith("auto") else "inductor"]
    group[name] = group.get(name, 0) + by


def step(*graphs, on="cpu", backward=True):
    """Compile graphs for a device; `cuda` is the current one."""
    if str(on).startswith("cuda"):
        number = torch.cuda.current_device() if str(on) == "cuda" else int(str(on)[5:])
        torch.cuda.init()
        torch.cuda.used.add(number)
        on, where = f"cuda:{number}", f"'cuda', index={number}"
    else:
        where = "'cpu'"
    for graph in graphs:
        folder = os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], "aotautograd", f"a{graph}{on}".replace(":", ""))
        if os.path.exists(folder):
            count("autograd_cache_hit")
            count("fxgraph_cache_hit", 2)
            continue
        count("autograd_cache_miss")
        count("fxgraph_cache_miss", 1 + backward)
        if backward:
            count("autograd_cache_saved")
            os.makedirs(folder)
            with open(os.path.join(folder, "entry"), "w") as stream:
                stream.write(f"[{'k' * 51}] example_inputs[0]: TensorMetadata(x, device=device(type={where}), y)")
'''
CUDA = """
_queue, used, state = [], set(), {"ready": False, "current": 0}


def _lazy_call(function):
    function() if state["ready"] else _queue.append(function)


def is_initialized():
    return state["ready"]


def init():
    if not state["ready"]:
        state["ready"] = True
        for function in _queue:
            function()


def set_device(device):
    init()
    number = device if isinstance(device, int) else device.index
    if number > 1:
        raise RuntimeError("CUDA error: invalid device ordinal\\nmore of it")
    state["current"] = number


def current_device():
    init()
    return state["current"]


def device_count():
    return 2


def memory_reserved(number):
    return number in used


max_memory_allocated = memory_reserved


def synchronize(device):
    pass
"""
FILES = {
    "torch/__init__.py": INIT,
    "torch/version.py": "__version__ = '2.11.0+cu130'\ncuda = '13.0'\ngit_version = 'abc1234'\n",
    "torch/cuda/__init__.py": CUDA,
    "torch/_dynamo/__init__.py": "",
    "torch/_dynamo/utils.py": "counters = {'inductor': {}, 'aot_autograd': {}}\n",
}


def warmable(folder):
    """Return an environment with that torch."""
    patient = Patient(folder)
    patient.install(Wheel("torch", "2.11.0", FILES), requested=True)
    return patient
