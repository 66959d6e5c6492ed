"""Why a step failed: by a damaged cache entry, by known words, by what the node shows, else by its last words."""

import pytest
from values import (
    SITE,
    attempt,
    distributions,
    driver,
    ended,
    failure,
    gpu,
    gpu_use,
    loader,
    loads,
    nvidia_wheels,
    on_gpu,
    smoke,
    variables,
    view,
)

from envdoctor.facts.cache_entries import Damage, Damaged
from envdoctor.facts.cache_faults import CONSEQUENCES
from envdoctor.model import Unavailable
from envdoctor.views.diagnoses import stuck_at

NO_COMPILER = "RuntimeError: Failed to find C compiler. Please specify via CC environment variable or set"
STUB = "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling "
EMPTY_MODULE = "AttributeError: module 'torch._inductor.runtime.compile_tasks.cwtoj' has no attribute 'call'"
MODULE, KERNEL = "/c/wt/cwtoj.py", "/c/triton/KEY"
EMPTY = Damaged(MODULE, "empty", "is empty", "every run fails with it", MODULE)
CUT = Damaged(f"{KERNEL}/k.cubin", "truncated-elf", "is cut off", "the driver refuses to load it", KERNEL)


def diagnosed(failed, *damage, device="cuda:0", **given):
    """Return the finding of one failed attempt, beside a cache with this damage."""
    run = smoke(attempt("compile", failed, device), damage=Damage(damage) if damage else None)
    return view("diagnoses", smoke=run, **given).raised[device, "compile"]


class TestKnownWords:
    @pytest.mark.parametrize(
        ("error", "signature"),
        [
            (f"{NO_COMPILER} triton.knobs.build.impl.", "no-c-compiler"),
            ("ImportError: /t/XU5D/cuda_utils.so: failed to map segment from shared object", "cache-noexec"),
            (f"{STUB}NumCudaDevices()? Error 34: CUDA driver is a stub library", "stub-libcuda"),
            ("PTXASError: PTXAS error: Internal Triton PTX codegen error", "ptxas-failed"),
            (EMPTY_MODULE, "cache-empty-module"),
        ],
    )
    def test_an_error_is_known_by_its_text(self, error, signature):
        found = diagnosed(failure(error))
        assert (found.evidence["signature"], found.evidence["error"]) == (signature, error)
        assert found.evidence["last_lines"] == [error], "no head of a traceback"
        assert found.remedy

    def test_a_cause_behind_the_error_is_known_too(self):
        found = diagnosed(failure("BackendCompilerFailed: backend='inductor' raised:", NO_COMPILER))
        assert found.message == "cuda:0: compile failed: triton found no C compiler for its launcher"

    def test_what_a_compiler_printed_is_shown_with_its_own_words(self):
        printed = (
            "/tmp/x/cuda_utils.c:7:10: fatal error: Python.h: No such file or directory\n"
            "    7 | #include <Python.h>\n      |          ^~~~~~~~~~\ncompilation terminated.\nmore\n"
        )
        gcc = "CalledProcessError: Command '['/usr/bin/gcc', '/tmp/x/cuda_utils.c']' returned non-zero exit status 1."
        found = diagnosed(failure(gcc, printed=printed))
        assert found.evidence["signature"] == "python-header-missing"
        assert found.evidence["last_lines"] == printed.splitlines()[:4]

    def test_bars_that_redraw_their_line_do_not_shift_what_is_shown(self):
        found = diagnosed(ended(printed=f"10%|x\r20%|y\r{NO_COMPILER}\nbelow\nTraceback (most recent call last):\n"))
        assert found.evidence["last_lines"] == [NO_COMPILER, "below"]

    def test_the_exception_comes_before_what_was_printed(self):
        found = diagnosed(failure(NO_COMPILER, printed="/x.c:1: fatal error: Python.h: No such file or directory"))
        assert found.evidence["signature"] == "no-c-compiler"

    def test_a_signature_below_many_lines_is_told_at_its_place(self):
        text = "\n".join(["ptxas /tmp/x.ptx", "PTXAS error: refused", "Repro command: ptxas -v", "", "line 5"])
        assert diagnosed(failure(f"PTXASError: {text}")).evidence["last_lines"][-1] == "Repro command: ptxas -v"


class TestDamage:
    def test_an_entry_that_the_code_had_at_hand_is_the_cause(self):
        found = diagnosed(failure("JSONDecodeError: Expecting value", paths=("/x", MODULE)), CUT, EMPTY)
        assert found.message == f"cuda:0: compile failed: the cache entry {MODULE} is empty"
        assert found.remedy == (f"rm -r {MODULE}",)
        assert found.evidence["entries"] == [MODULE]

    def test_an_entry_that_the_error_names_is_the_cause(self):
        assert diagnosed(failure(f"ImportError: {MODULE}: bad"), CUT, EMPTY).evidence["entries"] == [MODULE]

    def test_the_directory_of_a_kernel_stands_for_its_files(self):
        found = diagnosed(failure("KeyError: 'cubin'", paths=(f"{KERNEL}/k.json",)), CUT, EMPTY)
        assert found.message == f"cuda:0: compile failed: the cache entry {CUT.path} is cut off"
        assert found.remedy == (f"rm -r {KERNEL}",)

    @pytest.mark.parametrize(
        "failed",
        [failure(EMPTY_MODULE), failure("RuntimeError: CUDA error: device kernel image is invalid"), ended()],
        ids=["an empty module", "an invalid image", "a crash"],
    )
    def test_damage_that_nothing_names_may_be_any_of_them(self, failed):
        found = diagnosed(failed, EMPTY, CUT)
        assert found.evidence["count"] == 2
        assert found.message.endswith(f"the cache entry {MODULE} is empty, and one entry more is damaged")
        assert found.remedy == (f"rm -r {MODULE} {KERNEL}",)

    def test_a_crash_is_told_before_the_entry(self):
        assert diagnosed(ended(), EMPTY).message.startswith(
            "cuda:0: compile failed: the process died by SIGSEGV; perhaps because the cache"
        )

    @pytest.mark.parametrize("error", [NO_COMPILER, "AcceleratorError: CUDA error: out of memory"])
    def test_damage_is_not_blamed_for_what_it_does_not_do(self, error):
        assert "entries" not in diagnosed(failure(error), EMPTY).evidence

    def test_where_nothing_else_is_known_it_may_be_the_damage(self):
        said = "cuda:0: compile failed: ValueError: 7; perhaps because the cache entry"
        assert diagnosed(failure("ValueError: 7"), EMPTY).message.startswith(said)

    def test_harmless_damage_and_a_kill_from_outside_are_not_put_together(self):
        harmless = Damaged("/c/fxgraph/k", "empty", "is empty", CONSEQUENCES["graph", "empty"], "/c/fxgraph/k")
        assert "entries" not in diagnosed(failure("ValueError: 7"), harmless).evidence
        assert "entries" not in diagnosed(ended("died", "the process died by SIGKILL"), EMPTY).evidence

    def test_words_of_damage_without_any_are_told_by_the_table(self):
        assert diagnosed(failure(EMPTY_MODULE)).evidence["signature"] == "cache-empty-module"
        assert "is damaged" in diagnosed(failure(f"ImportError: {KERNEL}/x.so: file too short")).message

    def test_many_are_cut_and_quoted_for_a_shell(self):
        many = [Damaged(f"/c/ab/{n} $x.py", "empty", "is empty", "", f"/c/ab/{n} $x.py") for n in range(11)]
        found = diagnosed(ended(), *many)
        assert "and 10 entries more are damaged" in found.message
        assert found.remedy[0].startswith("rm -r '/c/ab/0 $x.py' '/c/ab/1 $x.py' ")
        assert "the 3 others" in found.remedy[1]
        assert (len(found.evidence["entries"]), len(found.evidence["remove"])) == (8, 11)


class TestMemory:
    FULL = failure("AcceleratorError: CUDA error: out of memory")

    def diagnosed(self, *processes, failed=FULL, device="cuda:0", problem=None):
        cards = () if problem else (gpu(processes=processes), gpu(1))
        given = {"driver": driver(*cards, problem=problem), "gpu_use": problem or gpu_use(7, 8)}
        return diagnosed(failed, device=device, variables=variables(), **given)

    def test_who_else_is_on_the_gpu_is_said(self):
        found = self.diagnosed(on_gpu(7, 5 << 30), on_gpu(8))
        assert (
            found.message
            == "cuda:0: compile failed: out of memory, and cuda:0 is used by pid 7 (python of me) and 1 more"
        )
        assert found.evidence["processes"][0] == {"pid": 7, "bytes": 5 << 30}
        assert found.evidence["nvml_index"] == 0
        assert found.remedy[0] == "wait for it, or choose other GPUs with --devices"

    def test_a_gpu_that_is_held_is_not_called_full(self):
        busy = failure("AcceleratorError: CUDA error: CUDA-capable device(s) is/are busy or unavailable")
        said = self.diagnosed(on_gpu(7), failed=busy).message
        assert "exclusive mode" in said
        assert said.endswith("cuda:0 is used by pid 7 (python of me)")
        assert "out of memory" not in said

    @pytest.mark.parametrize(
        ("processes", "fields"),
        [
            ((), {}),
            ((on_gpu(7),), {"device": "cuda:1"}),
            ((on_gpu(7),), {"device": "cpu"}),
            ((), {"problem": Unavailable("NVML gave no answer within 3 s", failed=True)}),
        ],
        ids=["nobody", "on another gpu", "a cpu", "nvml is silent"],
    )
    def test_otherwise_the_error_speaks_for_itself(self, processes, fields):
        found = self.diagnosed(*processes, **fields)
        where = fields.get("device", "cuda:0")
        assert found.message == f"{where}: compile failed: the GPU had not enough free memory"
        assert "processes" not in found.evidence


class TestUndefinedSymbol:
    TEXT = "libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12"
    WHEEL = "nvidia/nvjitlink/lib/libnvJitLink.so.12"

    def diagnosed(self, failed):
        return diagnosed(
            failed,
            loader=loader(resolutions=[loads("/usr/local/cuda/lib64/libnvJitLink.so.12", "LD_LIBRARY_PATH")]),
            nvidia_wheels=nvidia_wheels(("nvidia-nvjitlink-cu12==12.4.127", self.WHEEL)),
            distributions=distributions("torch==2.6.0"),
        )

    @pytest.mark.parametrize(
        "failed",
        [
            failure(f"ImportError: /env/{TEXT}"),
            ended(message="the process ended with status 127", printed=f"python: symbol lookup error: /env/{TEXT}\n"),
        ],
        ids=["raised", "printed by the loader"],
    )
    def test_who_ships_it_and_which_file_is_taken_is_said(self, failed):
        found = self.diagnosed(failed)
        assert found.message == (
            "cuda:0: compile failed: libcusparse.so.12 wants the symbol __nvJitLinkComplete_12_4 of libnvJitLink.so.12,"
            " which "
            f"nvidia-nvjitlink-cu12 12.4.127 ({SITE}/{self.WHEEL}) ships, but the loader takes "
            "/usr/local/cuda/lib64/libnvJitLink.so.12, found by LD_LIBRARY_PATH"
        )
        assert found.evidence["symbol"] == "__nvJitLinkComplete_12_4"

    def test_without_facts_the_symbol_is_told_all_the_same(self):
        assert "__nvJitLinkComplete_12_4" in diagnosed(failure(f"ImportError: /env/{self.TEXT}")).message


class TestUnknown:
    def test_the_last_printed_and_the_last_raised_lines_are_shown(self):
        lines = [str(number) for number in range(30)]
        found = diagnosed(failure("ValueError: seven", printed="\n".join(lines), traceback=tuple(lines)))
        assert found.message == "cuda:0: compile failed: ValueError: seven"
        assert found.evidence["last_lines"] == [*lines[-10:], *lines[-10:]]
        assert (found.evidence["signature"], found.remedy) == (None, ())

    @pytest.mark.parametrize(
        "noise",
        [
            "",
            "    ^^^^^^^^",
            "    ~~~~^^~~~~",
            "The above exception was the direct cause of the following exception:",
            'Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace; TORCH_LOGS="+dynamo"',
            "You can suppress this exception and fall back to eager by setting:",
            "For even more developer context, set TORCH_LOGS",
        ],
    )
    def test_noise_is_left_out(self, noise):
        found = diagnosed(failure("ValueError: seven", traceback=("one", noise, "two"), printed=f"zero\n{noise}\n"))
        assert found.evidence["last_lines"] == ["zero", "one", "two"]

    def test_a_long_message_is_cut(self):
        found = diagnosed(failure(f"ValueError: {'x' * 5000}\nsecond line"))
        assert found.message == f"cuda:0: compile failed: ValueError: {'x' * 188}..."
        assert len(found.evidence["error"]) == 2000

    @pytest.mark.parametrize("before", [*range(140, 200, 7), *range(1940, 2000, 7)])
    def test_a_cut_shows_no_part_of_a_secret(self, before):
        address = "https://me:S3CRETs3cretS3CRET@host.example/"
        found = diagnosed(failure(f"ValueError: {'x' * before} {address} {'y' * 3000}"))
        assert "S3CRET" not in found.message + str(found.evidence["error"])

    def test_an_exception_without_words_is_its_name(self):
        assert diagnosed(failure("KeyboardInterrupt")).message == "cuda:0: compile failed: KeyboardInterrupt"

    def test_a_crash_shows_the_innermost_frames_of_the_thread_at_fault(self):
        frames = [f'  File "/env/torch/{n}.py", line {n} in call' for n in range(40)]
        own = "Current thread 0x00007f02 (most recent call first):"
        other = (
            'Thread 0x00007f01 (most recent call first):\n  File "/usr/lib/python3.12/threading.py", line 355 in wait'
        )
        blocks = ("Fatal Python error: Segmentation fault", other, "\n".join([own, *frames]), "Extension modules: a, b")
        found = diagnosed(ended(stacks="\n\n".join(blocks)))
        assert found.evidence["last_lines"] == [blocks[0], own, *frames[:8]]
        assert found.evidence["stacks"][0] == blocks[0]


def test_only_what_failed_and_did_not_hang_is_diagnosed():
    run = smoke(attempt("device"), attempt("compile", ended("hung")), attempt("half", failure(), "cuda:1"))
    assert list(view("diagnoses", smoke=run).raised) == [("cuda:1", "half")]


WAITS = """Thread 0x00007f01 (most recent call first):
  File "/usr/lib/python3.12/socket.py", line 720 in readinto

Thread 0x00007f02 [pool] (most recent call first):
  <no Python frame>

"""
LOCK, RESULT = (
    'File "/usr/lib/python3.12/threading.py", line 355',
    'File "/usr/lib/python3.12/futures/_base.py", line 451',
)
IMPORT = 'File "<frozen importlib._bootstrap>", line 488'


@pytest.mark.parametrize(
    ("before", "frames", "place"),
    [
        ("", ['File "/a.py", line 7 in <module>'], "/a.py:7 in <module>"),
        (WAITS, ['File "/a.py", line 7 in f', 'File "/b.py", line 9 in g'], "/a.py:7 in f"),
        (WAITS, [f"{LOCK} in wait", f"{RESULT} in result", 'File "/a.py", line 7 in f'], "/a.py:7 in f"),
        ("", [f"{IMPORT} in _find_and_load", 'File "/torch.py", line 4 in <module>'], "/torch.py:4 in <module>"),
        ("", [f"{LOCK} in wait"], "/usr/lib/python3.12/threading.py:355 in wait"),
        (WAITS, ['File "/a.py", line ??? in f'], ""),
        (WAITS, ['File "/a.p'], ""),
        ("", ["<no Python frame>"], ""),
    ],
    ids=["one", "several", "waiting", "importing", "only waits", "no line", "cut off", "no frame"],
)
def test_where_it_was_stuck(before, frames, place):
    assert stuck_at(before + "\n  ".join(["Current thread 0x1 (most recent call first):", *frames]) + "\n") == place


def test_no_stacks_tell_no_place():
    assert stuck_at("") == ""


def test_a_secret_that_a_cut_would_tear_is_hidden_before():
    printed = "x" * 280 + " HF_TOKEN=" + "hf_" + "S" * 200
    said = diagnosed(failure("ValueError: 7", printed=printed)).evidence["last_lines"]
    assert not [line for line in said if "SSS" in line]
