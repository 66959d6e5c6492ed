"""tahoebio/tahoe-x1#63 (and pytorch/pytorch#5040): a container's 64 MB of shared memory kill the data loader."""

import pytest
from values import NOW, TARGET

from envdoctor import registry, signatures
from envdoctor.facts.job_log import JobLog
from envdoctor.facts.node import Node, Space
from envdoctor.judge import judge
from envdoctor.model import Unavailable
from envdoctor.policy import Policy
from envdoctor.snapshot import Snapshot

CONTAINER, HOST = 64 << 20, 16 << 30
NO_LOG = Unavailable("no log was named (--log)")
DEAD = (
    b"Epoch 0:   0%|          | 0/1000 [00:00<?, ?it/s]\r"
    b"ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\n"
    b"RuntimeError: DataLoader worker (pid 1216) is killed by signal: Bus error. It is possible that dataloader's "
    b"workers are out of shared memory. Please try to raise your shared memory limit.\n"
)
LOG = JobLog("/scratch/train.log", len(DEAD), signatures.found([DEAD]))


@pytest.mark.parametrize(
    ("total", "log", "said"),
    [
        (CONTAINER, NO_LOG, {("node/small-shm", "warning")}),
        (CONTAINER, LOG, {("node/small-shm", "error")}),
        (HOST, NO_LOG, set()),
        (HOST, LOG, {("log/known-failure", "warning")}),
    ],
)
def test_the_size_warns_the_log_makes_it_an_error_and_a_host_s_share_is_silent(total, log, said):
    node = Node(spaces=(Space("/dev/shm", "shared memory", total, total, 0, 0),))
    probes = registry.select(["node/small-shm", "log"])
    outcomes = judge(probes, Snapshot(node=node, job_log=log), Policy(), TARGET, NOW)
    assert {(o.probe, finding.severity.label) for o in outcomes for finding in o.findings} == said
