"""Every knowledge table, those of tomorrow included, says where each fact comes from and when it was read."""

import datetime as dt
import os
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor import knowledge

NAMES = sorted(path.stem for path in Path(knowledge.FOLDER).glob("*.toml"))
NORMALISED = ("name", "family", "members", "companions")
"""Keys that hold distribution names, one or a list."""


def listed(value):
    return [value] if isinstance(value, str) else value


@pytest.mark.parametrize("name", NAMES)
class TestEveryTable:
    def test_holds_rows_and_nothing_else(self, name):
        assert list(knowledge.table(name)) == ["row"]
        assert knowledge.rows(name)

    def test_every_row_names_its_source(self, name):
        for row in knowledge.rows(name):
            assert len(row["source"]) >= 10, row
            assert row["source"].isprintable()

    def test_every_row_says_when_it_was_checked(self, name):
        for row in knowledge.rows(name):
            assert type(row["checked"]) is dt.date, row
            assert dt.date(2026, 1, 1) <= row["checked"] <= dt.datetime.now(dt.UTC).date()

    def test_distribution_names_are_normalised(self, name):
        for row in knowledge.rows(name):
            for key in row.keys() & set(NORMALISED):
                assert [canonicalize_name(item) for item in listed(row[key])] == listed(row[key])

    def test_no_row_is_there_twice(self, name):
        keys = [next(iter(row.items())) for row in knowledge.rows(name)]
        assert len(keys) == len({(key, str(value)) for key, value in keys}), "the first key of a row identifies it"

    def test_rows_begin_with_the_same_key(self, name):
        assert len({next(iter(row)) for row in knowledge.rows(name)}) == 1


def test_tables_are_read_once():
    assert knowledge.table("serving") is knowledge.table("serving")


def test_unknown_table_is_not_empty():
    with pytest.raises(FileNotFoundError):
        knowledge.table("no-such-table")


def test_serving_stacks_hold_the_families_and_no_training_package():
    names = {row["name"] for row in knowledge.rows("serving")}
    families = {row["family"] for row in knowledge.rows("serving")}
    assert families == {"sglang", "vllm", "flashinfer", "tilelang", "lmdeploy", "tensorrt-llm"}
    assert {"sglang", "vllm", "flashinfer-python", "tilelang", "lmdeploy", "tensorrt-llm"} <= names
    assert not names & {"torch", "triton", "transformers", "accelerate", "datasets", "numpy", "ninja", "einops"}


def test_skew_group_holds_its_own_head_and_belongs_to_one_group():
    members = [member for row in knowledge.rows("skew") for member in row["members"]]
    assert len(members) == len(set(members))
    assert all(row["name"] in row["members"] and len(row["members"]) > 1 for row in knowledge.rows("skew"))


def test_compromised_versions_are_versions():
    for row in knowledge.rows("compromised"):
        assert [str(Version(version)) for version in row["versions"]] == row["versions"]


def test_tables_travel_with_the_package():
    assert os.path.dirname(knowledge.__file__) == knowledge.FOLDER
    assert {"serving", "skew", "compromised"} <= set(NAMES)


def test_the_oldest_row_is_as_old_as_it_is_said_to_be():
    assert min(row["checked"] for name in NAMES for row in knowledge.rows(name)) == knowledge.CHECKED


@pytest.mark.parametrize(("days", "said"), [(180, None), (181, f"checked on {knowledge.CHECKED}, 181 days ago")])
def test_tables_that_have_aged_say_so(days, said):
    noon = dt.datetime.combine(knowledge.CHECKED, dt.time(12), dt.UTC)
    assert knowledge.age(noon + dt.timedelta(days=days)) == said
