"""Whose turn it is: one user's many environments keep nobody else's from being looked at."""

import pytest

from envdoctor.health import places
from envdoctor.health.configuring import Wanted
from envdoctor.health.places import Place


@pytest.fixture
def homes(tmp_path):
    """Adam has more environments than anybody looks at, Zoe one; she has given it a name that comes last."""
    for number in range(places.EACH + 5):
        (tmp_path / "adam" / f"v{number}").mkdir(parents=True)
    (tmp_path / "zoe" / "z").mkdir(parents=True)
    return tmp_path


def test_of_a_crowded_home_some_are_looked_at_and_that_is_said(homes):
    found, crowded = places._matches(f"{homes}/*/*")
    assert found[1] == f"{homes}/zoe/z"
    assert len(found) == places.EACH + 1
    assert crowded == [f"{homes}/adam: more than {places.EACH} match, and no more are looked at"]


@pytest.mark.parametrize(("pattern", "count"), [("zoe/z", 1), ("*", 2), ("z*/z", 1), ("*/none", 0), ("*/[z]", 1)])
def test_a_pattern_matches_as_a_shells_does(homes, pattern, count):
    assert len(places._matches(f"{homes}/{pattern}")[0]) == count


def test_a_name_with_a_star_is_no_pattern(tmp_path):
    (tmp_path / "a*" / "v").mkdir(parents=True)
    (tmp_path / "ab" / "w").mkdir(parents=True)
    assert places._matches(f"{tmp_path}/a*/v")[0] == [f"{tmp_path}/a*/v"]


def test_who_makes_new_ones_all_the_time_keeps_nobody_from_his_turn():
    adams = [Place(f"/adam/{number}", Wanted("/"), uid=1) for number in range(4)]
    zoes = [Place(f"/zoe/{number}", Wanted("/"), uid=2) for number in range(2)]
    turns = places.in_turn([*adams, *zoes], {"/zoe/0": 9.0, "/zoe/1": 5.0, "/adam/1": 7.0})
    assert [place.prefix for place in turns] == ["/adam/0", "/zoe/1", "/adam/2", "/zoe/0", "/adam/3", "/adam/1"]
