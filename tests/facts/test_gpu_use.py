"""Holders of GPU memory are looked up in /proc, on a small tree and on this machine's own."""

import os

import pytest
from fakes import FakeHost
from values import driver, gpu, on_gpu

from envdoctor.facts import gpu_use
from envdoctor.facts.gpu_use import GpuUse, Holder
from envdoctor.model import Unavailable


@pytest.fixture
def host(tmp_path):
    """Return a host whose /proc is a tree: in the host's namespace, with pid 1."""
    (tmp_path / "proc/self/ns").mkdir(parents=True)
    (tmp_path / "proc/self/ns/pid").symlink_to("pid:[4026531836]")
    (tmp_path / "proc/1").mkdir()
    return FakeHost(root=str(tmp_path))


def run(host, pid, stat):
    folder = host.at(f"/proc/{pid}")
    os.makedirs(folder)
    with open(f"{folder}/stat", "w", encoding="utf-8") as stream:
        stream.write(stat)


def test_living_zombie_and_gone_are_told_apart(host):
    run(host, 10, "10 (pt_main thread) S 1 10 10 0")
    run(host, 11, "11 (odd) name) Z 1 11 11 0")
    used = driver(gpu(processes=(on_gpu(10), on_gpu(12))), gpu(1, processes=(on_gpu(11),)))
    found = gpu_use.collect(None, host, used)
    states = [(holder.pid, holder.state, holder.command) for holder in found.holders]
    assert states == [(10, "alive", "pt_main thread"), (11, "zombie", "odd) name"), (12, "gone", "")]
    assert found.hidden is None


def test_a_process_of_this_machine_has_a_user():
    found = gpu_use.look_up(os.getpid(), FakeHost())
    assert (found.state, bool(found.user), bool(found.command)) == ("alive", True, True)


def test_another_namespace_hides_processes(host):
    os.unlink(host.at("/proc/self/ns/pid"))
    os.symlink("pid:[4026532201]", host.at("/proc/self/ns/pid"))
    assert gpu_use.hidden(host) == "outside the host's PID namespace"


def test_hidepid_is_seen_by_the_absence_of_the_first_process(host):
    os.rmdir(host.at("/proc/1"))
    assert "hidepid" in gpu_use.hidden(host)


def test_a_namespace_that_cannot_be_told_hides(tmp_path):
    assert "cannot be told" in gpu_use.hidden(FakeHost(root=str(tmp_path)))


def test_without_nvml_there_is_nobody_to_look_up(host):
    reason = Unavailable("NVML gave no answer within 3 s", failed=True)
    assert gpu_use.collect(None, host, driver(problem=reason)) == reason


def test_gpus_whose_processes_are_unknown_name_nobody(host):
    assert gpu_use.collect(None, host, driver(gpu(processes=None))) == GpuUse()


def test_a_process_that_was_not_looked_up_is_gone():
    assert GpuUse().holder(5) == Holder(5, "gone")
