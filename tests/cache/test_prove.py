"""A command is proven warm by counters and files together; torch is a stand-in that counts what it is told to."""

import json
import subprocess
import sys

import pytest
from cached import TORCH, Workshop

from envdoctor import hooks
from envdoctor.cache import counters, proving
from envdoctor.errors import UsageError
from envdoctor.wheels import Wheel

STAND_IN = Wheel(
    "torch",
    "2.11.0",
    {
        **TORCH.files,
        "torch/__init__.py": "import torch._dynamo.utils\n__version__ = '2.11.0'\n",
        "torch/_dynamo/__init__.py": "",
        "torch/_dynamo/utils.py": "import json, os\ncounters = json.loads(os.environ['COUNTERS'])\n",
        "torch/_functorch/__init__.py": "",
        "torch/_functorch/config.py": "enable_autograd_cache = False\n",
        "torch/_inductor/__init__.py": "",
        "torch/_inductor/config.py": "force_disable_caches = True\n",
    },
)
WARM = {"aot_autograd": {"autograd_cache_hit": 2, "autograd_cache_saved": 1}, "inductor": {"fxgraph_cache_hit": 2}}


@pytest.fixture
def prove(tmp_path):
    shop = Workshop(tmp_path)
    shop.patient.uninstall(TORCH)
    shop.patient.install(STAND_IN)

    def run(code, counted=WARM, *, flags=(), cache=None, **env):
        host = shop.host(COUNTERS=json.dumps(counted), **env)
        return proving.prove(["python", *flags, "-c", code], shop.wish, host, cache=cache)

    run.shop = shop
    return run


def test_hits_without_miss_or_new_file_are_proof(prove):
    done = prove("import torch")
    assert (done.faults, done.status, done.processes) == ((), 0, 1)
    assert done.counters == {"autograd_cache_hit": 2, "autograd_cache_saved": 1, "fxgraph_cache_hit": 2}


@pytest.mark.parametrize(
    ("code", "counters", "said"),
    [
        ("import torch", {}, "no autograd_cache_hit"),
        ("import torch", {**WARM, "aot_autograd": {"autograd_cache_hit": 1, "autograd_cache_miss": 1}}, "_miss 1"),
        ("import torch", {**WARM, "aot_autograd": {"autograd_cache_hit": 1, "autograd_cache_bypass": 1}}, "_bypass 1"),
        ("import torch", {**WARM, "inductor": {"fxgraph_cache_miss": 3}}, "fxgraph_cache_miss 3"),
        ("import torch, sys; sys.exit(3)", WARM, "the command failed with status 3"),
        ("import torch, os; os.kill(os.getpid(), 15)", WARM, "died by signal 15"),
        ("import torch, os; os._exit(0)", WARM, "no process told of torch"),
        ("print('no torch')", WARM, "no process told of torch"),
        ("import torch, torch._functorch.config", WARM, "AOTAutograd's cache is switched off"),
        ("import torch, torch._inductor.config", WARM, "the compile caches are switched off"),
        (
            "import torch, os; open(os.environ['TORCHINDUCTOR_CACHE_DIR'] + '/ab/new.so', 'w')",
            WARM,
            "1 new file in the cache, such as ab/new.so, if no other job wrote them",
        ),
        ("import torch, os; os.environ['TORCHINDUCTOR_CACHE_DIR'] = '/else'", WARM, "it used another cache, /else"),
    ],
)
def test_anything_else_is_not(prove, code, counters, said):
    assert said in "; ".join(prove(code, counters).faults)


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_a_python_that_runs_no_hooks_proves_nothing(prove, flag):
    assert "they ran with -I, -E or -S" in prove("import sys", flags=(flag,)).faults[0]


def test_all_processes_count_and_a_forked_child_not_twice(prove):
    code = (
        "import subprocess, sys, os, torch\n"
        "subprocess.run([sys.executable, '-c', 'import torch'], check=True)\n"
        "pid = os.fork()\n"
        "sys.exit(0) if pid == 0 else os.waitpid(pid, 0)\n"
    )
    done = prove(code)
    assert (done.processes, done.counters["autograd_cache_hit"], done.faults) == (2, 4, ())


def test_the_jobs_own_hook_and_path_are_as_ever(prove, tmp_path):
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks/sitecustomize.py").write_text("hooked = True\n")
    code = (
        "import sitecustomize, sys, torch\n"
        "assert sitecustomize.hooked and sitecustomize.__file__.startswith(sys.argv[1])\n"
        "assert not [path for path in sys.path if 'payloads' in path], sys.path\n"
        "assert sys.argv[1] in sys.path\n"
    )
    shop = prove.shop
    host = shop.host(COUNTERS=json.dumps(WARM), PYTHONPATH=str(tmp_path / "hooks"))
    done = proving.prove(["python", "-c", code, str(tmp_path / "hooks")], shop.wish, host, cache=None)
    assert done.faults == ()


def test_it_runs_in_the_target_with_the_cache_that_is_named(prove, tmp_path):
    code = (
        "import os, sys, torch\n"
        f"assert sys.prefix == {str(prove.shop.patient.prefix)!r}, sys.prefix\n"
        "assert os.environ['VIRTUAL_ENV'] == sys.prefix\n"
        f"assert os.environ['TORCHINDUCTOR_CACHE_DIR'] == {str(tmp_path / 'mine')!r}\n"
    )
    done = prove(code, cache=str(tmp_path / "mine"))
    assert (done.faults, done.cache) == ((), str(tmp_path / "mine"))


def test_a_command_that_is_not_there_is_a_usage_error(prove):
    with pytest.raises(UsageError, match="nonsense: did not start"):
        proving.prove(["nonsense"], prove.shop.wish, prove.shop.host(), cache=None)


@pytest.mark.parametrize("text", ["", "[]", "{", "{}", '{"counters": 3}', '{"counters": {"a": 3}}', "[" * 9000])
def test_what_the_hook_did_not_write_is_passed_over(tmp_path, text):
    (tmp_path / "1.json").write_text(text)
    assert list(counters.told(str(tmp_path))) == []


def test_the_hook_stays_quiet_in_a_process_that_nobody_asked(tmp_path):
    env = {"PYTHONPATH": hooks.COUNTERS, "PATH": "/usr/bin"}
    done = subprocess.run([sys.executable, "-c", "print(1)"], env=env, capture_output=True, check=True, cwd=tmp_path)
    assert (done.stdout, done.stderr, list(tmp_path.iterdir())) == (b"1\n", b"", [])
