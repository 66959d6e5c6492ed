"""The steps, a function each.

It returns what it measured, raises what went wrong, or NotHereError where there is nothing to try out. Whether a figure
is good enough is judged by the doctor. Interfaces: torch 2.0 to 2.15.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import time
from typing import Any

import torch
import torch._dynamo.config
import torch._dynamo.utils

from __main__ import sibling

models = sibling("models")
Bench, NotHereError = models.Bench, models.NotHereError
FIRST = ("device", "allocate", "matmul")
"""What a step rests on that is not named below."""
COMPILED = (*FIRST, "compile")
RESTS_ON = {
    "device": (),
    "arch": ("device",),
    "allocate": ("device",),
    "toolchain": ("device",),
    "flex-attention": COMPILED,
    "half": COMPILED,
    "graphs": COMPILED,
    "recompile": COMPILED,
}
"""Step -> those without which it would only fail in the same way again."""
COMPILER = ("torch._inductor.codecache", "torch._inductor.compile_fx", models.FLEX)
"""What compiling imports: done before there is an order, and so while the first process compiles."""
BYTES = 64 << 20
"""Memory that `allocate` fills."""
FILES = 1_000_000
"""Files of a cache beyond which it cannot be compared before and after."""
SHOWN = 50
"""New files that are named."""


def build() -> dict[str, Any]:
    """Say which torch this is, and settle where its compile cache is: both read TMPDIR when they are imported."""
    found = {"torch": torch.__version__, "cuda": torch.version.cuda, "file": torch.__file__, "python": sys.version}
    found["cache"] = _cache()
    for name in COMPILER:
        try:
            importlib.import_module(name)
        except Exception:  # the step that needs it says why
            break
    torch._dynamo.config.suppress_errors = False  # a job that falls back to eager in silence is what is looked for
    if importlib.util.find_spec("triton"):
        import triton

        found["triton"] = getattr(triton, "__version__", None)
    return found


def _cache() -> str:
    """Return the directory of inductor's cache, as inductor works it out, made if need be and possible."""
    try:
        from torch._inductor.runtime.cache_dir_utils import cache_dir
    except ImportError:
        from torch._inductor.codecache import cache_dir
    try:
        return str(cache_dir())
    except OSError:
        return os.environ.get("TORCHINDUCTOR_CACHE_DIR", "")


def device(bench: Any) -> dict[str, Any]:
    """Say what torch sees in this place."""
    if not bench.cuda:
        raise NotHereError("NVML does not list CPUs")
    if torch.version.cuda is None:
        raise RuntimeError("torch %s is built without CUDA" % torch.__version__)
    torch.cuda.init()
    count = torch.cuda.device_count()
    if bench.device.index >= count:
        raise RuntimeError("torch sees %d GPUs, so there is no %s" % (count, bench.name))
    torch.cuda.set_device(bench.device)
    found = torch.cuda.get_device_properties(bench.device)
    return {
        "name": found.name,
        "uuid": str(getattr(found, "uuid", "")),
        "memory": found.total_memory,
        "capability": [found.major, found.minor],
        "count": count,
    }


def arch(bench: Any) -> dict[str, Any]:
    """Say what this GPU is and what this torch holds code for."""
    if not bench.cuda:
        raise NotHereError("a CPU has no compute capability")
    return {"capability": list(torch.cuda.get_device_capability(bench.device)), "archs": torch.cuda.get_arch_list()}


def allocate(bench: Any) -> dict[str, Any]:
    """Fill some memory and read it back."""
    block = torch.full((BYTES,), 7, dtype=torch.uint8, device=bench.device)
    total = int(block.sum(dtype=torch.int64))
    if total != 7 * BYTES:
        raise RuntimeError("%d bytes of 7 were written and add up to %d" % (BYTES, total))
    if not bench.cuda:
        return {"bytes": BYTES}
    free, whole = torch.cuda.mem_get_info(bench.device)
    return {"bytes": BYTES, "free": free, "total": whole}


def matmul(bench: Any) -> dict[str, Any]:
    """Multiply, and compare with the same product in float64 on the CPU."""
    torch.manual_seed(0)
    left, right = torch.randn(512, 512), torch.randn(512, 512)
    errors = {}
    for dtype in [torch.float32, torch.bfloat16, *([torch.float16] if bench.cuda else [])]:
        a, b = left.to(dtype), right.to(dtype)
        product = a.to(bench.device) @ b.to(bench.device)
        errors[models.named(dtype)] = models.distance(product, a.double() @ b.double())
    return {"errors": errors, "tf32": _tf32(bench)}


def _tf32(bench: Any) -> bool:
    """Tell whether products in float32 are computed in TensorFloat-32 here."""
    asked = torch.backends.cuda.matmul.allow_tf32 or os.environ.get("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE") == "1"
    return bool(bench.cuda and asked)


def compile_block(bench: Any) -> dict[str, Any]:
    """Compile a small block forward and backward, and compare with eager."""
    return _against_eager(bench, models.block, bench.dtypes())


def half(bench: Any) -> dict[str, Any]:
    """Do the same in float16."""
    return _against_eager(bench, models.block, [torch.float16])


def flex_attention(bench: Any) -> dict[str, Any]:
    """Compile flex_attention with a causal block mask, and compare with eager."""
    return {**_against_eager(bench, models.flex, bench.dtypes()[-1:]), "backward": bench.cuda}


def _against_eager(bench: Any, model: Any, dtypes: list[Any]) -> dict[str, Any]:
    errors, compiled = {}, []
    for dtype in dtypes:
        before = _compiled()
        errors[models.named(dtype)] = model(bench, dtype)
        compiled.append(_compiled() - before)
    return {"errors": errors, "tf32": _tf32(bench), "compiled": min(compiled)}


def recompile(bench: Any) -> dict[str, Any]:
    """Call again what was compiled, on new data, and count what is compiled anew."""
    before = _compiled()
    for call in bench.calls.values():
        call()
    bench.wait()
    return {"graphs_before": before, "graphs_after": _compiled(), "calls": len(bench.calls)}


def _compiled() -> int:
    """Count the graphs that dynamo has compiled in this process."""
    return int(torch._dynamo.utils.counters["stats"]["unique_graphs"])


def graphs(bench: Any) -> dict[str, Any]:
    """Compile with CUDA graphs, and replay."""
    if not bench.cuda:
        raise NotHereError("CUDA graphs need a GPU")
    dtype = bench.dtypes()[-1]
    torch.manual_seed(1)
    module = models.Block().to(bench.device, dtype)
    sample = torch.randn(4, 32, 64, device=bench.device, dtype=dtype)
    compiled = torch.compile(module, mode="reduce-overhead", dynamic=False)
    counters = torch._dynamo.utils.counters["inductor"]
    before, graphs_before = counters["cudagraph_skips"], _compiled()
    error = 0.0
    with torch.no_grad():
        for _ in range(3):
            getattr(torch.compiler, "cudagraph_mark_step_begin", bool)()
            error = max(error, models.distance(compiled(sample).clone(), module(sample)))
    bench.wait()
    return {
        "errors": {models.named(dtype): error},
        "tf32": _tf32(bench),
        "compiled": _compiled() - graphs_before,
        "graphs_skipped": counters["cudagraph_skips"] - before,
    }


def toolchain(bench: Any) -> dict[str, Any]:
    """Assemble a kernel for this GPU with triton alone, and build a launcher as triton does."""
    if not bench.cuda:
        raise NotHereError("triton compiles for GPUs")
    if not importlib.util.find_spec("triton"):
        raise NotHereError("triton is not installed")
    found: dict[str, Any] = sibling("toolchain").check(torch.cuda.get_device_capability(bench.device))
    return found


def fresh_process(bench: Any) -> dict[str, Any]:
    """Compile what the first process compiled, and tell of counters and of files that are new."""
    folder = _cache()
    before = _files(folder)
    counters = torch._dynamo.utils.counters
    counters.clear()
    began = time.monotonic()
    for dtype in bench.dtypes():
        models.block(bench, dtype)
    if bench.flex:
        models.flex(bench, bench.dtypes()[-1])
    seconds = round(time.monotonic() - began, 3)
    after = _files(folder)
    return {
        "counters": {name: dict(counters[name]) for name in ("inductor", "aot_autograd")},
        "aot_cache": _switch("torch._functorch.config", "enable_autograd_cache"),
        "fx_cache": _switch("torch._inductor.config", "fx_graph_cache"),
        "caches_off": _switch("torch._inductor.config", "force_disable_caches"),
        "new_files": sorted(after - before)[:SHOWN],
        "new_count": len(after - before),
        "files": len(before),
        "seconds": seconds,
    }


def _switch(module: str, name: str) -> bool | None:
    """Return a switch of torch's; None where this release has none."""
    try:
        return bool(getattr(importlib.import_module(module), name))
    except (ImportError, AttributeError):
        return None


def _files(folder: str) -> set[str]:
    """List the files of a cache, without locks and files under way. Raises RuntimeError if there are too many."""
    found: set[str] = set()
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "locks" and not name.startswith(("tmp.", "."))]
        found.update(os.path.relpath(os.path.join(parent, name), folder) for name in names if not name.startswith("."))
        if len(found) > FILES:
            raise RuntimeError("%s holds more than %d files, too many to tell which are new" % (folder, FILES))
    return found


STEPS = {
    "device": device,
    "arch": arch,
    "allocate": allocate,
    "matmul": matmul,
    "toolchain": toolchain,
    "compile": compile_block,
    "flex-attention": flex_attention,
    "half": half,
    "graphs": graphs,
    "recompile": recompile,
    "fresh-process": fresh_process,
}
