"""Small compile caches on disk, laid out as torch 2.11 and triton 3.6 lay them out."""

import base64
import hashlib
import json
import os
import pickle

TEXT = """# torch version: {torch}
# torch cuda version: {cuda}
# torch git version: {git}
"""
TENSOR = "[{key}] example_inputs[0]: TensorMetadata(dtype=torch.float32, device=device(type='{kind}'{index}), x=1)"
MODULE = "t = DeviceProperties(type='cuda', index={index}, multi_processor_count=132, cc={cc}, major=9)\n"
TORCH, TRITON = "2.11.0+cu130", "3.6.0"


def graph(*devices, torch=TORCH, cuda="13.0", git="abc1234", told=True):
    """Return the bytes of an entry: a pickle with the texts that a graph for these devices has."""
    lines = [f"[{key(torch).lower()}] torch_version: x"]
    for device in devices:
        kind, _, index = device.partition(":")
        lines.append(TENSOR.format(key="k" * 51, kind=kind, index=f", index={index}" if index else ""))
    values = {"source": TEXT.format(torch=torch, cuda=cuda, git=git) if told else "", "debug_lines": lines}
    return pickle.dumps(values, protocol=4)


def walked(*indices):
    """Return an entry that names its devices in `device_idxs` alone."""
    return pickle.dumps({"device_types": ["cuda"], "device_idxs": list(indices), "mutated_inputs": [7]}, protocol=4)


def kernel(arch=90, triton=TRITON, venv="/env"):
    """Return the JSON of a kernel."""
    library = f"{venv}/lib/python3.12/site-packages/triton/backends/nvidia/lib/libdevice.10.bc"
    target = {"backend": "cuda", "arch": arch, "warp_size": 32}
    return json.dumps({"triton_version": triton, "target": target, "extern_libs": [["libdevice", library]]})


def key(*words):
    """Return a key in base 32, as triton has them; inductor's are lower case."""
    return base64.b32encode(hashlib.sha256(repr(words).encode()).digest()).decode().rstrip("=")


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def add_graph(cache, number, *devices, **texts):
    """Add a key of fxgraph, one of aotautograd, and a module."""
    name = f"f{key('fx', number, devices).lower()[:51]}"
    put(cache / "fxgraph" / name[1:3] / name / "entry", graph(*devices, **texts))
    put(cache / "aotautograd" / f"a{name[1:]}" / "entry", graph(*devices, **{**texts, "told": False}))
    kernels = "".join(MODULE.format(index=device[5:], cc=90) for device in devices if device.startswith("cuda:"))
    put(cache / name[1:3] / f"c{name[1:]}.py", f"def call():\n    pass\n{kernels}")


def add_kernel(cache, number, **texts):
    """Add a kernel of triton; return its directory."""
    folder = cache / key("kernel", number)
    put(folder / "k.json", kernel(**texts))
    put(folder / "k.cubin", ELF)
    children = {name: str(folder / name) for name in ("k.json", "k.cubin")}
    put(folder / "__grp__k.json", json.dumps({"child_paths": children}))
    return folder


def inductor(cache, **devices):
    """Make a cache with so many graphs for each device: `inductor(path, cuda_0=3, cpu=1)`."""
    for name, count in devices.items():
        for number in range(count):
            add_graph(cache, number, name.replace("_", ":"))
    os.makedirs(cache, exist_ok=True)
    os.chmod(cache, 0o700)
    return cache


ELF = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\0\xbe\0\x01" + bytes(43)
"""A header without sections or segments."""
