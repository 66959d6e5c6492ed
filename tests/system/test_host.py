"""Processes end in time whatever they do; files are replaced whole or not at all."""

import os
import stat
import time
from datetime import UTC

import pytest
from fakes import FakeHost

from envdoctor.errors import EnvDoctorError
from envdoctor.system import host as module
from envdoctor.system.host import OUTPUT_CAP, Completed, Host, LocalHost, write_atomically


def sh(script, timeout=5.0, **options):
    return LocalHost().run(["sh", "-c", script], timeout=timeout, **options)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("echo hi", Completed(0, b"hi\n")),
        ("echo hi; echo noise >&2; exit 3", Completed(3, b"hi\n")),
        ("kill -9 $$", Completed(-9, b"")),
        ("cat", Completed(0, b"")),
    ],
    ids=["answers", "fails", "dies", "reads input"],
)
def test_a_process_that_ends(script, expected):
    assert sh(script) == expected


@pytest.mark.parametrize(
    ("script", "output", "problem"),
    [
        ("echo part; sleep 60", b"part\n", "no answer within 0.2 s"),
        ("exec >&-; sleep 60", b"", "no end within 0.2 s"),
        ("sleep 60 & echo $$", None, "no answer within 0.2 s"),
    ],
    ids=["hangs", "closes its output and hangs", "leaves a child with its output"],
)
def test_a_process_that_does_not_end_is_ended_in_time(script, output, problem):
    began = time.monotonic()
    done = sh(script, timeout=0.2)
    assert (done.status, done.problem) == (None, problem)
    assert output is None or done.stdout == output
    assert time.monotonic() - began < 0.9


def test_time_spent_on_the_output_counts_towards_the_end():
    began = time.monotonic()
    assert sh("sleep 0.6; exec >&-; sleep 60", timeout=0.8).problem == "no end within 0.8 s"
    assert time.monotonic() - began < 1.2


def test_a_process_that_prints_endlessly_is_ended():
    done = sh("while :; do printf %65536s x; done", timeout=20)
    assert (done.status, done.problem) == (None, "printed more than 1 MiB")
    assert OUTPUT_CAP < len(done.stdout) <= OUTPUT_CAP + 65536


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["/no/such/file"], "No such file or directory"),
        (["/etc"], "Permission denied"),
        (["nul\0"], "embedded null byte"),
    ],
)
def test_a_process_that_does_not_start(argv, reason):
    assert LocalHost().run(argv, timeout=1) == Completed(None, b"", f"did not start: {reason}")


def test_a_file_of_another_format_does_not_start(tmp_path):
    (tmp_path / "python").write_bytes(b"\x7fELF nonsense")
    (tmp_path / "python").chmod(0o755)
    assert "did not start: Exec format error" in LocalHost().run([str(tmp_path / "python")], timeout=1).problem


def test_the_environment_is_the_one_given():
    assert sh("echo $A-$HOME", env={"A": "1"}).stdout == b"1-\n"


def test_home_is_the_callers():
    assert LocalHost(env={"HOME": "/there"}).home == "/there"
    assert LocalHost(env={}).home == os.path.expanduser("~")


def test_time_has_a_zone_and_the_host_a_name():
    assert (LocalHost().now().tzinfo, bool(LocalHost().name)) == (UTC, True)


def test_the_fake_is_a_host():
    fake: Host = FakeHost(answer=lambda argv: Completed(0, argv[0].encode()))
    assert fake.run(["x", "y"], timeout=1, env={"A": "1"}) == Completed(0, b"x")
    assert (fake.ran, fake.environments) == ([["x", "y"]], [{"A": "1"}])


def test_a_file_is_written_with_its_folder_and_mode(tmp_path):
    write_atomically(str(tmp_path / "new/file"), lambda descriptor: os.write(descriptor, b"all"), mode=0o600)
    assert (tmp_path / "new/file").read_bytes() == b"all"
    assert stat.S_IMODE((tmp_path / "new/file").stat().st_mode) == 0o600


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ZeroDivisionError()])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(error, tmp_path):
    (tmp_path / "file").write_text("old")

    def fail(descriptor):
        os.write(descriptor, b"half")
        raise error

    with pytest.raises((EnvDoctorError, ZeroDivisionError)) as caught:
        write_atomically(str(tmp_path / "file"), fail)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "old")]
    if isinstance(error, OSError):
        assert str(caught.value) == f"{tmp_path}/file: cannot be written: No space left on device"


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvDoctorError, match="file/x: cannot be written: File exists"):
        write_atomically(str(tmp_path / "file/x"), lambda _: None)


def test_ending_a_group_that_is_gone_is_no_error():
    module.end_group(2**22 + 1)


def test_patience_shortens_every_limit():
    host = LocalHost(patience=0.2)
    assert host.run(["sleep", "60"], timeout=50).problem == "no answer within 0.2 s"
