"""Two owners of one path: whose bytes are there, and never an uninstall that takes the survivor's file along."""

import pytest
from values import NO_LOCK, PIP, collision, distribution, distributions, findings, lock, owners

from envdoctor.model import Severity
from envdoctor.probes.packages.file_collision import check

CV = "cv2/__init__.py"
PAIR = ("opencv-python", "opencv-python-headless")


def judge(*collisions, items=PAIR, given=NO_LOCK):
    return findings(check, owners=owners(collisions), distributions=distributions(*items, "pip"), lock=given)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"on_disk": PAIR[1]}, f"on disk are the bytes of {PAIR[1]}"),
        ({}, "on disk are the bytes of neither"),
        ({"exists": False}, "the file is gone"),
        ({"compared": False}, "too large to tell in a plain check whose bytes are on disk"),
    ],
)
def test_it_says_whose_bytes_are_on_disk(facts, said):
    (finding,) = judge(collision(CV, *PAIR, **facts))
    assert finding.severity == Severity.ERROR
    assert finding.message == f"{PAIR[0]} and {PAIR[1]} own the same file {CV} with different bytes; {said}"


def test_all_files_of_a_pair_are_one_finding():
    pair = [collision(f"cv2/{n}.py", *PAIR, on_disk=PAIR[n % 2]) for n in range(60)]
    (finding, _) = judge(*pair, collision("a.py", "a", "b"))
    assert (finding.evidence["count"], len(finding.evidence["paths"]), len(finding.evidence["on_disk"])) == (60, 50, 50)
    assert f"bytes of {PAIR[0]} and {PAIR[1]}" in finding.message


def test_one_file_that_is_left_is_judged_though_others_are_gone():
    (finding,) = judge(collision("a.py", *PAIR, exists=False), collision("b.py", *PAIR, on_disk=PAIR[0]))
    assert finding.message.endswith(f"on disk are the bytes of {PAIR[0]}")


NEEDED = distribution("app", requires=[PAIR[1]])


@pytest.mark.parametrize(
    ("items", "given", "survivor"),
    [
        (PAIR, NO_LOCK, 0),
        (PAIR, lock(f"{PAIR[1]}==1.0"), 1),
        ((*PAIR, NEEDED), NO_LOCK, 1),
        ((*PAIR, NEEDED), lock(f"{PAIR[0]}==1.0"), 0),
    ],
    ids=["who was first", "the locked one", "the required one", "the locked before the required"],
)
def test_the_survivor_is_put_back_after_the_other_is_removed(items, given, survivor):
    (finding,) = judge(collision(CV, *PAIR), items=items, given=given)
    kept, gone = PAIR[survivor], PAIR[1 - survivor]
    assert finding.subject == kept
    assert finding.remedy == (
        f"{PIP} uninstall {gone}",
        f"{PIP} install --force-reinstall --no-deps {kept}==1.0",
    ), "an uninstall alone deletes the survivor's file"


def test_it_is_blamed_on_the_intruder():
    (finding,) = judge(collision(CV, *PAIR), given=lock(f"{PAIR[0]}==1.0"))
    assert finding.evidence["cause"] == PAIR[1]


def test_no_collision_says_nothing():
    assert judge() == []


BOTH = lock(f"{PAIR[0]}==1.0", f"{PAIR[1]}==1.0")


@pytest.mark.parametrize(
    ("path", "severity"),
    [(CV, Severity.WARNING), ("cv2/cv2.abi3.so", Severity.ERROR), ("nvidia/nccl/lib/libnccl.so.2", Severity.ERROR)],
)
def test_where_the_lock_wants_both_the_lock_is_at_fault_and_nothing_is_uninstalled(path, severity):
    (finding,) = judge(collision(path, *PAIR), given=BOTH)
    assert finding.severity == severity
    (step,) = finding.remedy
    assert "the lock wants all of them" in step


@pytest.mark.parametrize("path", ["LICENSE", "LICENSE.txt", "tests/__init__.py", "examples/run.py"])
def test_papers_and_tests_that_two_ship_are_a_note_without_advice(path):
    (finding,) = judge(collision(path, *PAIR))
    assert (finding.severity, finding.remedy) == (Severity.NOTE, ())


def test_code_among_them_counts():
    (finding,) = judge(collision("LICENSE", *PAIR), collision(CV, *PAIR))
    assert finding.severity == Severity.ERROR
