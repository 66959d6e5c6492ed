"""How compile workers are started."""

import pytest
from values import findings, torch_build, variables

from envdoctor.model import Severity
from envdoctor.probes.compile.forked_workers import check


def judge(**env):
    return findings(check, variables=variables(**env), torch_build=torch_build())


def test_fork_is_a_warning_with_both_ways_out():
    (finding,) = judge(TORCHINDUCTOR_WORKER_START="fork")
    assert (finding.severity, finding.subject) == (Severity.WARNING, "TORCHINDUCTOR_WORKER_START")
    assert finding.remedy == ("unset TORCHINDUCTOR_WORKER_START", "or export TORCHINDUCTOR_COMPILE_THREADS=1")


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"TORCHINDUCTOR_WORKER_START": "subprocess"},
        {"TORCHINDUCTOR_WORKER_START": "fork", "TORCHINDUCTOR_COMPILE_THREADS": "1"},
    ],
    ids=["unset", "subprocess", "no workers"],
)
def test_healthy_neighbours(env):
    assert judge(**env) == []
