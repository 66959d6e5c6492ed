"""Who is on a GPU: living compute processes, or memory of hidden ones."""

from values import driver, gpu, gpu_use, on_gpu

from envdoctor.facts.gpu_use import Holder
from envdoctor.model import Unavailable
from envdoctor.views.occupants import view

GB = 1 << 30


def test_a_living_process_is_named_with_its_user():
    card = gpu(processes=(on_gpu(7), on_gpu(8)))
    found = view(driver(card), gpu_use(Holder(7, "alive", "ann", "python"), 8))
    assert found.of(card) == "pid 7 (python of ann) and 1 more"


def test_a_desktop_a_dead_process_and_an_idle_gpu_are_nobody():
    cards = [gpu(0, processes=(on_gpu(7, GB, "graphics"),)), gpu(1, processes=(on_gpu(8),)), gpu(2)]
    found = view(driver(*cards), gpu_use(7, Holder(8, "gone")))
    assert [found.of(card) for card in cards] == ["", "", ""]


def test_memory_without_a_process_is_somebody_where_processes_are_hidden():
    card = gpu(used=20 * GB)
    hidden = "outside the host's PID namespace"
    assert view(driver(card), gpu_use(hidden=hidden)).of(card) == f"a process that cannot be seen ({hidden})"
    assert view(driver(card), gpu_use()).of(card) == ""


def test_nothing_is_known_where_nvml_is_silent():
    hung = Unavailable("NVML gave no answer within 3 s", failed=True)
    assert view(driver(problem=hung), gpu_use()) == hung
