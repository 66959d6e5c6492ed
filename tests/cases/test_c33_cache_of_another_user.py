"""triton-lang/triton#518, pytorch/pytorch#34238: a cache in /tmp is the first user's, and locks the others out."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from cachetrees import inductor
from fakes import FakeHost
from nobody import as_nobody
from values import findings

from envdoctor.facts.compile_caches import collect
from envdoctor.model import Target, Unavailable
from envdoctor.probes.cache import foreign_owner, not_writable, writable_by_others


@pytest.fixture
def shared():
    """A directory that everybody can come to, sticky as /tmp is."""
    folder = Path(tempfile.mkdtemp(prefix="envdoctor-c33-"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


def judged(folder, check, **env):
    """Return what a probe says to somebody without privilege, whose TMPDIR is the shared directory."""

    def look():
        host = FakeHost(env={"TMPDIR": str(folder), "USER": "ann", "TRITON_CACHE_DIR": str(folder / "t"), **env})
        found = collect(Target("/env", "/env/bin/python"), host, None, Unavailable("no mounts"))
        return findings(check, compile_caches=found)

    return as_nobody(look)


def test_without_the_right_to_write_it_is_an_error_with_owner_and_mode(shared):
    cache = inductor(shared / "torchinductor_ann", cpu=1)
    cache.chmod(0o555)
    (found,) = judged(shared, not_writable.check)
    assert (found.severity.label, found.subject) == ("error", str(cache))
    assert f"belongs to user {os.geteuid()} and has mode 0555" in found.message
    assert found.remedy[0].startswith("export TORCHINDUCTOR_CACHE_DIR=")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_somebody_else_s_is_an_error_even_where_it_may_be_written(shared):
    cache = inductor(shared / "torchinductor_ann", cpu=1)
    os.chown(cache, 4711, 4711)
    cache.chmod(0o777)
    assert judged(shared, not_writable.check) == []
    for check in (foreign_owner.check, writable_by_others.check):
        (found,) = judged(shared, check)
        assert found.severity.label == "error"
        assert "runs as you" in found.message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_link_of_somebody_else_s_in_its_place_is_an_error(shared):
    inductor(shared / "elsewhere", cpu=1)
    link = shared / "torchinductor_ann"
    link.symlink_to(shared / "elsewhere")
    os.chown(link, 4711, 4711, follow_symlinks=False)
    (found,) = judged(shared, foreign_owner.check)
    assert "user 4711 has put a link" in found.message


def test_control_directories_of_one_s_own_by_the_variables_are_silent(shared):
    inductor(shared / "torchinductor_ann", cpu=1).chmod(0o555)
    env = {"TORCHINDUCTOR_CACHE_DIR": str(shared / "own")}

    def look(check):
        return judged(shared, check, **env)

    assert [look(probe.check) for probe in (not_writable, foreign_owner, writable_by_others)] == [[], [], []]
