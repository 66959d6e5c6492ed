"""A variable that switches a guard off is a warning, and only with a value that the package takes for yes."""

import pytest

from envdoctor import knowledge
from envdoctor.facts.variables import Variables
from envdoctor.model import Severity
from envdoctor.probes.environment.guard_bypassed import check


def judge(**variables):
    return list(check(Variables(variables)))


def test_flashinfers_version_check_switched_off():
    """Case C23."""
    (finding,) = judge(FLASHINFER_DISABLE_VERSION_CHECK="1")
    assert (finding.severity, finding.subject) == (Severity.WARNING, "FLASHINFER_DISABLE_VERSION_CHECK")
    assert finding.remedy[0] == "unset FLASHINFER_DISABLE_VERSION_CHECK"


@pytest.mark.parametrize("row", knowledge.rows("guards"), ids=lambda row: row["variable"])
def test_every_row_fires_on_its_values_and_on_no_other(row):
    for value in row.get("values", ["1", "0"]):
        assert judge(**{row["variable"]: value.upper()})
    assert judge(**{row["variable"]: ""}) == []
    assert bool(judge(**{row["variable"]: "0"})) == ("values" not in row)


def test_an_unset_guard_and_other_variables_are_healthy():
    assert judge() == []
    assert judge(PYTHONPATH="1", NCCL_DEBUG="1") == []
