"""Builds of extensions, and their locks."""

from cachetrees import put

from envdoctor.facts.cache_builds import Build, Lock, builds, locks
from envdoctor.facts.cache_users import User


def test_the_compiler_is_read_off_the_build_file(tmp_path):
    cuda = put(
        tmp_path / "a/build.ninja", "ninja_required_version = 1.3\ncxx = c++\nnvcc = /usr/local/cuda-12.8/bin/nvcc\n"
    )
    plain = put(tmp_path / "b/build.ninja", "cxx = c++\n")
    assert builds([str(plain), str(cuda), str(tmp_path / "gone")]) == (
        Build(str(tmp_path / "a"), "/usr/local/cuda-12.8/bin/nvcc"),
    )


def test_a_lock_is_held_by_who_works_in_its_directory():
    ninja = User(7, "me", "ninja", "/x/a", "works there")
    holder = User(8, "me", "python", "/x/a/lock", "open")
    loaded = User(9, "me", "python", "/x/a/a.so", "mapped")
    other = User(10, "me", "ninja", "/x/b", "works there")
    (found,) = locks([Lock("/x/a/lock", 5.0)], [ninja, holder, loaded, other])
    assert found.holders == (ninja, holder)
