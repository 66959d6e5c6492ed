"""How a comparison of two locks is written down."""

import json

from envdoctor.model import Lock, LockedPackage, LockHeader, LockProblem
from envdoctor.reports import lock_diff
from envdoctor.reports.text import Style
from envdoctor.review.diff import diff

H1, H2 = ("sha256:" + digit * 64 for digit in "12")
EVIL = "1\x1b[2J\u202e"
SECRET = "https://u:hunter2@index.example/simple"


def pin(name, version="1", **more):
    return LockedPackage(name, version, **more)


def lock(path, *packages, **more):
    return Lock(path, more.pop("format", "requirements"), packages, **more)


def compared(old, new, **more):
    return diff(lock("old.txt", *old, **more), lock("new.txt", *new, **more))


ROOT = ("-r in",)


def test_the_whole_text():
    found = compared(
        [pin("torch", "2.11.0+cu128", via=ROOT), pin("numpy", "1.26", via=ROOT), pin("gone", via=("numpy",))],
        [
            pin("torch", "2.11.0+cu130", via=ROOT),
            pin("numpy", "2.0", via=("a", "b", "c", "d", *ROOT)),
            pin("come", via=("numpy",)),
        ],
    )
    assert lock_diff.render(found) == (
        "DIFFERENT  1 major, 1 build, 1 added, 1 removed\n"
        "old  old.txt: requirements, 3 pins\n"
        "new  new.txt: requirements, 3 pins\n"
        "\n"
        "torch family\n"
        "  build    torch                        2.11.0+cu128 -> 2.11.0+cu130  wanted by -r in\n"
        "\n"
        "direct: the project wants it itself\n"
        "  major    numpy                        1.26 -> 2.0  wanted by a, b, c and 2 more\n"
        "\n"
        "transitive\n"
        "  added    come                         1  wanted by numpy\n"
        "  removed  gone                         1  wanted by numpy\n"
    )


def test_equal_locks():
    said = lock_diff.render(compared([pin("a", via=ROOT)], [pin("a", via=ROOT)]))
    assert said == "EQUAL\nold  old.txt: requirements, 1 pins\nnew  new.txt: requirements, 1 pins\n"


def test_downgrade_and_other_digests_are_said():
    said = lock_diff.render(compared([pin("a", "2"), pin("b", hashes=(H1,))], [pin("a"), pin("b", hashes=(H2,))]))
    assert "2 -> 1, a downgrade\n" in said
    assert "  hashes   b                            1\n" in said
    assert "digests: none of the digests is what it was (1 before, 1 now)\n" in said


def test_what_is_alike_in_all_but_the_name_is_one_line():
    names = [f"p{number}" for number in range(50)]
    said = lock_diff.render(compared([pin(name, hashes=(H1,)) for name in names], [pin(name) for name in names]))
    assert f"  hashes   digests: no longer hashed: 50 packages: {', '.join(sorted(names))}\n" in said


def test_a_fork_says_for_whom_it_is():
    linux, mac = 'sys_platform == "linux"', 'sys_platform == "darwin"'
    old = [pin("torch", "1", marker=linux), pin("torch", "1", marker=mac)]
    said = lock_diff.render(compared(old, [pin("torch", "2", marker=linux), pin("torch", "1", marker=mac)]))
    assert f"for {linux}\n" in said
    assert mac not in said


def test_forks_as_a_set():
    said = lock_diff.render(compared([pin("torch", "1"), pin("torch", "2")], [pin("torch", "3"), pin("torch", "4")]))
    assert "  forks    torch                        1, 2 -> 3, 4\n" in said


def test_what_is_not_compared_is_said():
    faulty = lock("new.txt", pin("a"), problems=(LockProblem(7, "is odd"), LockProblem(8, "is odd too", "more.txt")))
    said = lock_diff.render(diff(lock("old.txt", pin("a")), faulty))
    assert "beside the pins\n           not understood now is odd, is odd too\n" in said
    assert "new.txt: 2 lines were not understood and not compared as pins, the first at new.txt:7: is odd\n" in said


def hostile():
    """Two locks that differ in every text that a lock brings along."""
    header = LockHeader(python=EVIL, platform=SECRET)
    old = lock("old\x1b.txt", pin("a", EVIL), pin("b", marker=EVIL), indexes=(SECRET,), requires_python=EVIL)
    packages = (pin("a", EVIL + "2", via=(EVIL, SECRET)), pin("b", marker=EVIL * 2), pin("c", source="url", url=SECRET))
    return diff(old, lock("new.txt", *packages, header=header, problems=(LockProblem(1, EVIL + SECRET),)))


def test_no_text_of_a_lock_reaches_the_terminal_as_it_is():
    for said in (lock_diff.render(hostile(), Style(60)), lock_diff.render(hostile()), lock_diff.render_json(hostile())):
        assert not {"\x1b", "\u202e"} & set(said)
        assert "hunter2" not in said


def test_json_has_everything():
    old, new = [pin("a", via=ROOT, line=3, hashes=(H1,))], [pin("a", "2", via=ROOT, marker='os_name == "nt"')]
    said = json.loads(lock_diff.render_json(compared(old, new)))
    assert said["schema"] == 1
    assert said["equal"] is False
    assert said["old"] == {"path": "old.txt", "format": "requirements", "sha256": "", "pins": 1}
    assert said["changes"] == [
        {
            "name": "a",
            "group": "direct",
            "kind": "major",
            "downgrade": False,
            "old": [{"version": "1", "marker": None, "source": "index", "url": "", "file": "", "line": 3}],
            "new": [{"version": "2", "marker": 'os_name == "nt"', "source": "index", "url": "", "file": "", "line": 0}],
            "differences": [{"what": "marker", "old": [], "new": ['os_name == "nt"'], "note": ""}],
            "wanted_by": ["-r in"],
        }
    ]
    assert (said["beside_the_pins"], said["not_compared"]) == ([], [])
