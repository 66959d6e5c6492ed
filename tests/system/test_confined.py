"""One answer from a child that may be anybody's, and another user that it becomes for good."""

import ctypes
import os
import platform
import signal
import time

import pytest
from nobody import NOBODY

from envdoctor.errors import EnvDoctorError
from envdoctor.system import confined, dropped, gentle

ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="root alone has anything to give up")


def refused(work, within=20.0):
    with pytest.raises(EnvDoctorError) as error:
        confined.answer(work, within=within)
    return str(error.value)


def test_an_answer_comes_whole():
    data = os.urandom(3 << 20)
    assert confined.answer(lambda: data, within=20) == data


def test_a_child_has_no_descriptor_of_ours_and_no_terminal():
    with open(os.devnull) as ours:
        os.set_inheritable(ours.fileno(), True)
        said = confined.answer(
            lambda: repr(
                (os.getsid(0) == os.getpid(), {os.readlink(f"/proc/self/fd/{n}") for n in (0, 1, 2)})
            ).encode(),
            within=20,
        )
        assert said == b"(True, {'/dev/null'})"
        numbers = confined.answer(lambda: repr(sorted(map(int, os.listdir("/proc/self/fd")))).encode(), within=20)
    assert len(numbers.split(b",")) == 5, "three that lead nowhere, the pipe, and the directory that is listed"


def test_one_that_dies_is_said_to_have_died():
    assert refused(lambda: os.kill(os.getpid(), signal.SIGKILL)) == "the process that looked at it died (signal 9)"
    assert refused(lambda: None) == "the process that looked at it died"


def test_one_that_is_late_is_given_up():
    assert refused(lambda: time.sleep(60), within=0.2) == "no answer within 0.2 s"


def test_one_that_says_too_much_is_not_listened_to(monkeypatch):
    monkeypatch.setattr(confined, "CAP", 1000)
    assert refused(lambda: bytes(1001)) == "the answer has 1,001 bytes, more than any should (1,000)"


def as_another(work=bytes):
    """Become nobody in a child, then work."""

    def become():
        try:
            dropped.become(dropped.identity(NOBODY), seconds=5)
        except EnvDoctorError as error:
            return str(error).encode()
        return work()

    return confined.answer(become, within=20).decode()


@ROOT
def test_another_user_is_another_for_good():
    assert as_another(
        lambda: repr((os.getresuid(), os.getresgid()[0] != 0, os.getcwd(), dict(os.environ))).encode()
    ) == (repr(((NOBODY,) * 3, True, "/", dropped.identity(NOBODY).environment())))


@ROOT
@pytest.mark.parametrize("call", ["setuid", "setgid", "setgroups"])
def test_if_any_right_is_left_nothing_is_done(monkeypatch, call):
    monkeypatch.setattr(os, call, lambda _: None)
    assert as_another() == "cannot become nobody: rights of root are left"


@ROOT
def test_what_cannot_be_given_up_is_said(monkeypatch):
    def fail(_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "setuid", fail)
    assert as_another() == "cannot become nobody: Operation not permitted"


def test_gentle_work_is_last_for_the_processor_and_the_first_to_go():
    def measured():
        gentle.give_way()
        with open("/proc/self/oom_score_adj") as stream:
            return f"{os.getpriority(os.PRIO_PROCESS, 0)} {stream.read().strip()}".encode()

    assert confined.answer(measured, within=20) == b"19 1000"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number of ioprio_get is known for x86_64 alone")
def test_gentle_work_is_last_for_the_disk():
    def measured():
        gentle.give_way()
        return str(ctypes.CDLL(None).syscall(252, 1, 0) >> 13).encode()

    assert confined.answer(measured, within=20) == b"3", "IOPRIO_CLASS_IDLE"
