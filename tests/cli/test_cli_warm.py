"""`envdoctor warm` by the real command line, on a target whose torch only counts."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from doctor import Answer
from patients import Patient
from warmable import warmable

JOB = """
import os, signal, subprocess, sys, time
import torch

def whole(device):
    print("this is the job's")
    torch.step("g1", "g2", "g3", on=device)

def part(device):
    torch.step("g1", on=device)

def current():
    torch.step("g1", on="cuda")

def with_default(steps=3):
    assert steps == 3
    part("cpu")

def forward(device):
    torch.step("g1", on=device)
    torch.step("g2", on=device, backward=False)

def boom(device):
    raise ValueError("no \\x1b[2J good\\nand more of it")

def half(device):
    if device.index == 0:
        raise ValueError("not on this one")
    part(device)

def leaves(device):
    os._exit(0)

def exits(device):
    sys.exit(4)

def dies(device):
    os.kill(os.getpid(), signal.SIGKILL)

def waits(device):
    open("ready", "w").close()
    time.sleep(300)

def two(device, steps):
    pass

def hangs(device):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)", __file__])
    open("ready", "w").close()
    time.sleep(300)

def fickle(device):
    torch.step(f"g{os.getpid()}", on=device)

if __name__ == "__main__":
    part(*sys.argv[1:] or ["cuda"])
"""


class Warmer:
    """Runs `warm` on the target, in the folder that has job.py."""

    def __init__(self, doctor, folder):
        self.doctor, self.folder, self.cache = doctor, folder, folder / "cache"
        self.patient = warmable(folder / "project")
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.env = {"TORCHINDUCTOR_CACHE_DIR": str(self.cache), "TMPDIR": str(self.temporary)}
        (folder / "job.py").write_text(JOB)

    def __call__(self, *words, env=None):
        """Run it to its end; a traceback on stderr is the job's."""
        options = () if "--devices" in words else ("--devices", "cpu")
        words = ("warm", "--target", self.patient.prefix, *options, *words)
        process = self.doctor.start(*words, env=self.env | (env or {}), stdin=subprocess.DEVNULL)
        out, errors = process.communicate(timeout=60)
        return Answer(process.returncode, out.decode(), errors.decode())

    def entry(self, name, *words, **more):
        return self("--entry", f"job:{name}", "--format", "json", *words, **more)

    def ask(self, *words):
        return self.doctor(*words, "--target", self.patient.prefix, env=self.env)

    def running(self):
        found = []
        for entry in Path("/proc").iterdir():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if os.fsencode(self.folder) in line:
                found.append(line)
        return found


@pytest.fixture
def warm(doctor, tmp_path):
    warmer = Warmer(doctor, tmp_path)
    yield warmer
    assert os.listdir(warmer.temporary) == []
    assert warmer.running() == []


def faults(answer):
    return {device["device"]: [fault["kind"] for fault in device["faults"]] for device in answer.report["devices"]}


def test_a_complete_warm_up_is_proven_and_raises_the_mark(warm):
    answer = warm.entry("whole")
    (device,) = answer.report["devices"]
    assert (answer.status, answer.report["warm"], device["faults"]) == (0, True, [])
    assert (device["new_keys"], device["keys"], device["mark"]) == ({"aotautograd": 3}, {"aotautograd": 3}, None)
    assert device["warm_up"]["counters"]["autograd_cache_saved"] == 3
    assert device["proof"]["counters"] == {"autograd_cache_hit": 3, "fxgraph_cache_hit": 6}
    assert answer.stderr.count("this is the job's") == 2
    assert "in all          3 aotautograd" in warm.ask("cache", "status", "--no-state").stdout.partition("marks:")[2]


def test_what_is_warm_already_is_proven_by_its_first_process(warm):
    assert warm.entry("whole", "--no-state").status == 0
    assert list(warm.doctor.home.rglob("*.sqlite")) == []
    answer = warm("--entry", "job:whole")
    assert answer.status == 0
    assert answer.stdout.startswith("WARM  1 of 1 device warm and proven from a fresh process\n")
    assert answer.stdout.endswith("      3   none: it was warm\n")
    assert len(list(warm.doctor.home.rglob("*.sqlite"))) == 1, "the second run has raised the marks"


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("forward", "forward-only", "forward only: 1 of 2 graphs ran no backward"),
        ("boom", "command", "ValueError: no \\x1b[2J good"),
        ("exits", "command", "job:exits failed with status 4"),
        ("dies", "command", "job:dies died by signal 9"),
        ("leaves", "untold", "no process told of torch"),
        ("fickle", "not-proven", "a fresh process: no autograd_cache_hit"),
    ],
)
def test_a_warm_up_that_is_none_fails_with_its_reason(warm, name, kind, said):
    answer = warm.entry(name)
    (device,) = answer.report["devices"]
    assert (answer.status, answer.report["warm"]) == (1, False)
    assert (device["faults"][0]["kind"], device["warm"]) == (kind, False)
    assert said in device["faults"][0]["said"]


def test_a_part_fails_against_the_mark_or_what_is_expected(warm):
    assert warm.entry("whole").status == 0
    shutil.rmtree(warm.cache)
    answer = warm.entry("part")
    assert (answer.status, faults(answer)) == (1, {"cpu": ["partial"]})
    assert "1 of 3 aotautograd keys that were there once, which is less than 50%" in answer.stdout
    assert warm.entry("part", "--expect-keys", "1").status == 0
    answer = warm.entry("part", "--expect-keys", "2", "--save")
    assert (answer.status, faults(answer)) == (1, {"cpu": ["partial"]})
    assert answer.report["not_saved"] == "not everything is proven"


@pytest.mark.parametrize(
    "words",
    [("--entry", "job:current"), ("--script", "job.py"), ("--", "python", "job.py")],
    ids=lambda words: words[0],
)
def test_each_device_is_current_in_its_turn_whatever_is_run(warm, words):
    answer = warm("--devices", "0,1", "--format", "json", *words)
    assert (answer.status, faults(answer)) == (0, {"cuda:0": [], "cuda:1": []})
    assert sorted(os.listdir(warm.cache / "aotautograd")) == ["ag1cuda0", "ag1cuda1"]
    assert all(device["new_keys"] == {"aotautograd": 1} for device in answer.report["devices"])


@pytest.mark.parametrize(
    ("own", "said"), [("cuda:0", "it ran on cuda:0 and never on cuda:1"), ("cpu", "it used no GPU")]
)
def test_one_that_takes_a_device_of_its_own_is_told(warm, own, said):
    answer = warm("--devices", "1", "--format", "json", "--", "python", "job.py", own)
    assert (answer.status, faults(answer)) == (1, {"cuda:1": ["device"]})
    assert answer.report["devices"][0]["faults"][0]["said"] == said


def test_one_device_that_fails_does_not_stop_the_others(warm):
    answer = warm.entry("half", "--devices", "7,0,1")
    assert (answer.status, faults(answer)) == (1, {"cuda:7": ["command"], "cuda:0": ["command"], "cuda:1": []})
    assert answer.report["devices"][0]["faults"][0]["said"] == "RuntimeError: CUDA error: invalid device ordinal"


def test_a_default_is_no_device_and_the_cache_that_is_named_is_filled_and_saved(warm, tmp_path):
    answer = warm.entry("with_default", "--cache", "mine", "--save")
    assert (answer.status, answer.report["cache"]) == (0, str(tmp_path / "mine"))
    assert os.listdir(tmp_path / "mine" / "aotautograd") == ["ag1cpu"]
    assert Path(answer.report["saved"]["path"]).exists()


def test_the_time_of_one_process_is_limited_and_nothing_of_it_stays(warm):
    answer = warm.entry("hangs", "--timeout", "1")
    assert (answer.status, faults(answer)) == (1, {"cpu": ["command"]})
    assert "job:hangs: no end within 1 s" in answer.stdout
    assert answer.report["devices"][0]["faults"][0]["remedy"] == ["let it have more time: --timeout 5"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("nomod:f", "nomod:f: there is no module nomod, here or in the target"),
        ("job.sub:f", "job.sub:f: there is no module job.sub, here or in the target"),
        (
            "job:nosuch",
            "job has no function nosuch; it has whole, part, current, with_default, forward, boom, half, leaves",
        ),
        ("job:torch.nosuch", "job.torch has no function nosuch; it has count, step"),
        ("job:os.environ", "job.os.environ is no function but of type _Environ"),
        ("job:two", "job:two: it would be called with a device alone: missing a required argument: 'steps'"),
    ],
)
def test_an_entry_that_is_not_there_is_told_once_before_anything_is_called(warm, entry, said):
    answer = warm("--entry", entry, "--devices", "0,1")
    assert (answer.status, answer.stdout) == (2, "")
    started, line = answer.stderr.splitlines()
    assert (started, said in line) == ("cuda:0   warm-up  started", True)


@pytest.mark.parametrize("entry", ["job:boom", "lacking:step"])
def test_of_an_error_of_the_users_his_own_frames_are_shown(warm, entry):
    (warm.folder / "lacking.py").write_text("import nowhere_to_be_found\n")
    answer = warm("--entry", entry)
    assert (answer.status, answer.stderr.count("Traceback")) == (1, 1)
    assert f'{entry.partition(":")[0]}.py", line' in answer.stderr
    assert "entry.py" not in answer.stderr
    assert "importlib" not in answer.stderr
    assert "next: see where: its traceback is above, on standard error" in answer.stdout


@pytest.mark.parametrize(("words", "name"), [("--script syn.py", "syn.py"), ("-- python syn.py", "python syn.py")])
def test_a_script_that_fails_is_named_with_a_way_to_look_closer(warm, words, name):
    (warm.folder / "syn.py").write_text("x = (\n")
    answer = warm("--format", "json", *words.split())
    (fault,) = answer.report["devices"][0]["faults"]
    assert (answer.status, fault["said"]) == (1, f"{name} failed with status 1")
    assert fault["remedy"][1].endswith(" syn.py")
    assert fault["remedy"][1].startswith("or run it by itself: ENVDOCTOR_DEVICE=cpu ")


def test_a_gpu_for_a_torch_without_cuda_is_refused_before_anything_runs(warm):
    warm.patient.edit("torch/version.py", "__version__ = '2.13.0+cpu'\ncuda = None\nhip = None\n")
    answer = warm("--entry", "job:part", "--devices", "cpu,0")
    assert (answer.status, answer.stdout) == (3, "")
    assert "torch 2.13.0+cpu is built without CUDA, so there is no cuda:0 to warm; " in answer.stderr
    assert "or name --devices cpu" in answer.stderr
    assert warm("--entry", "job:part").status == 0


def test_ctrl_c_in_a_terminal_ends_the_entry_without_a_word(warm):
    words = ("warm", "--target", warm.patient.prefix, "--devices", "cpu", "--entry", "job:waits")
    process = warm.doctor.start(*words, env=warm.env, start_new_session=True)
    while not (warm.folder / "ready").exists():
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert (process.returncode, b"Traceback" in errors, b"KeyboardInterrupt" in errors) == (130, False, False)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_and_leaves_nothing(warm, number, status):
    words = ("warm", "--target", warm.patient.prefix, "--devices", "cpu", "--entry", "job:hangs")
    process = warm.doctor.start(*words, env=warm.env)
    while not (warm.folder / "ready").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate(timeout=10)
    assert (process.returncode, b"Traceback" in errors) == (status, False)


def test_a_torch_without_cuda_says_what_it_is(warm):
    """As a CPU build does: set_device lacks what it calls, and init says why."""
    path = next(Path(warm.patient.prefix).rglob("torch/cuda/__init__.py"))
    lacking = """
def init():
    raise AssertionError("Torch not compiled with CUDA enabled")


def set_device(device):
    raise AttributeError("_cuda_setDevice")
"""
    path.write_text(path.read_text() + lacking)
    answer = warm.entry("part", "--devices", "0")
    (fault,) = answer.report["devices"][0]["faults"]
    assert (answer.status, fault["said"]) == (1, "AssertionError: Torch not compiled with CUDA enabled")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "in one way: --entry pkg.mod:function, --script FILE, or -- CMD..."),
        (("--entry", "job:part", "--", "python", "job.py"), "in one way"),
        (("--entry", "job.part"), "--entry: 'job.part' is not of the form pkg.mod:function"),
        (("--script", "gone.py"), "--script: gone.py: there is no such file"),
        (("--", "nonsense"), "nonsense: did not start"),
        (("--entry", "job:part", "--devices", "gpu0"), "'gpu0' is no device"),
        (("--entry", "job:part", "--expect-keys", "0"), "--expect-keys"),
        (("--entry", "job:part", "--timeout", "nan"), "--timeout"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(warm, words, said):
    answer = warm(*words)
    assert (answer.status, answer.stdout) == (2, "")
    assert said in answer.stderr


def test_without_torch_device_or_usable_cache_nothing_is_begun(warm, tmp_path):
    (tmp_path / "file").write_text("")
    answer = warm("--entry", "job:part", "--cache", "file")
    assert (answer.status, answer.stdout) == (3, "")
    assert "cannot be written by this user: it is no directory" in answer.stderr
    answer = warm("--entry", "job:part", "--devices", "all", env={"CUDA_VISIBLE_DEVICES": ""})
    assert (answer.status, answer.stdout) == (3, "")
    assert "--devices cpu needs no GPU" in answer.stderr
    bare = Patient(tmp_path / "bare")
    answer = warm.doctor("warm", "--target", bare.prefix, "--entry", "job:part", env=warm.env)
    assert (answer.status, answer.stdout) == (2, "")
    assert "so there is nothing that could compile" in answer.stderr


def test_the_report_for_programs_is_json_alone(warm):
    answer = warm.entry("part")
    document = json.loads(answer.stdout)
    assert (document["schema"], document["status"], document["entry"]) == (1, 0, "job:part")
    assert [line.split()[:2] for line in answer.stderr.splitlines()] == [["cpu", "warm-up"]] * 2 + [
        ["cpu", "proof"]
    ] * 2
