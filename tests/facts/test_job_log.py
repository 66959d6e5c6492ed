"""The log that the caller named is read as a stream; what is no text is refused in words."""

import gzip
import os
import tracemalloc
from glob import glob

import pytest
from fakes import FakeHost
from values import PREFIX, PYTHON

from envdoctor.codec import from_json, to_json
from envdoctor.errors import UsageError
from envdoctor.facts.job_log import JobLog, collect
from envdoctor.facts.traces import Trace, Tracer
from envdoctor.model import Target, Unavailable

FAILURE = b"RuntimeError: Failed to find C compiler. Please specify via CC environment variable.\n"


def read(path):
    return collect(Target(PREFIX, PYTHON, log=str(path)), FakeHost())


@pytest.fixture
def log(tmp_path):
    return tmp_path / "train.log"


def test_without_a_log_there_is_nothing_to_read():
    assert collect(Target(PREFIX, PYTHON), FakeHost()) == Unavailable("no log was named (--log)")


def test_failures_are_found_with_their_lines(log):
    log.write_bytes(b"step 1\n" + FAILURE + b"step 2\n" + FAILURE)
    found = read(log)
    assert (found.path, found.size) == (str(log), log.stat().st_size)
    assert [(match.id, match.line, match.count) for match in found.matches] == [("no-c-compiler", 2, 2)]
    assert found.place(found.matches[0]) == "train.log:2"


@pytest.mark.parametrize("text", [b"\n", b"all is well", b"\xef\xbb\xbfcaf\xe9\n", b"\0" * 9000])
def test_a_text_without_failures_has_no_match(log, text):
    log.write_bytes(text)
    assert read(log) == JobLog(str(log), len(text))


def test_an_empty_log_is_said_to_be_one_and_is_not_healthy(log):
    log.touch()
    assert read(log) == Unavailable(f"the log is empty: {log}", failed=True)


def test_what_truncation_left_at_the_beginning_hides_nothing(log):
    log.write_bytes(b"\0" * 5000 + FAILURE)
    assert [match.id for match in read(log).matches] == ["no-c-compiler"]


def fifo(path):
    os.mkfifo(path)


def absent(path):
    pass


def device(path):
    path.symlink_to("/dev/zero")


def forbidden(path):
    path.touch(mode=0)


def environment(path):
    path.symlink_to("/proc/self/environ")


def messages(path):
    path.symlink_to("/proc/kmsg")


def endless(path):
    path.symlink_to("/proc/self/mem")


def of_sysfs(path):
    path.symlink_to("/sys/kernel/mm/transparent_hugepage/enabled")


def of_a_control_group(path):
    path.symlink_to(next(iter(glob("/sys/fs/cgroup/**/cgroup.procs", recursive=True)), "/proc/version"))


def binary(path):
    path.write_bytes(b"\x7fELF\x02\x01\x01" + b"\0" * 9)


def utf_16(path):
    path.write_bytes(FAILURE.decode().encode("utf-16"))


def utf_16_without_a_mark(path):
    path.write_bytes(FAILURE.decode().encode("utf-16-be"))


def packed(path):
    path.write_bytes(gzip.compress(FAILURE))


NEEDS_KMSG = pytest.mark.skipif(
    os.getuid() != 0 or not os.path.isfile("/proc/kmsg"), reason="only root may open it, and not in every container"
)
NEEDS_SYSFS = pytest.mark.skipif(
    not os.path.isfile("/sys/kernel/mm/transparent_hugepage/enabled"), reason="this kernel has none"
)
NOT_ROOT = pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (absent, "No such file or directory"),
        (os.mkdir, "is not a regular file"),
        (fifo, "is not a regular file"),
        (device, "is not a regular file"),
        (environment, "is not a log file"),
        pytest.param(messages, "is not a log file", marks=[NEEDS_KMSG]),
        (endless, "is not a log file"),
        pytest.param(of_sysfs, "is not a log file", marks=[NEEDS_SYSFS]),
        (of_a_control_group, "is not a log file"),
        (binary, "is not text"),
        (utf_16, "is not text (UTF-16?): convert it with iconv -f utf-16 -t utf-8"),
        (utf_16_without_a_mark, "is not text (UTF-16?): convert it with iconv -f utf-16 -t utf-8"),
        (packed, "is compressed (gzip); unpack it first"),
        pytest.param(forbidden, "Permission denied", marks=NOT_ROOT),
    ],
)
def test_what_cannot_be_read_as_text_is_refused(log, make, said):
    make(log)
    with pytest.raises(UsageError) as caught:
        read(log)
    assert str(caught.value) == f"--log: {log}: {said}"


TRACE = (
    'Traceback (most recent call last):\n  File "/env/torch/x.py", line 3, in f\n    g()\n    ^^^\n'
    '  File "train.py", line 12, in main\n    loss.backward()\n{}\n'
)
LAUNCHER = TRACE.format("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ")


@pytest.mark.parametrize("cut", [1, 7, 1 << 20])
@pytest.mark.parametrize("prefix", ["", "[rank0]: ", "\x1b[31m"])
def test_the_last_traceback_is_kept_and_a_launchers_is_none(cut, prefix):
    text = f"a\n{TRACE.format('KeyError: 1')}b\n{TRACE.format('ValueError: token=S3CRETS3CRET is bad')}{LAUNCHER}c\n"
    log = "".join(prefix + line for line in text.splitlines(keepends=True)).encode()
    tracer = Tracer()
    blocks = [log[at : at + cut] for at in range(0, len(log), cut)]
    assert list(tracer.watch(blocks)) == blocks
    assert tracer.last() == Trace(10, "ValueError: token=**** is bad", "train.py:12")


@pytest.mark.parametrize(
    ("text", "raised"),
    [
        (LAUNCHER, "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:"),
        (f"ERROR {TRACE.format('KeyboardInterrupt')}", "KeyboardInterrupt"),
        (TRACE.format("[rank1]: step 2\nno exception here"), None),
        ("Traceback (most recent call last):", None),
        ("step 1\n", None),
    ],
)
def test_what_was_raised_is_told(text, raised):
    tracer = Tracer()
    list(tracer.watch([text.encode()]))
    trace = tracer.last()
    assert (trace and trace.raised) == raised


def test_a_traceback_beside_a_known_failure_is_left_out(log):
    log.write_bytes(TRACE.format("KeyError: 1").encode())
    assert read(log).trace == Trace(1, "KeyError: 1", "train.py:12")
    log.write_bytes(TRACE.format("KeyError: 1").encode() + FAILURE)
    assert read(log).trace is None


@pytest.mark.whole  # takes seconds
def test_memory_is_bounded(log):
    with log.open("wb") as stream:
        for _ in range(64):
            stream.write(b"x" * (1 << 20))  # one line of 64 MiB
        stream.write(b"\n" + FAILURE * 1000)
    tracemalloc.start()
    found = read(log)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(match.line, match.count) for match in found.matches] == [(2, 1000)]
    assert peak < 12 << 20


def test_a_snapshot_can_hold_it(log):
    log.write_bytes(FAILURE)
    found = read(log)
    assert from_json(JobLog, to_json(found)) == found
