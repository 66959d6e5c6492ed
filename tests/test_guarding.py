"""What a guarded job is started with, and for which torch."""

import pytest
from values import fx_flag, torch_build

from envdoctor import knowledge
from envdoctor.errors import UsageError
from envdoctor.facts.fx_flag import guardable
from envdoctor.guarding import guarded
from envdoctor.hooks import FX_GUARD


def guard(version="2.11.0+cu130", kind="global", **env):
    return guarded(env, torch_build(version), fx_flag(kind))


def test_the_hook_comes_first_on_the_path():
    found = guard(HOME="/h", PYTHONPATH="/a")
    assert (found.env, found.active) == ({"HOME": "/h", "PYTHONPATH": f"{FX_GUARD}:/a"}, True)


@pytest.mark.parametrize(
    ("version", "kind"), [("2.11.0+cu130", "global"), ("2.12.0", "global"), ("2.13.0+cpu", "masked")]
)
def test_a_release_that_was_tested_is_guarded_whatever_its_label(version, kind):
    found = guard(version, kind)
    assert found.active
    assert f"makes the FX-tracing flag of torch {version} each thread's own" in found.said


@pytest.mark.parametrize("version", ["2.10.0", "2.13.0a0+git1", "2.13.1", None])
def test_one_that_was_not_is_refused_and_those_that_were_are_named(version):
    with pytest.raises(UsageError, match=r"not tested with torch .*, only with 2\.11\.0, 2\.12\.0, 2\.13\.0$"):
        guard(version)


@pytest.mark.parametrize(
    ("kind", "why"), [("thread-local", "is each thread's own already"), ("absent", "is not there")]
)
def test_where_no_flag_is_shared_nothing_is_done(kind, why):
    found = guard("2.14.1", kind, PYTHONPATH="/a")
    assert (found.env, found.active) == ({"PYTHONPATH": "/a"}, False)
    assert found.said == f"guard fx-race: nothing to guard, the FX-tracing flag of torch 2.14.1 {why}"


def test_only_releases_with_a_shared_flag_were_tested():
    rows = knowledge.rows("fx_guard")
    assert {row["flag"] for row in rows} == {"global", "masked", "thread-local"}
    assert guardable()
    assert {row["flag"] for row in rows if "tested" in row} <= {"global", "masked"}
