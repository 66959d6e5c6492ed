"""Quotas as the kernel tells them."""

import struct

import pytest

from envdoctor.system.quotas import Left, left, parse, tightest

NOW = 1_000_000.0


def told(hard=0, soft=0, used=0, files=(0, 0, 0), until=0, files_until=0):
    """Return a struct if_dqblk: limits in KiB, use in bytes."""
    return struct.pack("=8QI4x", hard, soft, used, *files, until, files_until, 0x3F)


@pytest.mark.parametrize(
    ("data", "rest"),
    [
        (told(), Left(None, None)),
        (told(hard=100, used=40 << 10), Left(60 << 10, None)),
        (told(hard=100, used=200 << 10), Left(0, None)),
        (told(hard=100, soft=10, used=40 << 10, until=int(NOW) + 5), Left(60 << 10, None)),
        (told(hard=100, soft=10, used=40 << 10, until=int(NOW) - 5), Left(0, None)),
        (told(soft=10, used=5 << 10, until=int(NOW) - 5), Left(None, None)),
        (told(files=(10, 0, 7)), Left(None, 3)),
        (told(files=(10, 2, 7), files_until=1), Left(None, 0)),
    ],
)
def test_limits_and_their_times(data, rest):
    assert parse(data, NOW) == rest


def test_the_tightest_counts():
    assert tightest([Left(5, None), Left(7, 3)]) == Left(5, 3)
    assert tightest([Left(None, None)]) is None


def test_a_file_system_without_quotas_and_a_directory_that_is_not_there(tmp_path):
    assert left(str(tmp_path)) is None
    assert left(str(tmp_path / "nothing")) is None
