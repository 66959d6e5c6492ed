"""`smoke` on a target with a real torch: what works is green, and each way to fail is told from the others."""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch

ENVDOCTOR = Path(sys.executable).parent / "envdoctor"
STEPS = ["allocate", "compile", "flex-attention", "fresh-process", "matmul", "recompile", "torch-import"]
"""What quick proves on a CPU."""
AFTER_IMPORT = """
import importlib.abc, importlib.machinery, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        load = spec.loader.exec_module
        def exec_module(module):
            load(module)
            patch(module)
        spec.loader.exec_module = exec_module
        return spec
sys.meta_path.insert(0, Finder())
"""
"""A sitecustomize that lets `patch(torch)` change what the job imports."""


@pytest.fixture(scope="module")
def target():
    return Path(os.environ["ENVDOCTOR_TORCH_TARGET"])


@pytest.fixture
def temporary(tmp_path):
    """A TMPDIR that must be empty again when the test is over."""
    folder = tmp_path / "tmp"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    yield folder
    assert os.listdir(folder) == []


def environment(temporary, **variables):
    kept = ("PATH", "HOME", "LANG")
    clean = {name: os.environ[name] for name in kept if name in os.environ}
    # headers that are precompiled would go to a directory of their own, 150 MB of them
    return clean | {"TMPDIR": str(temporary), "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0"} | variables


def smoke(target, temporary, *options, **more):
    variables = more.pop("env", {})
    argv = [ENVDOCTOR, "smoke", "--target", target, "--devices", "cpu", "--format", "json", *options]
    env = environment(temporary, **variables)
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=env, cwd="/", **more)
    assert "Traceback" not in done.stderr
    assert running(temporary) == []
    return done.returncode, json.loads(done.stdout)


def running(temporary):
    """Return the processes whose temporary files would lie there: ours alone, whoever else is at work."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if os.fsencode(temporary) in path.read_bytes():
                found.append(path.parent.name)
    return found


def states(report, state="passed"):
    return sorted(trial["step"].removeprefix("smoke/") for trial in report["trials"] if trial["state"] == state)


def only(report):
    (finding,) = report["findings"]
    return finding


@pytest.fixture(scope="module")
def warm(target, tmp_path_factory):
    """A cache that holds all that smoke compiles."""
    folder = tmp_path_factory.mktemp("warm")
    folder.chmod(0o755)
    status, report = smoke(target, tmp_path_factory.mktemp("tmp"), "--cache", folder / "cache")
    assert (status, report["findings"]) == (0, [])
    return folder / "cache"


@pytest.fixture
def cache(warm, tmp_path):
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(warm, tmp_path / "cache"))


@pytest.fixture
def hook(tmp_path):
    """Return a function that makes a directory for PYTHONPATH which patches torch."""

    def make(patch):
        folder = tmp_path / "hook"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(f"{AFTER_IMPORT}\ndef patch(torch):\n    {patch}\n")
        return str(folder)

    return make


def contents(folder):
    return {path for path in folder.rglob("*") if path.suffix != ".pyc"}


def test_all_that_a_cpu_can_do_passes_and_nothing_is_left(target, temporary):
    before = contents(target / "bin") | set(target.glob("lib/python3*/site-packages/torch/*"))
    status, report = smoke(target, temporary)
    assert (status, report["verdict"], states(report)) == (0, "healthy", STEPS), report["findings"]
    assert states(report, "skipped") == ["arch", "device"]
    assert contents(target / "bin") | set(target.glob("lib/python3*/site-packages/torch/*")) == before


def test_full_adds_float16_and_says_what_needs_a_gpu(target, temporary, cache):
    status, report = smoke(target, temporary, "--level", "full", "--cache", cache)
    assert (status, states(report)) == (0, sorted([*STEPS, "half"])), report["findings"]
    assert states(report, "skipped") == ["arch", "device", "graphs", "toolchain"]


def test_the_jobs_own_cache_is_used_if_asked_for(target, temporary, cache):
    before = contents(cache)
    status, report = smoke(target, temporary, "--cache", "job", env={"TORCHINDUCTOR_CACHE_DIR": str(cache)})
    assert (status, report["seen"]["cache"]) == (0, f"cache {cache}")
    assert {path for path in contents(cache) - before if path.is_file() and "locks" not in path.parts} == set()


def test_no_compiler(target, temporary, tmp_path):
    status, report = smoke(target, temporary, env={"PATH": str(tmp_path)})
    finding = only(report)
    assert (status, finding["probe"], finding["evidence"]["signature"]) == (1, "smoke/compile", "no-cxx-compiler")
    assert states(report, "never-ran") == ["flex-attention", "fresh-process", "recompile"]


def test_a_compiler_that_never_ends_is_a_hang_in_compile(target, temporary, tmp_path):
    compiler = tmp_path / "g++"
    compiler.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(300)\n")
    compiler.chmod(0o755)
    status, report = smoke(target, temporary, "--timeout", "12", env={"CXX": str(compiler)})
    (seconds,) = [trial["seconds"] for trial in report["trials"] if trial["step"] == "smoke/compile"]
    assert 12 <= seconds < 12 + 3
    finding = only(report)
    assert (status, finding["probe"]) == (1, "smoke/hung")
    assert finding["message"].startswith("cpu: compile hung: no end within 12 s, at ")
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if bytes(compiler) in path.read_bytes()]


def without_rights():
    """Give up what root may do beyond its own files: CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_FOWNER."""
    for capability in (1, 2, 3):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def test_a_cache_that_cannot_be_written(target, temporary, cache):
    for folder in (cache, *cache.rglob("*")):
        folder.chmod(0o555 if folder.is_dir() else 0o444)
    status, report = smoke(target, temporary, "--cache", cache, preexec_fn=without_rights)
    for folder in (cache, *cache.rglob("*")):
        folder.chmod(0o755)
    finding = only(report)
    assert (status, finding["probe"], finding["evidence"]["signature"]) == (1, "smoke/compile", "cache-not-writable")
    assert str(cache) in json.dumps(finding["evidence"])


def test_a_cache_that_is_mounted_noexec(target, temporary, tmp_path):
    folder = tmp_path / "noexec"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "none", folder], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no mount can be made here: {mounted.stderr.decode().strip()}")
    try:
        status, report = smoke(target, temporary, "--cache", folder / "cache")
    finally:
        subprocess.run(["umount", folder], check=True)
    finding = only(report)
    assert (status, finding["probe"], finding["evidence"]["signature"]) == (1, "smoke/compile", "cache-noexec")


def modules(cache):
    """Return the generated modules that hold the compiled graphs, which every process imports."""
    return [path for path in cache.glob("??/*.py") if b"def call(" in path.read_bytes()]


@pytest.mark.parametrize(
    ("find", "damage"),
    [
        (modules, lambda path: path.write_bytes(b"")),
        (modules, lambda path: path.write_bytes(path.read_bytes()[:2000] + b"\n(((")),
        (lambda cache: cache.glob("??/*.main.so"), lambda path: path.write_bytes(b"")),
        (lambda cache: cache.glob("??/*.main.so"), lambda path: path.write_bytes(b"no library")),
        (lambda cache: cache.glob("??/*.so"), lambda path: path.write_bytes(b"")),
    ],
    ids=["empty .py", "cut .py", "empty kernel", "not ELF", "even what torch learned of the CPU"],
)
def test_a_damaged_entry_is_named_and_what_it_advises_cures_it(target, temporary, cache, find, damage):
    damaged = list(find(cache))
    for path in damaged:
        damage(path)
    status, report = smoke(target, temporary, "--cache", cache)
    finding = only(report)
    assert (status, finding["probe"], finding["evidence"]["signature"]) == (1, "smoke/compile", "damaged-cache-entry")
    assert finding["evidence"]["entries"][0] in finding["message"]
    assert set(finding["evidence"]["remove"]) <= set(map(str, damaged))
    for path in damaged:
        path.unlink()
    assert smoke(target, temporary, "--cache", cache)[0] == 0


def test_damage_that_torch_shrugs_off_is_no_failure(target, temporary, cache):
    for path in cache.glob("fxgraph/*/*/*"):
        path.write_bytes(b"")
    assert smoke(target, temporary, "--cache", cache)[0] == 0


@pytest.mark.parametrize(
    ("variables", "said", "cure"),
    [
        ({"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}, "caches are switched off", "unset TORCHINDUCTOR_FORCE_DISABLE"),
        ({"TORCHINDUCTOR_FX_GRAPH_CACHE": "0"}, "graphs is switched off", "unset TORCHINDUCTOR_FX_GRAPH_CACHE"),
    ],
)
def test_a_cache_that_no_fresh_process_hits_is_no_success(target, temporary, cache, variables, said, cure):
    status, report = smoke(target, temporary, "--cache", cache, env=variables)
    finding = only(report)
    assert (status, finding["probe"]) == (1, "smoke/fresh-process")
    assert said in finding["message"]
    assert finding["remedy"][0].startswith(cure)


@pytest.mark.parametrize(
    ("patch", "probe", "said"),
    [
        (
            (
                "was = torch.compile; torch.compile = lambda m, **o: "
                "(lambda compiled: lambda *a, **k: 1.5 * compiled(*a, **k))(was(m, **o))"
            ),
            "smoke/compile",
            "float32 is wrong: off by",
        ),
        (
            (
                "was = torch.compile; torch.compile = lambda m, **o: "
                "lambda *a, **k: (torch._dynamo.reset(), was(m, **o)(*a, **k))[1]"
            ),
            "smoke/recompile",
            "compiled 2 graphs anew",
        ),
    ],
    ids=["wrong numbers", "compiles every time"],
)
def test_a_torch_that_was_tampered_with_is_caught(target, temporary, cache, hook, patch, probe, said):
    status, report = smoke(target, temporary, "--cache", cache, env={"PYTHONPATH": hook(patch)})
    found = {finding["probe"]: finding for finding in report["findings"]}
    assert status == 1
    assert said in found[probe]["message"]


@pytest.mark.parametrize("variable", ["TORCH_COMPILE_DISABLE", "TORCHDYNAMO_DISABLE"])
def test_a_compile_that_is_switched_off_is_no_success(target, temporary, variable):
    status, report = smoke(target, temporary, env={variable: "1"})
    finding = only(report)
    assert (status, finding["probe"]) == (1, "smoke/compile")
    assert "compiled nothing" in finding["message"]
    assert f"unset {variable}" in finding["remedy"]
    assert "fresh-process" in states(report, "never-ran")


def test_errors_that_the_job_would_swallow_are_seen(target, temporary, tmp_path):
    """With suppressed errors a job without a compiler runs eagerly and never says so."""
    status, report = smoke(target, temporary, env={"PATH": str(tmp_path), "TORCHDYNAMO_SUPPRESS_ERRORS": "1"})
    assert (status, only(report)["evidence"]["signature"]) == (1, "no-cxx-compiler")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_middle_of_a_compile_leaves_nothing(target, temporary, number):
    argv = [ENVDOCTOR, "smoke", "--target", target, "--devices", "cpu"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(temporary))
    for line in process.stderr:
        if b"matmul" in line:
            break
    time.sleep(2)
    process.send_signal(number)
    process.communicate(timeout=10)
    assert process.returncode == 128 + number
    assert running(temporary) == []
