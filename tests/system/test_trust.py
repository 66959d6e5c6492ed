"""Who could change where a path leads."""

import grp
import os
import struct

import pytest
from nobody import NOBODY

from envdoctor.system.trust import strangers

ME = os.geteuid()


@pytest.fixture
def tree(tmp_path):
    """A way that is this user's alone: /tmp may be everybody's, but is sticky."""
    for path in (tmp_path, *tmp_path.parents):
        if os.stat(path).st_uid == ME and path.stat().st_mode & 0o022 and not path.stat().st_mode & 0o1000:
            pytest.skip(f"{path} is open to others")
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").touch(0o644)
    (tmp_path / "a" / "link").symlink_to("b/file")
    return tmp_path / "a"


@pytest.mark.parametrize("name", ["b", "b/file", "link", "b/../b/./file", "b/missing", "b/missing/below"])
def test_what_is_the_users_alone_is_nobody_elses(tree, name):
    assert strangers(f"{tree}/{name}", ME) is None


@pytest.mark.parametrize("name", ["b/file", "link", "b/missing"])
def test_a_directory_that_everybody_may_write_is_named(tree, name):
    (tree / "b").chmod(0o777)
    assert strangers(f"{tree}/{name}", ME) == f"{tree}/b can be written by everybody"


def test_what_lies_in_a_sticky_one_is_safe_but_what_is_not_there_yet(tree):
    (tree / "b").chmod(0o1777)
    assert strangers(f"{tree}/b/file", ME) is None
    assert strangers(f"{tree}/b/missing", ME) == f"{tree}/b can be written by everybody"


def test_the_file_itself_counts(tree):
    (tree / "b" / "file").chmod(0o666)
    assert strangers(f"{tree}/link", ME) == f"{tree}/b/file can be written by everybody"


@pytest.mark.skipif(ME != 0, reason="root alone can give files away")
def test_an_owner_on_the_way_counts_unless_he_is_the_one(tree):
    os.chown(tree / "b", NOBODY, 0)
    assert strangers(f"{tree}/b/file", ME) == f"{tree}/b belongs to nobody"
    os.chown(tree / "b" / "file", NOBODY, 0)
    assert strangers(f"{tree}/b/file", NOBODY) is None


@pytest.mark.skipif(ME != 0, reason="root alone can give files away")
def test_a_group_counts(tree):
    os.chown(tree / "b", 0, NOBODY)
    (tree / "b").chmod(0o2775)
    assert strangers(f"{tree}/b/file", ME) == f"{tree}/b can be written by the group {grp.getgrgid(NOBODY).gr_name}"


@pytest.mark.skipif(ME != 0, reason="of the groups, root's is known to be his alone")
def test_an_access_control_list_counts_where_the_group_is_the_owners_alone(tree):
    entries = ((0x01, 7, -1), (0x02, 7, NOBODY), (0x04, 5, -1), (0x10, 7, -1), (0x20, 5, -1))
    packed = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(tree / "b", "system.posix_acl_access", packed)
    except OSError as error:
        pytest.skip(f"no access control lists here: {error}")
    assert strangers(f"{tree}/b/file", ME) == f"{tree}/b can be written by those of its access control list"


def test_links_in_a_circle_are_an_error(tree):
    (tree / "one").symlink_to("two")
    (tree / "two").symlink_to("one")
    with pytest.raises(OSError, match="Too many levels"):
        strangers(f"{tree}/one", ME)
