"""Includes that lead away."""

import pytest
from locked import audited, read, told

from envdoctor.model import Severity
from envdoctor.probes.lock.escaping_include import check

AWAY = (
    "-r ../../../etc/hostname",
    "-r https://x.example/extra.txt",
    "-c requirements.txt",
    "-c ../c.txt",
    "-r ${HOME}/a",
)
BESIDE = ("-c constraints.txt", "-c sub/c.txt", "# pip-compile -c ../c.txt in.txt")
LOCKS = {line: read(f"six==1.17.0\n{line}\n") for line in (*AWAY, *BESIDE)}
TWO = read("-r ../a.txt\nsix==1.17.0\n-r ../b.txt\n")


@pytest.mark.parametrize("line", AWAY)
def test_a_line_that_leads_away(line):
    (finding,) = found = audited(check, LOCKS[line])
    assert (finding.severity, told(found)) == (Severity.ERROR, [("/project/requirements.txt", 2)])
    assert finding.evidence["text"] in line


def test_each_line_is_told():
    assert [line for _, line in told(audited(check, TWO))] == [1, 3]


@pytest.mark.parametrize("line", BESIDE)
def test_a_constraint_beside_the_lock_and_a_header(line):
    assert audited(check, LOCKS[line]) == []
