"""Two snapshots of one environment, told by what differs in them."""

from values import (
    NOW,
    TARGET,
    arch_list,
    caches,
    distributions,
    driver,
    files,
    fx_flag,
    gpu,
    interpreter,
    jit_tools,
    loader,
    lock,
    owners,
    toolkit,
    toolkits,
    torch_build,
    variables,
    warm,
)

from envdoctor import recorded
from envdoctor.changes.compare import compare
from envdoctor.facts.freeze import Freeze
from envdoctor.facts.launchers import Launchers
from envdoctor.facts.lock_source import LockSource
from envdoctor.facts.node import Mount, Node, Space
from envdoctor.facts.search_path import PathEntry, SearchPath
from envdoctor.facts.startup import Startup
from envdoctor.policy import Policy
from envdoctor.snapshot import Snapshot

SITE = "/env/lib/python3.12/site-packages"
GOOD = {
    "torch_build": torch_build(),
    "arch_list": arch_list("sm_80", "sm_90"),
    "fx_flag": fx_flag("thread-local"),
    "interpreter": interpreter(),
    "search_path": SearchPath((PathEntry(SITE, "site-packages"),), None, user_site_enabled=False),
    "distributions": distributions("torch==2.11.0", "transformers==5.6.0", "six==1.17.0"),
    "files": files(),
    "owners": owners(),
    "startup": Startup(),
    "launchers": Launchers(),
    "toolkits": toolkits(toolkit(), toolkit("/opt/cuda-12.8", "12.8.93", "12.8"), CUDA_HOME=0, PATH=0),
    "jit_tools": jit_tools(),
    "loader": loader(),
    "driver": driver(gpu(0), gpu(1)),
    "compile_caches": caches(warm("cuda:0", "cuda:1")),
    "node": Node((Mount("/", "ext4"),), (Space("/env", "environment", 1 << 40, 1 << 39, 0, 0),), {"nofile": 1024}),
    "variables": variables(CUDA_HOME="/usr/local/cuda-13.0", OMP_NUM_THREADS="8"),
    "lock": lock("torch==2.11.0", digest="a" * 64),
    "lock_source": LockSource(()),
    "freeze": Freeze(),
}
"""Facts of an environment in good order."""


def taken(**changes):
    """Return a snapshot of it in which these facts are others."""
    return recorded.record(Snapshot(**(GOOD | changes)), TARGET, Policy(), "node7", NOW)


def found(before=None, **after):
    """Compare; `before` holds what is other in the earlier one."""
    return compare(taken(**(before or {})), taken(**after))


def told(before=None, **after):
    """Return (weight, kind, subject, sentence) of the events."""
    return [(e.weight.name.lower(), e.kind, e.subject, e.sentence) for e in found(before, **after).events]


def subjects(before=None, **after):
    return [event.subject for event in found(before, **after).events]
