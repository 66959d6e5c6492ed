"""Real locks of public projects: what a person found wrong in each, by hand, is found, and nothing else."""

import os
import shutil
import tomllib
from pathlib import Path

import pytest
from doctor import Doctor

from envdoctor import registry

TABLE = tomllib.loads(Path(__file__).with_name("real_faults.toml").read_text())["lock"]
LOCKS = os.environ.get("ENVDOCTOR_REAL_LOCKS", "")
pytestmark = pytest.mark.skipif(not LOCKS, reason="ENVDOCTOR_REAL_LOCKS names no directory of real locks")
every_lock = pytest.mark.parametrize("row", TABLE, ids=[row["file"] for row in TABLE])


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """Audit each lock once, under the name that its format asks for."""
    reports = {}
    for row in TABLE:
        folder = tmp_path_factory.mktemp("real")
        shutil.copy(Path(LOCKS, row["file"]), folder / row["audited_as"])
        answer = Doctor(folder)("lock", "audit", row["audited_as"], "--format", "json")
        reports[row["file"]] = answer.report
    return reports


def found_by(report, rule):
    return [finding for finding in report["findings"] if finding["probe"] == rule]


@every_lock
def test_every_rule_is_in_the_table(row):
    known = {
        *row["silent"],
        *(item["rule"] for item in row["skipped"]),
        *(item["rule"] for item in row.get("fault", ())),
    }
    assert known == {probe.id for probe in registry.audited()}


@every_lock
def test_what_is_wrong_is_found_where_it_is(row, audited):
    for fault in row.get("fault", ()):
        found = found_by(audited[row["file"]], fault["rule"])
        assert len(found) == fault["findings"], fault["rule"]
        assert {finding["severity"] for finding in found} == {fault["severity"]}
        if len(fault["subjects"]) == fault["findings"] and not fault["rule"].endswith("hashed"):
            assert {finding["subject"] for finding in found} == set(fault["subjects"]), fault["rule"]
        lines = {finding["evidence"]["line"] for finding in found}
        assert lines <= {*fault["lines"], *fault.get("at", ()), *fault.get("also", ())}, fault["rule"]


@every_lock
def test_nothing_else_is_found(row, audited):
    report = audited[row["file"]]
    wrong = {finding["probe"] for finding in report["findings"]}
    assert wrong == {fault["rule"] for fault in row.get("fault", ())}
    assert report["crashed"] == report["failed"] == []
    skipped = {item["probe"] for item in report["skipped"]}
    assert skipped == {item["rule"] for item in row["skipped"]}
