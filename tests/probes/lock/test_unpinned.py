"""Lines that name no release."""

import pytest
from locked import SHA, audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.unpinned import check


@pytest.mark.parametrize(
    "line", ["numpy>=1.26,<3", "numpy==1.*", "numpy", "numpy~=1.26", "numpy[x]>1 ; os_name == 'posix'"]
)
def test_a_line_that_leaves_the_release_open(line):
    (finding,) = found = audited(check, f"six==1.17.0\n{line}\n")
    assert (finding.severity, told(found)) == (Severity.ERROR, [("numpy", 2)])
    assert finding.evidence["text"].startswith("numpy")


@pytest.mark.parametrize(
    "line", ["numpy==2.4.6", "numpy===2.4.6", "numpy==2.4.6,<3", f"numpy @ https://x.example/numpy-2.4.6.zip#{SHA}"]
)
def test_a_line_that_names_one(line):
    assert audited(check, f"six==1.17.0\n{line}\n") == []
