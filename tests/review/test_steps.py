import pytest

from envdoctor.review.steps import step


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("1.0", "1.0", ("same", False)),
        ("1.0", "1.0.0", ("same", False)),
        ("1.0", "2.0", ("major", False)),
        ("2.0", "1.9", ("major", True)),
        ("1.9", "1!1.9", ("major", False)),
        ("1.0", "1.1", ("minor", False)),
        ("1.0.0", "1.0.1", ("patch", False)),
        ("1.0.1", "1.0", ("patch", True)),
        ("1.0", "1.0.post1", ("patch", False)),
        ("1.0rc1", "1.0", ("patch", False)),
        ("2.11.0+cu128", "2.11.0+cu130", ("build", False)),
        ("2.11.0+cu130", "2.11.0", ("build", True)),
        ("weird_version", "1.0", ("other", False)),
        (None, "1.0", ("other", False)),
        (None, None, ("same", False)),
        ("9" * 5000, "1.0", ("other", False)),
    ],
)
def test_step(old, new, expected):
    assert step([old], [new]) == expected


def test_of_several_the_highest_counts():
    assert step(["1.0", "1.5"], ["1.6", "0.9"]) == ("minor", False)
