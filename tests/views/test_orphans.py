"""Memory that nobody alive holds, and all the cases in which that cannot be told."""

import pytest
from values import driver, gpu, gpu_use, on_gpu, view

from envdoctor.facts.gpu_use import Holder
from envdoctor.model import Unavailable
from envdoctor.views.orphans import SLACK, unaccounted

GB = 1 << 30


def orphans(*gpus, **use):
    return view("orphans", driver=driver(*gpus), gpu_use=gpu_use(*use.pop("holders", ()), **use))


def test_memory_without_a_process_is_orphaned():
    (found,) = orphans(gpu(used=9 * GB), gpu(1)).gpus
    assert (found.gpu.index, found.dead, found.unaccounted) == (0, (), 9 * GB)


def test_memory_of_the_dead_is_orphaned():
    dead = Holder(7, "zombie")
    (found,) = orphans(gpu(used=9 * GB, processes=(on_gpu(7, 9 * GB), on_gpu(8, 0))), holders=[dead, 8]).gpus
    assert (found.dead, found.unaccounted) == ((dead,), 0)


@pytest.mark.parametrize(
    "item",
    [
        gpu(),
        gpu(used=SLACK),
        gpu(used=9 * GB, processes=(on_gpu(8, 9 * GB - SLACK),)),
        gpu(used=9 * GB, processes=(on_gpu(8, None),)),
        gpu(used=9 * GB, processes=None),
        gpu(used=9 * GB, mig=True),
        gpu(used=9 * GB, numa=True),
        gpu(used=9 * GB, memory_reserved=None),
    ],
    ids=["idle", "slack", "accounted", "share unknown", "list unknown", "mig", "numa", "reserve unknown"],
)
def test_nothing_is_said_where_it_is_accounted_for_or_cannot_be_told(item):
    assert orphans(item, holders=[8]).gpus == ()


def test_where_processes_are_hidden_it_is_not_judged():
    found = orphans(gpu(used=9 * GB), hidden="outside the host's PID namespace")
    assert isinstance(found, Unavailable)
    assert found.reason.startswith("outside the host's PID namespace")


def test_processes_may_share_memory_and_count_it_twice():
    assert unaccounted(gpu(used=GB, processes=(on_gpu(1, GB), on_gpu(2, GB)))) == 0
