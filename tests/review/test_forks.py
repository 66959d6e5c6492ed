"""Which pin of a name became which."""

import pytest

from envdoctor.model import LockedPackage
from envdoctor.review.forks import matched

X86, ARM = 'platform_machine == "x86_64"', 'platform_machine == "aarch64"'


def pin(version, marker=None, **more):
    return LockedPackage("torch", version, marker, **more)


def pairs(old, new):
    return sorted(
        (tuple(p.version for p in match.old), tuple(p.version for p in match.new)) for match in matched(old, new)
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([pin("1")], [pin("2")], [(("1",), ("2",))]),
        ([pin("1", X86)], [pin("2", ARM)], [(("1",), ("2",))]),
        ([], [pin("2")], [((), ("2",))]),
        ([pin("1")], [], [(("1",), ())]),
        # equal markers belong together, whatever the order
        ([pin("1", X86), pin("2", ARM)], [pin("4", ARM), pin("3", X86)], [(("1",), ("3",)), (("2",), ("4",))]),
        # builds that changed places between machines are two changes
        ([pin("1", X86), pin("2", ARM)], [pin("2", X86), pin("1", ARM)], [(("1",), ("2",)), (("2",), ("1",))]),
        # equal releases under another marker
        ([pin("1", X86), pin("2", ARM)], [pin("1"), pin("9", "os_name == 'x'")], [(("1",), ("1",)), (("2",), ("9",))]),
        # other spellings of the same environments
        (
            [pin("1", "sys_platform == 'linux'"), pin("2", "sys_platform == 'darwin'")],
            [pin("3", "platform_system == 'Linux'"), pin("4", "platform_system == 'Darwin'")],
            [(("1",), ("3",)), (("2",), ("4",))],
        ),
        (
            [pin("1", "python_version < '3.11'"), pin("2", "python_version >= '3.11'")],
            [pin("3", "python_full_version < '3.11'"), pin("4", "python_full_version >= '3.11'")],
            [(("1",), ("3",)), (("2",), ("4",))],
        ),
        # a fork that came
        ([pin("1", X86)], [pin("1", X86), pin("2", ARM)], [((), ("2",)), (("1",), ("1",))]),
        # what cannot be told apart is a set
        ([pin("1")], [pin("2", X86), pin("3", ARM)], [(("1",), ("2", "3"))]),
        (
            [pin("1", "extra == 'a'"), pin("2", "extra == 'b'")],
            [pin("3", "extra == 'c'"), pin("4", "extra == 'd'")],
            [(("1", "2"), ("3", "4"))],
        ),
    ],
)
def test_matches(old, new, expected):
    assert pairs(old, new) == expected


def test_the_same_pin_many_times_takes_no_time():
    assert len(matched([pin("1")] * 20_000, [pin("2")] * 20_000)) == 1
