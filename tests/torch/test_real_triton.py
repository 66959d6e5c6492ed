"""A cache that a real Triton made, without a GPU: whole it is silent, and each damage does what is said of it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from doctor import Doctor

from envdoctor.facts.cache_entries import damaged
from envdoctor.facts.cache_makers import of_graph, of_kernel

pytestmark = pytest.mark.torch

COMPILE = """
import json
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def scaled(source, goal, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(goal + at, tl.load(source + at, mask=at < size) * 2, mask=at < size)

hits = []
triton.knobs.compilation.listener = lambda **said: hits.append(said["cache_hit"])
kernel = ASTSource(scaled, {"source": "*fp32", "goal": "*fp32", "size": "i32", "BLOCK": "constexpr"}, {"BLOCK": 64})
try:
    found = triton.compile(kernel, target=GPUTarget("cuda", 90, 32))
    print(json.dumps(["hit" if hits == [True] else "miss", len(found.asm["cubin"])]))
except Exception as error:
    print(json.dumps([f"{type(error).__name__}: {error}", 0]))
"""
CRASH = "JSONDecodeError"
KEY = "KeyError: \"Unknown key: 'cubin'\""
VERSIONS = ("3.6", "3.8")
TARGETS = os.environ.get("ENVDOCTOR_TRITON_TARGETS", "").split(os.pathsep)
"""Environments with each of them."""


def half(data):
    return data[: len(data) // 2]


def nothing(_):
    return b""


@pytest.fixture(scope="module", params=VERSIONS)
def made(request, tmp_path_factory):
    """Compile a kernel into a cache as inductor's lies, once for each Triton."""
    target = TARGETS[VERSIONS.index(request.param)]
    made = Made(request.param, Path(target, "bin", "python"), tmp_path_factory.mktemp("triton"))
    assert made.compile()[0] == "miss"
    assert made.compile()[0] == "hit"
    return made


class Made:
    """A cache, and the Triton that uses it. Damage is done in place, since `__grp__` holds absolute paths."""

    def __init__(self, version, python, folder):
        self.version, self.python, self.folder, self.cache = version, python, folder, folder / "cache"
        (folder / "compile.py").write_text(COMPILE)

    def run(self, *argv):
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "TRITON_CACHE_DIR": str(self.cache / "triton/0")}
        return subprocess.run([self.python, *argv], check=True, capture_output=True, text=True, env=env).stdout.strip()

    def compile(self):
        return json.loads(self.run(self.folder / "compile.py"))

    def found(self):
        damage = damaged(str(self.cache), limit_files=1000, limit_bytes=64 << 20, deadline=30)
        assert damage.complete
        return [(Path(item.path).name, item.kind, item.consequence) for item in damage.entries]

    def file(self, name):
        (path,) = self.cache.glob(f"triton/0/*/{name}")
        return path


@pytest.fixture
def whole(made):
    """Give the cache as it was made, and put it back afterwards."""
    golden = made.folder / "golden"
    if not golden.exists():
        shutil.copytree(made.cache, golden)
    yield made
    shutil.rmtree(made.cache)
    shutil.copytree(golden, made.cache)


def test_what_triton_made_is_whole_and_names_its_maker(whole):
    assert whole.found() == []
    makers = of_kernel(whole.file("scaled.json").read_bytes()).makers
    version = whole.run("-c", "import triton; print(triton.__version__)")
    assert version.startswith(whole.version)
    assert makers == {("triton", version), ("arch", "9.0"), ("environment", str(whole.python.parents[1]))}


def test_a_graph_that_names_triton_by_its_key_names_its_version(whole):
    key = whole.run("-c", "from triton.runtime.cache import triton_key; print(triton_key())")
    version = whole.run("-c", "import triton; print(triton.__version__)")
    block = f"system_info[version]: {{'triton': '{key}', 'cuda': '13.0'}}".encode()
    assert of_graph(block).makers == {("triton", version), ("cuda", "13.0")}


@pytest.mark.parametrize(
    ("name", "damage", "kind", "said", "results"),
    [
        ("scaled.json", nothing, "empty", "JSONDecodeError", (CRASH, CRASH)),
        ("scaled.json", half, "not-json", "JSONDecodeError", (CRASH, CRASH)),
        ("__grp__scaled.json", nothing, "empty", "3.6 fails", (CRASH, "miss")),
        ("__grp__scaled.json", half, "not-json", "3.6 fails", (CRASH, "miss")),
        ("scaled.cubin", nothing, "empty", "counts as a hit", ("hit", "hit")),
        ("scaled.cubin", half, "truncated-elf", "counts as a hit", ("hit", "hit")),
        ("scaled.cubin", lambda _: b"no ELF" * 500, "not-elf", "counts as a hit", ("hit", "hit")),
    ],
)
def test_each_damage_is_found_and_does_what_is_said(whole, name, damage, kind, said, results):
    path = whole.file(name)
    path.write_bytes(damage(path.read_bytes()))
    ((found, its_kind, consequence),) = whole.found()
    assert (found, its_kind, said in consequence) == (name, kind, True)
    assert whole.compile()[0].startswith(results[VERSIONS.index(whole.version)])


def test_a_lost_cubin_is_missed_beside_its_json(whole):
    whole.file("scaled.cubin").unlink()
    ((name, kind, consequence),) = whole.found()
    assert (name, kind) == ("scaled.json", "missing-cubin")
    assert "3.6 fails with KeyError: Unknown key: 'cubin', 3.8" in consequence
    assert whole.compile()[0] == (KEY if whole.version == "3.6" else "miss")


@pytest.mark.parametrize("name", ["scaled.ttir", "scaled.ttgir", "scaled.source"])
def test_a_lost_stage_dangles(whole, name):
    whole.file(name).unlink()
    ((found, kind, _),) = whole.found()
    assert (found, kind) == ("__grp__scaled.json", "dangling-child")
    assert whole.compile()[0] == ("hit" if whole.version == "3.6" else "miss")


@pytest.mark.parametrize("remains", ["lock", "tmp.pid_1_0f/scaled.cubin"])
def test_what_a_writer_left_harms_nothing(whole, remains):
    path = whole.file("scaled.json").parent / remains
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"")
    assert whole.found() == []
    assert whole.compile()[0] == "hit"


def test_a_pruned_kernel_is_compiled_again(whole):
    cubin = whole.file("scaled.cubin")
    cubin.write_bytes(b"")
    assert whole.compile() == ["hit", 0]
    for path in (*cubin.parent.iterdir(), cubin.parent):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    pruned = Doctor(whole.folder)("cache", "prune", "--cache", whole.cache, "--yes")
    assert (pruned.status, cubin.parent.exists()) == (0, False)
    result, size = whole.compile()
    assert (result, size > 1000) == ("miss", True)
    assert whole.compile() == ["hit", size]
