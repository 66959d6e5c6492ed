"""A log raises the findings that it shows to be real, and says alone only what no finding explains."""

from dataclasses import replace
from datetime import timedelta

import pytest
from values import NOW, TARGET, finding, outcome

from envdoctor import signatures
from envdoctor.confirm import UNEXPLAINED, confirmed, explained
from envdoctor.facts.job_log import JobLog
from envdoctor.facts.node import Mount, Node
from envdoctor.judge import judge
from envdoctor.model import Severity, Unavailable
from envdoctor.policy import Mute, Policy
from envdoctor.probes.log.known_failure import check as report_log
from envdoctor.registry import Probe
from envdoctor.signatures import Match
from envdoctor.snapshot import Snapshot
from envdoctor.wiring import needs

NO_NODE = Unavailable("not asked for")
NO_LOG = Unavailable("no log was named (--log)")
SHM = "node/small-shm"
BUS = Match("shared-memory-bus-error", "a worker died", ("df /dev/shm",), (SHM,), "error", 123, "Bus error")
FULL = replace(BUS, id="shared-memory-full", line=9)
MILD = replace(BUS, severity="warning")
RACE = Match("fx-trace-race", "two threads", ("one process",), (), "error", 7, "Detected")


def log(*matches):
    return JobLog("/scratch/run/train.log", 1000, matches)


@pytest.mark.parametrize("severity", Severity)
def test_a_finding_is_raised_and_says_where_it_shows(severity):
    found = confirmed(finding(severity=severity, total=64), SHM, log(RACE, BUS), NO_NODE)
    assert found.severity == Severity.ERROR
    assert found.message == "six is not well; the log shows it (train.log:123)"
    assert found.evidence == {
        "total": 64,
        "log": {"file": "/scratch/run/train.log", "line": 123, "text": "Bus error", "signature": BUS.id},
    }


def test_a_finding_without_steps_gets_those_of_the_signature():
    assert confirmed(finding(), SHM, log(BUS), NO_NODE).remedy == ("df /dev/shm",)
    own = replace(finding(), remedy=("mount it larger",))
    assert confirmed(own, SHM, log(BUS), NO_NODE).remedy == ("mount it larger",)


@pytest.mark.parametrize(("severity", "after"), [("NOTE", "WARNING"), ("WARNING", "WARNING"), ("ERROR", "ERROR")])
def test_a_finding_is_never_lowered(severity, after):
    assert confirmed(finding(severity=Severity[severity]), SHM, log(MILD), NO_NODE).severity == Severity[after]


@pytest.mark.parametrize("read", [NO_LOG, log(), log(RACE)])
def test_what_the_log_does_not_show_stays_as_it_is(read):
    assert confirmed(finding(), SHM, read, NO_NODE) == finding()


def test_the_first_line_that_shows_it_is_named():
    assert confirmed(finding(), SHM, log(FULL, BUS), NO_NODE).evidence["log"]["line"] == 9


def told(*matches):
    return outcome(UNEXPLAINED, *report_log(log(*matches)))


def left(outcomes, read):
    return {o.probe: [f.subject for f in o.findings] for o in explained(outcomes, read, NO_NODE)}


def test_what_a_finding_explains_is_not_told_again():
    outcomes = [told(BUS, FULL, RACE), outcome(SHM, finding("/dev/shm"))]
    assert left(outcomes, log(BUS, FULL, RACE)) == {UNEXPLAINED: [RACE.id], SHM: ["/dev/shm"]}


@pytest.mark.parametrize(
    "other",
    [
        outcome(SHM),
        outcome(SHM, muted=(finding("/dev/shm"),)),
        outcome(SHM, skipped=NO_LOG),
        outcome(SHM, crashed="x"),
        outcome("node/low-disk", finding("/")),
    ],
)
def test_what_no_finding_explains_is_told(other):
    assert left([told(BUS), other], log(BUS))[UNEXPLAINED] == [BUS.id]


def test_without_a_log_nothing_changes():
    outcomes = (outcome(UNEXPLAINED, skipped=NO_LOG), outcome(SHM, finding()))
    assert explained(outcomes, NO_LOG, NO_NODE) == outcomes


MOUNTS = tuple(
    Mount(point, kind, (), source)
    for point, kind, source in [
        ("/", "ext4", "/dev/sda1"),
        ("/tmp", "tmpfs", "tmpfs"),
        ("/home", "ext4", "/dev/sda1"),
        ("/dev/shm", "tmpfs", "tmpfs"),
        ("/mnt/nfs", "nfs4", "server:/x"),
    ]
)
NODE = Node(mounts=MOUNTS)
OOM = "CUDA out of memory. Tried to allocate 1 GiB. GPU {} has a total capacity of 79.1 GiB of which 1 MiB is free. {}"
OTHERS = "Process {} has 70 GiB memory in use. Including non-PyTorch memory"
MISSING = "ImportError: {}: cannot open shared object file: No such file or directory"
ABI = "ImportError: /env/lib/python3.12/site-packages/{}: undefined symbol: _ZN3c105ErrorC2E"
SYMBOL = "ImportError: /env/torch/lib/{}: undefined symbol: {}"
SPACE = "OSError: [Errno 28] No space left on device{}"


def gpu(number, *pids):
    processes = [{"pid": pid, "user": "me", "command": "python", "bytes": 8} for pid in pids]
    evidence = {"uuid": f"GPU-{number}", "nvml_index": number + 4, "device": f"cuda:{number}", "processes": processes}
    return finding(f"GPU-{number}", Severity.WARNING, f"GPU {number + 4} is used", **evidence)


def orphan(index, *pids):
    dead = [{"pid": pid, "state": "dead"} for pid in pids]
    return finding(f"GPU-{index}", Severity.WARNING, f"GPU {index}: 3 GiB", nvml_index=index, dead=dead)


def disk(path):
    return finding(path, Severity.WARNING, f"{path} (temporary files) has 1 GiB of 9 GiB free")


def extension(path, why):
    message = f"x 1.0 does not fit torch 2.11.0: {path} {why}"
    return finding(
        "x", Severity.WARNING, message, objects=[{"path": path, "why": why, "missing": ["_ZN3c105ErrorC2E"]}]
    )


def shadowed(*sonames):
    libraries = [{"soname": name, "there": f"/usr/local/cuda/lib64/{name}"} for name in sonames]
    return finding("/usr/local/cuda/lib64", Severity.WARNING, "hides", libraries=libraries)


def wheels(path):
    return finding("nvidia-nccl-cu12", Severity.WARNING, f"both install {path}", paths=[path])


def glibc(need, where):
    return finding("x", Severity.WARNING, f"x needs glibc {need} ({where})", need=need, where=where)


def assembler(**evidence):
    return finding("cuda:0", Severity.WARNING, "needs a ptxas of CUDA 12.8 or later", **evidence)


def requirer(name, *others):
    requirements = [{"text": other, "name": other, "installed": None} for other in others]
    return finding(name, requirements=requirements)


def faulty(pci, *xids):
    return finding("GPU-1", Severity.WARNING, pci=pci, xids=list(xids))


BUSY, ORPHANED, DISK, EXTENSION = "node/busy-gpu", "node/orphaned-gpu-memory", "node/low-disk", "packages/extension-abi"
SHADOWED, GLIBC, PTXAS, LIMITS = (
    "cuda/library-shadowed",
    "packages/glibc-too-old",
    "cuda/ptxas-too-old",
    "node/low-limits",
)
COMPILER = "environment/no-compiler"
NVJITLINK = "__nvJitLinkComplete_12_4, version libnvJitLink.so.12"
OLD = "ImportError: /lib/libc.so.6: version `GLIBC_2.32' not found{}"
MODULE = "ModuleNotFoundError: No module named '{}'"
NAME = "ImportError: cannot import name 'x' from '{}' (/env/x.py)"
XID = "NVRM: Xid (PCI:0000:44:00): {}, GPU has fallen off the bus"
SAME = [
    (OOM.format(0, ""), BUSY, gpu(0)),
    (OOM.format(0, OTHERS.format(999)), BUSY, gpu(0, 7)),
    (OOM.format(0, OTHERS.format(999)), BUSY, gpu(5, 999)),
    (OOM.format(5, ""), ORPHANED, orphan(5)),
    (OOM.format(0, OTHERS.format(999)), ORPHANED, orphan(5, 999)),
    ("RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable", BUSY, gpu(5, 999)),
    (SPACE.format(""), DISK, disk("/tmp")),
    (SPACE.format(": '/tmp/torchinductor_me/x'"), DISK, disk("/tmp")),
    (SPACE.format(": '/scratch/x'"), DISK, disk("/env")),
    (SPACE.format(": '/home/me/x'"), DISK, disk("/env")),
    ("cp: error writing '/tmp/x': No space left on device", DISK, disk("/tmp/cache")),
    (MISSING.format("libtorch_cuda_cu.so"), EXTENSION, extension("x.so", "needs libtorch_cuda_cu.so, which")),
    (MISSING.format("libcudart.so.12"), EXTENSION, extension("x.so", "was built for CUDA 12, torch for 13.0")),
    (ABI.format("flash_attn_2_cuda.so"), EXTENSION, extension("flash_attn_2_cuda.so", "needs y")),
    (ABI.format("vllm/_C.abi3.so"), EXTENSION, extension("vllm/_C.abi3.so", "needs y")),
    (SYMBOL.format("libcusparse.so.12", NVJITLINK), SHADOWED, shadowed("libnvJitLink.so.12")),
    (SYMBOL.format("libtorch_cuda.so", "ncclCommResume"), SHADOWED, shadowed("libnccl.so.2")),
    (
        SYMBOL.format("libtorch_cuda.so", "ncclCommResume"),
        "cuda/wheel-mix",
        wheels("/env/nvidia/nccl/lib/libnccl.so.2"),
    ),
    (OLD.format(""), GLIBC, glibc("2.32", "y.so")),
    (OLD.format(" (required by /env/x.so)"), GLIBC, glibc("2.34", "x.so")),
    ("ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'", PTXAS, assembler(arch="sm_120")),
    ("ptxas fatal   : Value 'sm_90a' is not defined for option 'gpu-name'", PTXAS, assembler(arch="sm_90")),
    ("ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'", PTXAS, assembler(path="/old/ptxas")),
    ("OSError: [Errno 24] Too many open files", LIMITS, finding("nofile", Severity.WARNING)),
    ("RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed. ", LIMITS, finding("memory")),
    ("RuntimeError: Failed to find C compiler.", COMPILER, finding("gcc", Severity.WARNING)),
    (MODULE.format("tokenizers.models"), "packages/missing", finding("tokenizers")),
    (MODULE.format("flash_attn"), "packages/drifted", finding("flash-attn")),
    (MODULE.format("tokenizers"), "packages/broken-requirement", requirer("transformers", "tokenizers")),
    (NAME.format("transformers"), "packages/broken-requirement", requirer("transformers", "tokenizers")),
    (NAME.format("transformers.utils"), "packages/drifted", finding("transformers")),
    (XID.format("79"), "node/gpu-errors", faulty("00000000:44:00.0", "79, x")),
    (XID.format("79"), "node/gpu-errors", finding("0000:44:00", xids=["79, x"])),
    ("RuntimeError: can't start new thread", LIMITS, finding("nproc", Severity.WARNING)),
]
OTHER = [
    (OOM.format(0, ""), BUSY, gpu(5, 999)),
    (OOM.format(0, OTHERS.format(888)), BUSY, gpu(5, 999)),
    ("RuntimeError: CUDA error: out of memory", BUSY, gpu(5, 999)),
    (OOM.format(0, ""), ORPHANED, orphan(5, 999)),
    (SPACE.format(": '/mnt/nfs/ckpt'"), DISK, disk("/tmp")),
    (SPACE.format(": '/mnt/nfs/ckpt'"), DISK, disk("/")),
    (SPACE.format(": '/dev/shm/x'"), DISK, disk("/tmp")),
    ("cp: error writing '/mnt/nfs/x': No space left on device", DISK, disk("/tmp")),
    (MISSING.format("libcudnn.so.9"), EXTENSION, extension("flash_attn_2_cuda.so", "needs y")),
    (MISSING.format("libcudart.so.11"), EXTENSION, extension("x.so", "was built for CUDA 12, torch for 13.0")),
    (ABI.format("flash_attn_2_cuda.so"), EXTENSION, extension("xformers/_C.so", "needs y")),
    (ABI.format("vllm/_C.abi3.so"), EXTENSION, extension("torchao/_C.abi3.so", "needs y")),
    (SYMBOL.format("libcusparse.so.12", NVJITLINK), SHADOWED, shadowed("libnccl.so.2")),
    (SYMBOL.format("libtorch_cuda.so", "ncclCommResume"), "cuda/wheel-mix", wheels("/env/nvidia/cudnn/libcudnn.so.9")),
    (OLD.format(""), GLIBC, glibc("2.34", "y.so")),
    (OLD.format(" (required by /env/x.so)"), GLIBC, glibc("2.34", "y.so")),
    ("ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'", PTXAS, assembler(arch="sm_90")),
    ("OSError: [Errno 24] Too many open files", LIMITS, finding("nproc", Severity.WARNING)),
    ("RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed. ", LIMITS, finding("nofile")),
    ("RuntimeError: Failed to find C compiler.", COMPILER, finding("CXX", Severity.WARNING)),
    (MODULE.format("train"), "packages/drifted", finding("six", file="/project/train.txt")),
    (MODULE.format("tokenizers"), "packages/missing", finding("transformers", required_by=["tokenizers"])),
    (NAME.format("transformers"), "packages/broken-requirement", requirer("peft", "accelerate")),
    (XID.format("79"), "node/gpu-errors", faulty("00000000:45:00.0", "79, x")),
]
"""Lines, and findings of a probe that judges such a fault: of the same thing, and of another one."""


def held_together(text, probe, found):
    read = log(*signatures.found([text.encode()]))
    assert len(read.matches) == 1
    after = confirmed(found, probe, read, NODE)
    told = explained([outcome(UNEXPLAINED, *report_log(read)), outcome(probe, after)], read, NODE)
    return "log" in after.evidence and after.evidence["log"].keys() >= {"signature"}, len(told[0].findings)


@pytest.mark.parametrize(("text", "probe", "found"), SAME, ids=range(len(SAME)))
def test_a_finding_of_the_same_thing_is_raised_and_explains_the_log(text, probe, found):
    assert held_together(text, probe, found) == (True, 0)


@pytest.mark.parametrize(("text", "probe", "found"), OTHER, ids=range(len(OTHER)))
def test_a_finding_of_another_thing_stays_as_it_is_and_the_log_speaks_for_itself(text, probe, found):
    assert held_together(text, probe, found) == (False, 1)


def test_one_thing_explained_leaves_the_others_told():
    read = log(*signatures.found([f"{OOM.format(0, '')}\n{OOM.format(5, '')}\n".encode()]))
    busy = confirmed(gpu(5), BUSY, read, NODE)
    assert busy.evidence["log"]["line"] == 2
    told, _ = explained([outcome(UNEXPLAINED, *report_log(read)), outcome(BUSY, busy)], read, NODE)
    assert [found.evidence["line"] for found in told.findings] == [1]


def test_what_the_log_added_to_a_finding_does_not_explain_another_line():
    lines = [
        SYMBOL.format("libtorch_cuda.so", "ncclCommResume"),
        f"{MISSING.format('libcudnn.so.9')} {ABI.format('x.so')}",
    ]
    read = log(*signatures.found(["\n".join(lines).encode()]))
    found = finding("x", Severity.WARNING, "x.so needs y", objects=[])
    after = confirmed(found, EXTENSION, read, NODE)
    told, _ = explained([outcome(UNEXPLAINED, *report_log(read)), outcome(EXTENSION, after)], read, NODE)
    assert [found.evidence["line"] for found in told.findings] == [1]


def test_where_mounts_are_unknown_a_path_below_counts():
    read = log(*signatures.found([SPACE.format(": '/tmp/x'").encode()]))
    assert "log" in confirmed(disk("/tmp"), DISK, read, NO_NODE).evidence
    assert "log" not in confirmed(disk("/var"), DISK, read, NO_NODE).evidence


def small():
    yield finding("/dev/shm", Severity.WARNING, "/dev/shm holds 64 MiB")


PROBES = (
    Probe(UNEXPLAINED, "A log.", report_log, needs(report_log)),
    Probe(SHM, "A small one.", small, ()),
)


def judged(read, policy=None):
    outcomes = judge(PROBES, Snapshot(job_log=read), policy or Policy(), TARGET, NOW)
    return {o.probe: [(f.subject, f.severity.label) for f in o.findings] for o in outcomes}


class TestJudge:
    """The two together, with the configuration having the last word."""

    def test_raises_and_tells(self):
        assert judged(log(BUS, RACE)) == {UNEXPLAINED: [(RACE.id, "warning")], SHM: [("/dev/shm", "error")]}

    def test_a_configured_severity_stays(self):
        policy = Policy(severity={SHM: Severity.NOTE})
        assert judged(log(BUS), policy) == {UNEXPLAINED: [], SHM: [("/dev/shm", "note")]}

    def test_a_muted_finding_stays_muted_and_the_log_speaks_for_itself(self):
        policy = Policy(mutes=(Mute(SHM, "known"),))
        assert judged(log(BUS), policy) == {UNEXPLAINED: [(BUS.id, "warning")], SHM: []}

    def test_an_expired_mute_hides_nothing(self):
        policy = Policy(mutes=(Mute(SHM, "known", until=(NOW - timedelta(days=1)).date()),))
        assert judged(log(BUS), policy) == {UNEXPLAINED: [], SHM: [("/dev/shm", "error")]}

    def test_a_signature_can_be_muted(self):
        assert judged(log(RACE), Policy(mutes=(Mute(UNEXPLAINED, "ours", subject=RACE.id),)))[UNEXPLAINED] == []

    def test_what_the_log_holds_is_made_safe(self):
        hostile = replace(BUS, text="\x1b]0;x\x07 https://me:secret@host/")
        outcomes = judge(PROBES, Snapshot(job_log=log(hostile)), Policy(), TARGET, NOW)
        (found,) = outcomes[1].findings
        assert found.evidence["log"]["text"] == "\\x1b]0;x\\x07 https://****@host/"
