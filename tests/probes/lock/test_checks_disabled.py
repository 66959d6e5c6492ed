"""Options that force builds or turn checks off."""

import pytest
from locked import audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.checks_disabled import check


@pytest.mark.parametrize("line", ["--no-binary :all:", "--no-binary=:all:,numpy", "--no-require-hashes"])
def test_each_line(line):
    (finding,) = found = audited(check, f"numpy==2.4.6\n{line}\n")
    assert (finding.severity, told(found)) == (Severity.ERROR, [("/project/requirements.txt", 2)])
    assert (finding.evidence["text"], finding.message.startswith(line)) == (line, True)


@pytest.mark.parametrize(
    "line", ["--no-binary antlr4-python3-runtime", "--no-binary :none:", "--only-binary :all:", "--require-hashes"]
)
def test_a_choice_and_the_contrary(line):
    assert audited(check, f"numpy==2.4.6\n{line}\n") == []
