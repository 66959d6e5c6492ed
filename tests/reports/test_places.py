"""The form that editors and terminals can click."""

import pytest
from values import at, finding

from envdoctor.reports.places import Place, place_of


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (Place("a.txt", 12, 3), "a.txt:12:3"),
        (Place("a.txt", 12), "a.txt:12"),
        (Place("a.txt"), "a.txt"),
        (Place("a.txt", 0, 3), "a.txt"),
    ],
)
def test_it_is_written_as_far_as_it_is_known(place, said):
    assert str(place) == said


def test_it_is_read_off_the_evidence():
    assert place_of(at("a.txt:12:3", "six")) == Place("a.txt", 12, 3, "six")


@pytest.mark.parametrize("evidence", [{}, {"file": ""}, {"file": None}, {"file": 3}, {"line": 3}])
def test_without_a_file_there_is_none(evidence):
    assert place_of(finding(**evidence)) is None


@pytest.mark.parametrize("wrong", [None, "3", 0, -1, 1.5, [1]])
def test_a_number_or_text_of_another_kind_is_unknown(wrong):
    assert place_of(finding(file="a.txt", line=wrong, column=wrong, text=3)) == Place("a.txt")
