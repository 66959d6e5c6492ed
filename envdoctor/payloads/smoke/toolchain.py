"""Triton without torch and without the GPU's help: assemble a kernel, build and load a launcher. triton 3.4 to 3.9."""

from __future__ import annotations

import os
import re
import tempfile
from typing import Any

import triton
import triton.language as tl

from __main__ import sibling

SINCE = (3, 4)
"""The release since when these interfaces are as used here."""
LAUNCHER = """
#include "cuda.h"
#include <Python.h>
static PyObject *driver(PyObject *self, PyObject *none) {
  int version = 0;
  cuDriverGetVersion(&version);
  return PyLong_FromLong(version);
}
static PyMethodDef methods[] = {{"driver", driver, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "envdoctor_launcher", NULL, -1, methods};
PyMODINIT_FUNC PyInit_envdoctor_launcher(void) { return PyModule_Create(&module); }
"""


@triton.jit  # type: ignore[untyped-decorator]
def double(source, target, count, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201, N803
    """Write twice the source."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target + at, 2 * tl.load(source + at, mask=at < count), mask=at < count)


def check(capability: tuple[int, int]) -> dict[str, Any]:
    """Do both in an empty cache of their own, so that nothing is taken from an earlier run."""
    version = tuple(int(part) for part in re.findall(r"\d+", triton.__version__)[:2])
    if version < SINCE:
        reason = "triton %s is older than the interfaces that this step uses; compile covers it" % triton.__version__
        raise sibling("models").NotHereError(reason)
    kept = os.environ.get("TRITON_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="envdoctor-toolchain-") as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        try:
            return {"cubin": _assembled(capability), "driver": _launcher(), "triton": triton.__version__}
        finally:
            del os.environ["TRITON_CACHE_DIR"]
            if kept is not None:
                os.environ["TRITON_CACHE_DIR"] = kept


def _assembled(capability: tuple[int, int]) -> int:
    """Compile a kernel for the capability; return the size of its machine code in bytes."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    types = {"source": "*fp32", "target": "*fp32", "count": "i32", "BLOCK": "constexpr"}
    made = triton.compile(
        ASTSource(double, types, {"BLOCK": 128}), target=GPUTarget("cuda", 10 * capability[0] + capability[1], 32)
    )
    return len(made.asm["cubin"])


def _launcher() -> int:
    """Build a module with Python's and CUDA's headers and libcuda, load it; return the driver's CUDA version."""
    from triton.backends.nvidia import driver
    from triton.runtime.build import compile_module_from_src

    module = compile_module_from_src(
        src=LAUNCHER,
        name="envdoctor_launcher",
        library_dirs=driver.library_dirs(),
        include_dirs=driver.include_dirs,
        libraries=driver.libraries,
    )
    return int(module.driver())
