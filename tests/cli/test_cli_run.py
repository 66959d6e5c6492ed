"""`envdoctor run`: what it says and changes before the command starts, and that nothing of it is left afterwards."""

import ctypes
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tracers
from doctor import MACHINE
from patients import Patient, Wheel
from warmable import warmable

from envdoctor.hooks import COUNTERS, FX_GUARD
from envdoctor.system import prctl

"""Another hook of ours."""
BARE = ("--no-check", "--keep", "all", "--quiet")
"""Nothing but the start."""
SHOW = "import json, os, sys; json.dump(dict(os.environ), sys.stdout)"


@pytest.fixture
def run(doctor, patient):
    """Run a command in the patient; machine-dependent probes are left out of the check."""
    apart = [word for probe in MACHINE for word in ("--ignore", probe)]

    def start(*words, options=(), **more):
        chosen = apart if "--no-check" not in options and "--select" not in options else []
        return doctor("run", "--target", patient.prefix, *chosen, *options, "--", *words, **more)

    return start


class TestTheCommandIsAlone:
    @pytest.mark.parametrize("status", [0, 7])
    def test_its_status_and_output_are_its_own(self, run, status):
        answer = run("sh", "-c", f"echo out; echo err >&2; exit {status}", options=BARE)
        assert (answer.status, answer.stdout, answer.stderr) == (status, "out\n", "err\n")

    def test_it_is_this_process_with_its_group_limits_umask_priority_and_without_children(self, run):
        look = "echo $$ $PPID $(ps -o pgid= -o sid= -p $$) $(umask) $(ulimit -n) $(nice); ps -o stat= --ppid $$"
        mine = {}

        def prepare():
            import resource

            os.umask(0o27)
            os.nice(3)
            resource.setrlimit(resource.RLIMIT_NOFILE, (333, 333))

        answer = run("sh", "-c", f"{look}; true", options=BARE, preexec_fn=prepare, start_new_session=True)
        head, *children = answer.stdout.splitlines()
        pid, parent, group, session, umask, files, nice = head.split()
        assert pid == group == session
        assert int(parent) == os.getpid()
        assert (int(umask, 8), files, int(nice)) == (0o27, "333", 3 + os.nice(0))
        assert len(children) == 1, mine  # ps itself

    def test_its_python_is_the_targets(self, run, patient):
        answer = run("python", "-c", SHOW, options=BARE, env={"PYTHONHOME": "", "CONDA_PREFIX": "/opt/conda"})
        env = json.loads(answer.stdout)
        assert env["VIRTUAL_ENV"] == str(patient.prefix)
        assert env["PATH"] == f"{patient.bin}:{os.environ['PATH']}"
        assert "PYTHONHOME" not in env
        assert env["CONDA_PREFIX"] == "/opt/conda"

    def test_what_it_reads_is_the_callers_and_what_nobody_reads_ends_it(self, doctor, patient):
        command = [sys.executable, "-m", "envdoctor", "run", "--target", patient.prefix, *BARE, "--"]
        piped = doctor.start("run", "--target", patient.prefix, *BARE, "--", "cat", stdin=subprocess.PIPE)
        assert piped.communicate(b"words\n", timeout=20) == (b"words\n", b"")
        words = " ".join(map(str, command))
        pipe = ["bash", "-c", f"{words} yes | head -n1; echo ${{PIPESTATUS[0]}}"]
        done = subprocess.run(pipe, env=doctor.environment(), capture_output=True, timeout=20, check=False)
        assert done.stdout.split() == [b"y", str(128 + signal.SIGPIPE).encode()]
        assert done.stderr == b""

    def test_descriptors_of_the_caller_are_open_and_none_of_ours(self, doctor, patient):
        reading, writing = os.pipe()
        arguments = (
            "run",
            "--target",
            patient.prefix,
            *BARE,
            "--",
            "bash",
            "-c",
            f"echo job >&{writing}; ls /proc/$$/fd; true",
        )
        process = doctor.start(*arguments, pass_fds=[writing])
        os.close(writing)
        stdout, _ = process.communicate(timeout=20)
        with os.fdopen(reading) as stream:
            assert stream.read() == "job\n"
        assert set(stdout.decode().split()) == {"0", "1", "2", str(writing)}

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
    def test_a_signal_to_the_process_is_the_commands(self, doctor, patient, number):
        process = doctor.start("run", "--target", patient.prefix, *BARE, "--", "sh", "-c", "echo up; exec sleep 60")
        assert process.stdout.readline() == b"up\n"
        process.send_signal(signal.SIGSTOP)
        wait_for(lambda: state(process.pid) == "T")
        process.send_signal(signal.SIGCONT)
        wait_for(lambda: state(process.pid) == "S")
        process.send_signal(number)
        process.communicate(timeout=20)
        assert process.returncode == -number

    def test_what_the_caller_ignores_stays_ignored_in_the_background_as_well(self, doctor, patient):
        def prepare():
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_IGN)

        arguments = ("run", "--target", patient.prefix, *BARE, "--", "grep", "SigIgn", "/proc/self/status")
        stdout, _ = doctor.start(*arguments, preexec_fn=prepare).communicate(timeout=20)
        assert int(stdout.split()[1], 16) == 0b111

    @pytest.mark.parametrize(("word", "status"), [("nothing-of-that-name", 127), ("/etc/passwd", 126)])
    def test_a_command_that_cannot_be_started_is_one_line(self, run, word, status):
        answer = run(word, options=BARE)
        assert (answer.status, answer.stdout) == (status, "")
        assert answer.stderr.startswith(f"envdoctor: {word}: ")
        assert answer.stderr.count("\n") == 1

    def test_options_after_the_dashes_are_the_commands(self, run):
        assert run("echo", "--help", "--", "--target", "x", options=BARE).stdout == "--help -- --target x\n"


def state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("words", [(), ("--",), ("python", "train.py"), ("--no-check", "python", "--lr", "3")])
def test_a_command_is_said_after_dashes(doctor, words):
    answer = doctor("run", *words)
    assert (answer.status, answer.stdout) == (2, "")
    assert "envdoctor run [OPTIONS] -- CMD" in answer.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--keep", "everything"), "'everything' is none of library-path, pythonpath"),
        (("--guard", "fx"), "'--guard'"),
        (("word",), "unexpected extra argument"),
        (("--devices", "cpu"), "run: --devices: only with --warm"),
        (("--format", "json"), "run: --format: only with --dry-run"),
        (("--lock", "x", "--fail-on", "note"), "run: --lock, --fail-on: not with --no-check"),
        (("--reuse", "soon"), "--reuse"),
        (("--devices", "cpu"), "--devices: only with --warm"),
        (("--target", "/nowhere"), "/nowhere is not there"),
    ],
)
def test_usage_errors_start_nothing(run, options, said):
    answer = run("echo", "started", options=("--no-check", *options))
    assert (answer.status, answer.stdout) == (2, "")
    assert said in answer.stderr


class TestCheck:
    def test_a_sick_target_stops_the_command_in_one_line(self, run, patient):
        patient.delete("transformers/models.py")
        answer = run("echo", "started")
        assert (answer.status, answer.stdout) == (1, "")
        (line,) = [line for line in answer.stderr.splitlines() if "activate" not in line]
        assert line.startswith("envdoctor: not started: error packages/missing-file (transformers); `envdoctor check ")

    def test_the_command_that_it_names_finds_the_same(self, run, doctor, patient):
        patient.add("stray.py", "x = 1\n")
        gone = {"CUDA_HOME": "/gone"}
        strict = ("--select", "packages/unowned-file", "--fail-on", "warning")
        refused = run("true", options=strict).stderr
        within = run("true", options=(*strict, "--deadline", "25"), env=gone).stderr
        for stderr, wrapped in ((refused, False), (within, True)):
            line = stderr.splitlines()[-1].split("`")[1]
            assert (" -- envdoctor check " in line) == wrapped
            _, *words = shlex.split(line.replace("-- envdoctor", f"-- {sys.executable} -m envdoctor"))
            answer = doctor(*words, env=gone)
            assert (answer.status, "stray.py" in answer.stdout) == (1, True), answer.stderr
        assert f"run --no-check --target {patient.prefix} -- envdoctor check" in within

    @pytest.mark.parametrize(
        "options", [("--no-check",), ("--ignore", "packages/missing-file"), ("--select", "packages/foreign")]
    )
    def test_unless_it_is_not_looked_at(self, run, patient, options):
        patient.delete("transformers/models.py")
        assert run("echo", "started", options=options).stdout == "started\n"

    @pytest.mark.parametrize(("level", "status"), [("error", 0), ("warning", 1)])
    def test_fail_on_says_what_stops_it(self, run, patient, level, status):
        patient.add("stray.py", "x = 1\n")
        answer = run("true", options=("--select", "packages/unowned-file", "--fail-on", level))
        assert answer.status == status, answer.stderr

    def test_a_verdict_is_shared(self, run, patient):
        assert run("echo", "1", options=("--reuse", "10m")).stdout == "1\n"
        patient.delete("transformers/models.py")  # the times of directories stay: a verdict that is younger is taken
        assert run("echo", "2", options=("--reuse", "10m")).stdout == "2\n"
        assert run("echo", "3").status == 1


class TestSanitising:
    @pytest.fixture
    def other(self, tmp_path):
        """Another environment, whose packages PYTHONPATH may name."""
        found = Patient(tmp_path / "other")
        found.install(Wheel("numpy", "1.26.4", {"numpy/__init__.py": "pi = 4\n"}))
        return found

    def test_what_leaks_is_taken_out_and_said_and_stops_nothing(self, run, other):
        answer = run("sh", "-c", "echo ${PYTHONPATH-none}", env={"PYTHONPATH": f"{other.site}"})
        assert (answer.status, answer.stdout) == (0, "none\n"), answer.stderr
        assert f"envdoctor: pythonpath: PYTHONPATH without {other.site}: " in answer.stderr

    def test_what_is_kept_stops_the_command(self, run, other):
        answer = run("echo", "started", env={"PYTHONPATH": f"{other.site}"}, options=("--keep", "pythonpath"))
        assert (answer.status, answer.stdout) == (1, "")
        assert "environment/pythonpath" in answer.stderr

    def test_quiet_says_none_of_it(self, run, other):
        answer = run("true", env={"PYTHONPATH": f"{other.site}"}, options=("--quiet",))
        assert (answer.status, answer.stderr) == (0, "")

    def test_sources_of_the_project_stay(self, run, patient):
        (patient.folder / "pyproject.toml").touch()
        (patient.folder / "src").mkdir()
        (patient.folder / "src/train.py").touch()
        value = f"{patient.folder}/src"
        answer = run("sh", "-c", "echo $PYTHONPATH", env={"PYTHONPATH": value}, options=("--no-check",))
        assert answer.stdout == f"{value}\n"

    def test_a_cache_that_others_may_write_moves_to_a_private_directory(self, run, doctor, patient):
        shared = patient.folder / "shared"
        shared.mkdir()
        shared.chmod(0o777)
        patient.install(Wheel("torch", "2.11.0", {"torch/version.py": "__version__ = '2.11.0'\n"}), requested=True)
        env = {"TORCHINDUCTOR_CACHE_DIR": str(shared), "XDG_CACHE_HOME": str(doctor.home / "cache")}
        options = ("--no-check",)
        answer = run("sh", "-c", "echo $TORCHINDUCTOR_CACHE_DIR", env=env, options=options)
        place = Path(answer.stdout.strip())
        assert place.parent.parent == doctor.home / "cache/envdoctor/compile", answer.stderr
        assert place.stat().st_mode & 0o777 == 0o700
        assert "cache-dir: TORCHINDUCTOR_CACHE_DIR is" in answer.stderr
        assert run("sh", "-c", "echo $TORCHINDUCTOR_CACHE_DIR", env=env, options=options).stdout == answer.stdout

    def test_a_program_of_another_environment_is_named(self, run, other):
        answer = run(other.python, "-c", "print(3)", options=BARE)
        assert answer.stdout == "3\n"
        assert f"{other.python} is not of" in answer.stderr
        assert run("sh", "-c", "true", options=BARE).stderr == ""


ENV = {
    "HF_TOKEN": "hf_secret",
    "INDEX": "https://me:secret@index.example/simple",
    "A\nB": "1",
    "CUDA_HOME": "/gone",
}


class TestDryRun:
    def test_shows_the_environment_without_secrets_and_starts_nothing(self, run, doctor, patient):
        answer = run("echo", "started", options=("--dry-run", "--no-check"), env=ENV)
        assert answer.status == 0
        assert "secret" not in answer.stdout
        lines = answer.stdout.splitlines()
        assert f"* VIRTUAL_ENV={patient.prefix}" in lines
        assert {"  HF_TOKEN='****'", "  A\\x0aB=1", "* CUDA_HOME is unset", "  LANG=C.UTF-8"} <= {*lines}
        assert lines[-1] == "  echo started"
        assert not (doctor.home / ".local").exists()

    def test_says_that_the_cache_would_be_warmed(self, run):
        options = ("--dry-run", "--no-check", "--warm", "job:step", "--devices", "cpu")
        line = "# warm: before the command, job:step would warm the compile cache on --devices cpu"
        assert line in run("true", options=options).stdout.splitlines()
        assert json.loads(run("true", options=(*options, "--format", "json")).stdout)["warm"] == "job:step"

    def test_as_data(self, run, patient):
        answer = run("echo", "x", options=("--dry-run", "--no-check", "--format", "json"), env=ENV)
        told = json.loads(answer.stdout)
        assert told["target"] == str(patient.prefix)
        assert told["command"] == ["echo", "x"]
        assert {"rule": "cuda-home", "variable": "CUDA_HOME", "before": "/gone", "after": None} in [
            {name: value for name, value in each.items() if name != "why"} for each in told["changes"]
        ]
        assert told["env"]["HF_TOKEN"] == "****"
        assert told["env"]["INDEX"] == "https://****@index.example/simple"

    def test_says_what_would_stop_it(self, run, patient):
        patient.delete("transformers/models.py")
        answer = run("echo", "started", options=("--dry-run",))
        assert answer.status == 1
        assert "VIRTUAL_ENV=" in answer.stdout
        assert "not started: error packages/missing-file" in answer.stderr


class TestGuard:
    NOW = ("--no-check", "--guard", "fx-race")
    SHOW = ("sh", "-c", "echo ${PYTHONPATH-none}")

    @pytest.fixture
    def torch(self, patient):
        """Install a torch of a few lines, of this release."""

        def install(version):
            patient.install(Wheel("torch", version, tracers.files(version=version)))

        return install

    def test_the_hook_is_on_the_path_and_said_in_a_line(self, run, torch):
        torch("2.11.0")
        answer = run(*self.SHOW, options=self.NOW, env={"PYTHONPATH": "/mine"})
        assert answer.stdout == f"{FX_GUARD}:/mine\n"
        (line,) = [line for line in answer.stderr.splitlines() if "guard" in line]
        assert line.startswith("envdoctor: guard fx-race: makes the FX-tracing flag of torch 2.11.0 each thread's own")

    def test_where_it_does_not_reach_is_said_in_that_line(self, run, torch):
        torch("2.11.0")
        for command, end in (
            (("python", "-uE", "-c", ""), "; not in the command itself: python -E runs no start-up hook"),
            ((sys.executable, "-c", ""), "; but the command runs outside the target, whose torch alone was looked at"),
        ):
            (line,) = [line for line in run(*command, options=self.NOW).stderr.splitlines() if "its children" in line]
            assert line.endswith(end)

    @pytest.mark.parametrize("version", ["2.10.0", None])
    def test_a_torch_that_it_does_not_know_starts_nothing(self, run, torch, patient, version):
        if version:
            torch(version)
        answer = run("echo", "started", options=("--guard", "fx-race"))
        assert (answer.status, answer.stdout) == (2, "")
        assert answer.stderr.startswith(f"envdoctor: guard fx-race: {'' if version else patient.prefix}")

    def test_a_run_within_a_guarded_run_keeps_the_guard_and_judges_it_not(self, run, torch):
        torch("2.11.0")
        within = ("--select", "environment/pythonpath", "--fail-on", "note", "--quiet")
        answer = run(*self.SHOW, options=within, env={"PYTHONPATH": f"{FX_GUARD}:{COUNTERS}"})
        assert (answer.status, answer.stdout, answer.stderr) == (0, f"{FX_GUARD}:{COUNTERS}\n", "")

    def test_what_it_mends_stops_nothing(self, run, torch, patient):
        torch("2.11.0")
        (patient.folder / "envdoctor.toml").write_text("threads = true\n")
        told = [word for name in ("compile/thread-race", "environment") for word in ("--select", name)]
        strict = ("--config", patient.folder / "envdoctor.toml", *told)
        answer = run("true", options=("--fail-on", "warning", *strict))
        assert "warning compile/thread-race" in answer.stderr
        within = [sys.executable, "-m", "envdoctor", "check", "--target", patient.prefix, *strict, "--format", "json"]
        answer = run(
            *within, options=("--guard", "fx-race", "--select", "compile", *strict[:2], "--fail-on", "warning")
        )
        said = [str(each) for each in json.loads(answer.stdout)["findings"]]
        assert [each for each in said if "fx_guard" in each or "thread-race" in each] == []

    def test_with_a_dry_run_it_is_shown(self, run, torch):
        torch("2.11.0")
        answer = run("true", options=("--dry-run", "--format", "json", *self.NOW))
        told = json.loads(answer.stdout)
        assert told["env"]["PYTHONPATH"] == FX_GUARD
        assert [each["variable"] for each in told["changes"] if each["rule"] == "guard"] == ["PYTHONPATH"]


def test_a_hostile_environment_goes_through_as_it_is(doctor, patient):
    hostile = {
        b"BYTES": b"\xff\xfe\x80",
        b"LINES\nIN=A": b"name",
        b"HUGE": b"x" * 130_000,
        b"ESCAPE": b"\x1b[2J",
        **{b"N%d" % number: b"y" * 1000 for number in range(1000)},
        **{os.fsencode(name): os.fsencode(value) for name, value in doctor.environment().items()},
    }
    command = [sys.executable, "-m", "envdoctor", "run", "--target", patient.prefix, *BARE, "--", "env", "-0"]
    # a name may hold no `=` and is never empty, as far as subprocess goes; env(1) hands on what it is given
    through = ["/usr/bin/env", b"=nameless", *command]
    done = subprocess.run(through, env=fit(hostile), capture_output=True, timeout=20, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    found = dict(item.partition(b"=")[::2] for item in done.stdout.rstrip(b"\0").split(b"\0"))
    own = {b"PATH", b"VIRTUAL_ENV"}
    assert {name: value for name, value in found.items() if name not in own} == {
        name: value for name, value in fit(hostile).items() if name not in own
    }


def fit(env):
    return {name: value for name, value in env.items() if b"=" not in name}


def test_ranks_of_a_launcher_keep_their_variables(doctor, patient, tmp_path):
    launcher = tmp_path / "srun"
    launcher.write_text('#!/bin/sh\nfor r in 0 1; do RANK=$r SLURM_PROCID=$r "$@" & done; wait\n')
    launcher.chmod(0o755)
    inner = [sys.executable, "-m", "envdoctor", "run", "--target", patient.prefix, "--no-check", "--quiet", "--"]
    ranks = [str(launcher), *map(str, inner), "sh", "-c", "echo $RANK $SLURM_PROCID $VIRTUAL_ENV"]
    done = subprocess.run(ranks, env=doctor.environment(), capture_output=True, text=True, timeout=20, check=False)
    assert sorted(done.stdout.splitlines()) == [f"{rank} {rank} {patient.prefix}" for rank in (0, 1)]
    assert done.stderr == ""


class TestWarm:
    JOB = """
import os, torch

def whole(device):
    print("the step's words")
    torch.step("g1", "g2", on=device)

def forward(device):
    torch.step("g1", on=device, backward=False)
"""

    @pytest.fixture
    def warm(self, doctor, tmp_path):
        target = warmable(tmp_path / "job")
        (tmp_path / "job.py").write_text(self.JOB)

        def start(entry, *options):
            words = ("--no-check", "--warm", f"job:{entry}", "--devices", "cpu", *options, "--")
            show = ("sh", "-c", "echo started; ls $TORCHINDUCTOR_CACHE_DIR/aotautograd")
            env = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
            return doctor("run", "--target", target.prefix, *words, *show, env=env)

        return start

    def test_the_command_starts_on_the_cache_that_was_warmed(self, warm):
        answer = warm("whole", "--keep", "all")
        assert (answer.status, answer.stdout) == (0, "started\nag1cpu\nag2cpu\n"), answer.stderr
        assert "cpu      proof" in answer.stderr

    def test_it_does_not_start_on_one_that_is_not(self, warm):
        answer = warm("forward", "--keep", "all")
        assert (answer.status, answer.stdout) == (1, ""), answer.stderr
        assert "envdoctor: not started: cpu is not warm: " in answer.stderr
        assert "`envdoctor warm --entry job:forward --devices cpu --target " in answer.stderr

    def test_orphans_are_adopted_by_the_command_no_more_than_by_its_caller(self):
        with prctl.adoption_kept():
            prctl.adopt_orphans()
            assert adopts_orphans()
        assert not adopts_orphans()


def adopts_orphans():
    """Ask the kernel (PR_GET_CHILD_SUBREAPER, 37) whether this process does."""
    found = ctypes.c_int()
    ctypes.CDLL(None).prctl(37, ctypes.byref(found), 0, 0, 0)
    return bool(found.value)
