"""Which snapshots are looked at."""

from envdoctor.page.choosing import closest, spread


def looked(values, most=30, gone=()):
    """Return what was seen of these values, and how many were looked at."""
    asked = []

    def look(items):
        asked.extend(items)
        return [None if item in gone else values[item] for item in items]

    return closest(range(len(values)), look, lambda one, other: one != other, most), asked


def test_few_are_all_looked_at_once():
    seen, asked = looked("aabbc")
    assert list(seen.values()) == list("aabbc")
    assert sorted(asked) == [0, 1, 2, 3, 4]


def test_a_spread_has_both_ends():
    assert spread(10, 4) == [0, 3, 6, 9]
    assert spread(1) == [0]
    assert spread(0) == []


def test_a_change_between_two_is_found_to_the_item():
    values = "a" * 1234 + "b" * 4000
    seen, asked = looked(values, most=400)
    assert {1233, 1234} <= seen.keys()
    assert len(asked) == len(set(asked)) < 200


def test_it_ends_where_all_differ():
    assert len(looked(range(5000), most=200)[0]) == 200


def test_what_is_gone_by_now_is_left_out():
    assert list(looked("abc", gone=(1,))[0]) == [0, 2]
