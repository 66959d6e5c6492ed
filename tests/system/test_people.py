"""Who a number is, and whom a mode lets write."""

import grp
import os
import pwd
import stat

import pytest

from envdoctor.system import people


def status(mode, uid=1000, gid=1000):
    return os.stat_result((stat.S_IFDIR | mode, 0, 0, 1, uid, gid, 0, 0, 0, 0))


def test_a_user_is_a_name_or_a_number(monkeypatch):
    assert people.user_name(os.getuid()) == pwd.getpwuid(os.getuid()).pw_name
    assert people.user_name(4_000_000_000) == "4000000000"


@pytest.mark.parametrize(
    ("mode", "group", "members", "said"),
    [
        (0o755, "me", [], None),
        (0o775, "me", [], None),
        (0o775, "me", ["me"], None),
        (0o775, "me", ["me", "eve"], "the group me"),
        (0o775, "lab", [], "the group lab"),
        (0o777, "me", [], "everybody"),
    ],
)
def test_whom_a_mode_lets_write(monkeypatch, mode, group, members, said):
    monkeypatch.setattr(people, "user_name", lambda _: "me")
    monkeypatch.setattr(grp, "getgrgid", lambda gid: grp.struct_group((group, "x", gid, members)))
    assert people.others_who_write(status(mode)) == said


def test_a_group_without_a_name_is_somebody(monkeypatch):
    def nobody(gid):
        raise KeyError(gid)

    monkeypatch.setattr(grp, "getgrgid", nobody)
    assert people.others_who_write(status(0o770, gid=4711)) == "the group 4711"
