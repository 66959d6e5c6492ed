"""Where the variables of jobs are not known, no probe finds fault for that alone."""

from dataclasses import replace

import values

from envdoctor import registry
from envdoctor.facts.driver import DeviceNode
from envdoctor.health.knowing import OF_THE_JOB, UNKNOWN
from envdoctor.judge import judge
from envdoctor.policy import Policy
from envdoctor.snapshot import Snapshot

GPUS = (values.gpu(0), values.gpu(1))
NODES = tuple(DeviceNode(f"/dev/nvidia{number}", usable=True) for number in range(2))
KNOWN = Snapshot(
    interpreter=values.interpreter(),
    distributions=values.distributions("pip", "torch"),
    files=values.files(),
    torch_build=values.torch_build(),
    driver=values.driver(*GPUS, device_nodes=NODES),
    gpu_use=values.gpu_use(),
    variables=values.variables(),
)


def found(taken):
    outcomes = judge(registry.select(), taken, Policy(), values.TARGET, values.NOW)
    assert not [outcome.probe for outcome in outcomes if outcome.crashed]
    return {(outcome.probe, finding.message) for outcome in outcomes for finding in outcome.findings}


def test_what_is_not_known_adds_no_finding():
    unknown = replace(KNOWN, **dict.fromkeys(OF_THE_JOB, UNKNOWN))
    assert found(unknown) <= found(KNOWN)
