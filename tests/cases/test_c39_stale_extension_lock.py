"""pytorch/pytorch#189245: a build was killed and left its lock, and every later run waits for it without end."""

import os
import subprocess
import sys

import pytest
from cachetrees import put
from fakes import NOW, FakeHost
from values import findings

from envdoctor.facts.compile_caches import collect
from envdoctor.model import Target, Unavailable
from envdoctor.probes.cache.stale_lock import check


@pytest.fixture
def lock(tmp_path):
    return put(tmp_path / "home/.cache/torch_extensions/py311_cu128/my_ext/lock", "")


@pytest.fixture
def judged(tmp_path, lock):
    def at(age):
        os.utime(lock, (NOW.timestamp() - age,) * 2)
        host = FakeHost(home=str(tmp_path / "home"), env={"TMPDIR": str(tmp_path)})
        found = collect(Target("/env", "/env/bin/python"), host, None, Unavailable("no mounts"))
        return findings(check, compile_caches=found)

    return at


def test_one_of_six_hours_is_an_error_with_age_and_path(judged, lock):
    (found,) = judged(6 * 3600)
    assert (found.severity.label, found.subject) == ("error", str(lock))
    assert f"{lock} is 6.0 h old" in found.message
    assert found.remedy == (f"rm {lock}",)


def test_control_one_of_twenty_seconds_is_a_note(judged):
    assert [finding.severity.label for finding in judged(20)] == ["note"]


def test_control_a_builder_that_lives_makes_it_a_note_at_any_age(judged, lock):
    code = f"f = open({str(lock)!r}); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        (found,) = judged(6 * 3600)
        child.communicate(b"\n")
    assert (found.severity.label, found.remedy) == ("note", ())
    assert f"pid {child.pid}" in found.message


def test_control_no_lock_is_silent(judged, lock):
    (lock.parent / "my_ext.so").write_bytes(b"\x7fELF")
    os.rename(lock, lock.with_name("my_ext.o"))
    host = FakeHost(home=str(lock.parents[4]))
    found = collect(Target("/env", "/env/bin/python"), host, None, Unavailable("no mounts"))
    assert found.of("torch_extensions").files == 2
    assert findings(check, compile_caches=found) == []
