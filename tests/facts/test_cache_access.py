"""Who may change a directory."""

import grp
import os

import pytest

from envdoctor.facts.cache_access import look
from envdoctor.system import people

ROOT = os.getuid() == 0


@pytest.fixture
def cache(tmp_path):
    found = tmp_path / "above" / "cache"
    found.mkdir(parents=True)
    for path in (found, found.parent, tmp_path):
        path.chmod(0o755)
    return found


def test_a_private_one_is_writable_and_nobody_else_s(cache):
    found = look(str(cache), ask=True)
    assert (found.owner, found.mode, found.writable, found.link) == (os.getuid(), 0o755, True, None)
    assert found.open_at is None


@pytest.mark.parametrize("mode", [0o777, 0o1777])
def test_one_that_everybody_may_write_is_open_whatever_its_sticky_bit(cache, mode):
    cache.chmod(mode)
    assert (look(str(cache), ask=True).open_at, look(str(cache), ask=True).open_mode) == (str(cache), mode)


def test_above_it_the_sticky_bit_is_enough(cache):
    cache.parent.chmod(0o777)
    assert look(str(cache), ask=True).open_at == str(cache.parent)
    cache.parent.chmod(0o1777)
    assert look(str(cache), ask=True).open_at is None


@pytest.mark.parametrize(("group", "members", "is_open"), [("me", [], False), ("me", ["eve"], True), ("lab", [], True)])
def test_a_group_of_the_owner_s_own_name_is_his_alone(cache, monkeypatch, group, members, is_open):
    monkeypatch.setattr(people, "user_name", lambda _: "me")
    monkeypatch.setattr(grp, "getgrgid", lambda gid: grp.struct_group((group, "x", gid, members)))
    cache.chmod(0o770)
    assert (look(str(cache), ask=True).open_at == str(cache)) == is_open


def test_a_link_is_named_with_its_owner(cache):
    link = cache.parent / "link"
    link.symlink_to(cache)
    found = look(str(link), ask=True)
    assert (found.link, found.link_owner, found.owner) == (str(cache), os.getuid(), os.getuid())


def test_one_that_is_not_there_is_judged_by_what_is_above(cache):
    assert look(str(cache / "a" / "b"), ask=True).writable is True
    (cache / "file").write_text("")
    found = look(str(cache / "file" / "b"), ask=True)
    assert (found.writable, found.refuses) == (False, str(cache / "file"))


def test_a_link_to_nowhere_cannot_be_made_a_directory(cache):
    (cache / "link").symlink_to(cache / "gone")
    assert look(str(cache / "link"), ask=True).writable is False


@pytest.mark.skipif(ROOT, reason="root may write everywhere")
def test_a_mode_without_the_right_refuses(cache):
    cache.chmod(0o555)
    found = look(str(cache), ask=True)
    assert (found.writable, found.refuses, found.mode) == (False, str(cache), 0o555)
    cache.chmod(0o755)


def test_unasked_nothing_is_said_of_rights(cache):
    assert look(str(cache), ask=False).writable is None
