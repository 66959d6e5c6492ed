"""Facts with good defaults, so that a test states only what it is about."""

from datetime import UTC, datetime
from functools import partial

from envdoctor import registry
from envdoctor.facts.arch_list import ArchList
from envdoctor.facts.batches import batches
from envdoctor.facts.cache_access import Access
from envdoctor.facts.cache_counts import Count
from envdoctor.facts.cache_entries import Damage, Damaged
from envdoctor.facts.cache_faults import CONSEQUENCES
from envdoctor.facts.cache_makers import Maker
from envdoctor.facts.cache_marks import CacheMarks
from envdoctor.facts.cache_places import Place as CachePlace
from envdoctor.facts.comparison import AlteredFile, DistributionFiles
from envdoctor.facts.compile_caches import CompileCache, CompileCaches
from envdoctor.facts.distributions import Distribution, Distributions, stamp_of
from envdoctor.facts.driver import Driver, Gpu, GpuProcess
from envdoctor.facts.extensions import Extension, Extensions
from envdoctor.facts.files import Files
from envdoctor.facts.fx_flag import FxFlag
from envdoctor.facts.gpu_use import GpuUse, Holder
from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.jit_tools import Compiler, JitTools, Place, Ptxas, PythonHeader, Triton, toolchain
from envdoctor.facts.loader import Copy, Folder, Loader, Resolution
from envdoctor.facts.metadata import DirectUrl, normalised
from envdoctor.facts.nvidia_wheels import Library, NvidiaWheel, NvidiaWheels, family
from envdoctor.facts.owners import Claim, Collision, Owners, Shared
from envdoctor.facts.smoke import TORCH, Attempt, Failure, Smoke
from envdoctor.facts.toolkits import Header, Named, Toolkit, Toolkits
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.facts.variables import Variables
from envdoctor.judge import Values, judge
from envdoctor.model import Finding, Lock, LockedPackage, Outcome, Report, Severity, Target, Unavailable
from envdoctor.policy import Policy
from envdoctor.registry import Probe
from envdoctor.seals import Seal, SealedDistribution
from envdoctor.snapshot import FACTS, Snapshot
from envdoctor.state.marks import Key, Mark
from envdoctor.wiring import needs, supply

PREFIX = "/env"
PYTHON = "/env/bin/python"
SITE = "/env/lib/python3.12/site-packages"
PIP = "/env/bin/python -m pip"
NOW = datetime(2026, 6, 3, 14, 30, tzinfo=UTC)
"""When every test's check is run."""
NOON = datetime(2026, 6, 3, 12, 0, tzinfo=UTC).timestamp()
NO_LOCK = Unavailable("no lock")
TARGET = Target(PREFIX, PYTHON, lock="/project/train.txt")
MARKERS = {
    "implementation_name": "cpython",
    "implementation_version": "3.12.3",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_release": "6.8.0",
    "platform_system": "Linux",
    "platform_version": "#1",
    "python_full_version": "3.12.3",
    "python_version": "3.12",
    "sys_platform": "linux",
}


def without(key):
    return {name: value for name, value in MARKERS.items() if name != key}


def interpreter(**fields):
    given = {"version": "3.12.3", "recorded_version": "3.12.3", "markers": MARKERS, "libc": "glibc 2.39", **fields}
    return Interpreter(python=PYTHON, chain=(PYTHON,), answered=True, problem=None, **given)


def distribution(name, version="1.0", *, site=SITE, origin="site-packages", requires=(), **fields):
    folder = fields.pop("metadata", f"{site}/{name}-{version}.dist-info")
    given = {"installer": "pip", **fields}
    return Distribution(normalised(name), version, name, site, folder, origin, requires=tuple(requires), **given)


def editable(url="file:///home/me/project"):
    return DirectUrl(url, editable=True)


def distributions(*items):
    """Installed in this order; those with a time are put into batches as they would be on disk. A name is enough."""
    whole = tuple(distribution(*item.split("==")) if isinstance(item, str) else item for item in items)
    stamps = [
        stamp_of(item, item.installed_at)
        for item in whole
        if item.installed_at is not None and item.origin == "site-packages"
    ]
    found, timeless = batches(stamps)
    return Distributions(whole, found, timeless)


def pin(text, **fields):
    name, _, version = text.partition("==")
    return LockedPackage(normalised(name), version or None, raw_name=name, **fields)


def lock(*pins, **fields):
    """Return a requirements lock; a pin may be given as `name==version`."""
    packages = tuple(pin(item) if isinstance(item, str) else item for item in pins)
    return Lock("/project/train.txt", "requirements", packages, **fields)


def files(*states, **fields):
    return Files(tuple(states), checked=1, **fields)


def state(item, **fields):
    """Say what is wrong with the files of one distribution."""
    altered = tuple(AlteredFile(path, how, 100, 99) for path, how in fields.pop("altered", {}).items())
    missing = tuple(fields.pop("missing", ()))
    counts = {"altered_count": len(altered), "missing_count": len(missing)} | fields
    return DistributionFiles(f"{item.project}-{item.version}", item.metadata, 9, missing, altered=altered, **counts)


def owners(collisions=(), unowned=(), leftovers=(), shared=None):
    """Return who owns what; files that collide are shared, as on disk, unless `shared` says otherwise."""
    if shared is None:
        shared = [Shared({claim.name: claim.version for claim in found.claims}, 1) for found in collisions]
    return Owners(tuple(collisions), tuple(unowned), tuple(leftovers), shared=tuple(shared))


def collision(path, *names, on_disk=None, **fields):
    """Return a path that packages of these names own, installed in this order."""
    claims = tuple(Claim(name, "1.0", f"sha256={name}", float(order)) for order, name in enumerate(names))
    return Collision(path, claims, on_disk, **fields)


def seal(*pins, **fields):
    sealed = tuple(SealedDistribution(*item.split("=="), record="") for item in pins)
    return Seal("2026-01-01T00:00:00Z", "0.1.0", "node7", "3.12.3", "/usr/bin/python3.12", sealed, **fields)


def torch_build(version="2.11.0+cu130", cuda="13.0"):
    return TorchBuild(f"{SITE}/torch/version.py", version, cuda)


def fx_flag(kind="global"):
    return FxFlag(f"{SITE}/torch/fx/_symbolic_trace.py", kind, 41)


def gpu(index=0, used=0, **fields):
    """Return a healthy idle H100 that NVML lists at this index; `used` bytes are held by processes."""
    total, reserved = 80 << 30, 600 << 20
    given = {
        "name": "NVIDIA H100 80GB HBM3",
        "pci": f"00000000:{index + 1:02X}:00.0",
        "capability": (9, 0),
        "memory_total": total,
        "memory_reserved": reserved,
        "memory_free": total - reserved - used,
        "ecc": True,
        "ecc_uncorrected": 0,
        "ecc_uncorrected_ever": 0,
        "repair_pending": False,
        "repair_failed": False,
        "mig": False,
        "processes": (),
        **fields,
    }
    uuid = given.pop("uuid", f"GPU-{index:08x}-0000-0000-0000-000000000000")
    return Gpu(index, uuid, **given)


def driver(*gpus, **fields):
    """Return the driver of a node with these GPUs; anything else is as told."""
    return Driver(gpus=tuple(gpus), **{"version": "580.95.05", "cuda": (13, 0), **fields})


def on_gpu(pid=4242, used=8 << 30, kind="compute"):
    return GpuProcess(pid, used, kind)


def gpu_use(*holders, **fields):
    """Return who holds GPU memory; a number is a living process of mine."""
    whole = tuple(Holder(item, "alive", "me", "python") if isinstance(item, int) else item for item in holders)
    return GpuUse(whole, **fields)


def toolkit(prefix="/usr/local/cuda-13.0", nvcc="13.0.88", headers="13.0", **fields):
    """Return a whole toolkit; `nvcc` and `headers` are versions, None for a part that is not there."""
    found = (Header(f"{prefix}/include/cuda.h", headers),) if headers else ()
    return Toolkit(prefix, f"{prefix}/bin/nvcc" if nvcc else None, nvcc, headers=found, **fields)


def toolkits(*items, built=(), **named):
    """Return toolkits; `CUDA_HOME`, `CUDA_PATH`, `PATH` and `default` say which one each names (by index or Named)."""
    ways = {way: _named(way, item, items) for way, item in named.items()}
    order = [ways[way] for way in ("CUDA_HOME", "CUDA_PATH", "PATH", "default") if way in ways]
    return Toolkits(tuple(items), tuple(order), tuple(built))


def _named(way, item, items):
    if isinstance(item, Named):
        return item
    return Named(way, items[item].prefix, items[item].prefix, nvcc=items[item].nvcc)


def jit_tools(version="3.6.0", **fields):
    """Return tools in good order for a triton of this version, none for None."""
    row = toolchain(version)
    triton = Triton(version, SITE, row.get("blackwell"), bool(row)) if version else None
    own = ("ptxas", "ptxas-blackwell") if triton and triton.blackwell else ("ptxas",)
    ptxas = tuple(Ptxas(name, f"{SITE}/triton/backends/nvidia/bin/{name}", "12.8.93") for name in own)
    order = {
        "ptxas": ptxas if triton else (),
        "c": Compiler("gcc", "/usr/bin/gcc"),
        "cxx": Compiler("g++", "/usr/bin/g++"),
        "header": PythonHeader("/usr/include/python3.12/Python.h", "/usr/include/python3.12/Python.h"),
        "libcuda": (libcuda("/usr/lib/x86_64-linux-gnu", "ld.so.cache", "libcuda.so", "libcuda.so.1"),),
    }
    return JitTools(triton, **(order | fields))


def libcuda(path, origin, *holds, listed=("libcuda.so.1",)):
    """Return a directory in which triton looks; the cache alone lists."""
    return Place(path, origin, holds, tuple(listed) if origin == "ld.so.cache" else ())


def arch_list(*archs, ptx=False):
    return ArchList(archs, "file", f"{SITE}/torch/lib/libtorch_python.so", ptx)


def nvidia_wheel(text, *paths):
    """Return an NVIDIA wheel `name==version` that owns these paths below site-packages."""
    name, _, version = text.partition("==")
    owned = tuple(Library(path.rpartition("/")[2], f"{SITE}/{path}") for path in paths)
    return NvidiaWheel(name, version, family(name, paths), owned)


def nvidia_wheels(*wheels):
    return NvidiaWheels(tuple(nvidia_wheel(*item) if isinstance(item, tuple) else item for item in wheels))


def folder(path, *sonames, bundled=None, version=None, **fields):
    """Return a directory on LD_LIBRARY_PATH that holds these libraries; `bundled` is where the wheels have them."""
    copies = (Copy(name, f"{path}/{name}", version, f"{bundled}/{name}" if bundled else None) for name in sonames)
    return Folder(path, libraries=tuple(copies), **fields)


def loads(path, by="RPATH", needed_by="libtorch_cuda.so", **fields):
    """Return the resolution of a library to this path."""
    return Resolution(path.rpartition("/")[2], path, by, needed_by, **fields)


def loader(*folders, resolutions=(), **fields):
    return Loader(tuple(folders), resolutions=tuple(resolutions), **fields)


def extension(name="flash-attn", path="flash_attn_2_cuda.so", **fields):
    return Extension(name, path, **fields)


def extensions(*items, **fields):
    return Extensions(tuple(items), **fields)


VARIABLES = {
    "inductor": "TORCHINDUCTOR_CACHE_DIR",
    "triton": "TRITON_CACHE_DIR",
    "torch_extensions": "TORCH_EXTENSIONS_DIR",
    "cuda": "CUDA_CACHE_PATH",
}
ME = 1000


def cache(kind="inductor", path="/cache", *, chosen=False, access=None, **fields):
    """Return a cache of mine that is there, private and empty; `access` holds what differs."""
    place = CachePlace(kind, path, VARIABLES[kind] if chosen else "default", VARIABLES[kind], chosen)
    whole = {"owner": ME, "mode": 0o700, "writable": True} | (access or {})
    return CompileCache(place, **{"exists": True, "access": Access(**whole), **fields})


def caches(*items, uid=ME):
    return CompileCaches(tuple(items), uid, NOW.timestamp())


def warm(*devices, graphs=10, torch="2.11.0+cu130", triton=0, path="/cache", **fields):
    """Return inductor's cache with so many graphs of each kind for each of these devices."""
    kinds = ("aotautograd", "fxgraph")
    counts = tuple(Count(kind, device, torch, graphs) for kind in kinds for device in devices)
    keys = dict.fromkeys(kinds, graphs * len(devices)) | ({"triton": triton} if triton else {})
    makers = (Maker("torch", torch, graphs * len(devices)),) if torch else ()
    given = {"keys": keys, "counts": counts, "makers": makers, "files": 100, "size": 1 << 20} | fields
    return cache(path=path, **given)


def marks(*items, **fields):
    """Return marks, given as (kind, device, keys)."""
    then = NOW.timestamp() - 86400
    whole = tuple(Mark(kind, device, keys, 353 << 20, "/cache", then, then) for kind, device, keys in items)
    return CacheMarks(Key("node7", str(ME), PREFIX, "2.11.0+cu130", "3.6.0", "9.0"), "/state", whole, **fields)


def damage(*items):
    """Return damaged entries, given as (role, kind, path)."""
    entries = (Damaged(path, kind, f"is {kind}", CONSEQUENCES[role, kind], path) for role, kind, path in items)
    return Damage(tuple(entries), checked=9)


def variables(**values):
    return Variables(values)


def smoke(*attempts, level="quick", **fields):
    """Return a run that came to these attempts, on the devices that they name, with a cache of its own."""
    devices = tuple(dict.fromkeys(item.device for item in attempts if item.device != TORCH))
    given = {"devices": devices, "build": {"torch": "2.11.0+cu130"}, "cache": "/tmp/cache"} | fields
    return Smoke(level, attempts=attempts, **given)


def attempt(step, failed=None, device="cuda:0", state="passed", **detail):
    """Return an attempt that measured this, or that failed so; `state` is for one that was not made."""
    return Attempt(device, step, "failed" if failed else state, 1.5, detail, failed)


def failure(raised="RuntimeError: it broke", *behind, **fields):
    """Return the failure by an exception, given as `Type: text`, and by those behind it."""
    kind, _, message = raised.partition(": ")
    traceback = ("Traceback (most recent call last):", '  File "/job/step.py", line 7, in step', *raised.splitlines())
    given = {"message": message, "causes": (raised, *behind), "traceback": traceback} | fields
    return Failure("raised", kind, **given)


def ended(how="died", message="the process died by SIGSEGV", **fields):
    """Return the failure of a step in which the process died, or hung until it was ended."""
    return Failure(how, message="no end within 120 s" if how == "hung" else message, **fields)


def values(**given):
    """Return facts, given values and views by name. What is not given is in good order or, if optional, absent."""
    absent = dict.fromkeys(FACTS, Unavailable("not gathered"))
    order = {"interpreter": interpreter(), "distributions": distributions("pip"), "files": files(), "owners": owners()}
    rest = {"lock": NO_LOCK, "variables": variables(), "policy": Policy(), "target": TARGET, "moment": NOW}
    return Values(absent | order | rest | given)


def view(name, **given):
    """Compute a view by its real code."""
    return values(**given)[name]


expected, requirements, remedies, blame = (
    partial(view, name) for name in ("expected", "requirements", "remedies", "blame")
)


def findings(check, **given):
    """Run one probe on facts, with views by their real code. One that would be skipped fails the test."""
    arguments = supply(needs(check), values(**given))
    assert not isinstance(arguments, Unavailable), arguments.reason
    return list(check(*arguments))


def tried(check, *attempts, **given):
    """Run the probe of a step on a run that came to these attempts."""
    return findings(check, smoke=smoke(*attempts), **given)


def judged(check, identity="packages/test", policy=None, **facts):
    """Run one probe as a check does, through the judge; return its outcome."""
    probe = Probe(identity, "A test.", check, needs(check))
    order = {"interpreter": interpreter(), "distributions": distributions("pip"), "files": files(), "owners": owners()}
    (found,) = judge([probe], Snapshot(**(order | facts)), policy or Policy(), TARGET, NOW)
    return found


def finding(subject="six", severity=Severity.ERROR, message="six is not well", **evidence):
    remedy = tuple(evidence.pop("remedy", ()))
    return Finding(severity, subject, message, evidence, remedy)


def at(place, text="", subject="numpy", **fields):
    """Return a finding about a line of a lock, given as `file:line:column`, as far as it is known."""
    file, *numbers = place.split(":")
    known = dict(zip(("line", "column"), map(int, numbers), strict=False))
    return finding(subject, **{"file": file, "line": 0, "text": text} | known | fields)


def outcome(probe="packages/test", *found, **fields):
    return Outcome(probe, tuple(found), **fields)


def report(*outcomes, **fields):
    given = {"target": TARGET, "python": "3.12.3", "host": "node7", "taken_at": NOW, "seconds": 0.314} | fields
    return Report(outcomes=outcomes, **given)


list(registry.views().values())  # looked for on disk now: tests of probes are kept off it
