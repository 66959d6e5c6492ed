"""What entries say of themselves; nothing is unpickled."""

import hashlib
import pickle

import pytest
from cachetrees import MODULE, graph, kernel, walked

from envdoctor.facts.cache_makers import Maker, of_graph, of_kernel, of_python, tally


def test_a_graph_names_its_devices_and_its_torch():
    said = of_graph(graph("cuda:3", "cpu"))
    assert said.devices == {"cuda:3"}, "scalars of a GPU's graph lie on the CPU"
    assert {("torch", "2.11.0+cu130"), ("cuda", "13.0"), ("torch git", "abc1234")} <= said.makers
    assert len(said.one("torch key")) == 52


def test_a_graph_of_the_cpu_and_one_without_texts():
    assert of_graph(graph("cpu", torch="2.13.0+cpu", cuda="None")).devices == {"cpu"}
    assert of_graph(graph("cuda:0", told=False)).one("torch") == ""


@pytest.mark.parametrize("indices", [(), (0,), (0, 7), (300,)])
def test_indices_are_read_by_walking_opcodes(indices):
    assert of_graph(walked(*indices)).devices == {f"cuda:{index}" for index in indices}


@pytest.mark.parametrize("cut", [30, 45, 60])
def test_a_graph_that_was_cut_off_says_what_it_can(cut):
    assert of_graph(walked(0, 1)[:cut]).devices <= {"cuda:0", "cuda:1"}


def test_nothing_is_ever_executed(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "executed"), "w"))

    of_graph(pickle.dumps({"device_idxs": [Bomb(), 1]}, protocol=4))
    assert not (tmp_path / "executed").exists()


def test_the_system_block_of_a_gpu_node_is_read():
    block = (
        b"x system_info[device]: {'name': 'NVIDIA H200'} y system_info[version]: {'triton': '3.6.0', 'cuda': '13.0'}"
    )
    assert of_graph(block).makers == {("gpu", "NVIDIA H200"), ("triton", "3.6.0"), ("cuda", "13.0")}


@pytest.mark.parametrize("version", ["3.6.0", "3.6.0+git0123456"])
def test_the_key_of_triton_is_its_version_and_digests(version):
    digests = "-".join(hashlib.sha256(bytes([number])).hexdigest() for number in range(29))
    block = f"system_info[version]: {{'triton': '{version}{digests}', 'cuda': '13.0'}}".encode()
    assert of_graph(block).makers == {("triton", version), ("cuda", "13.0")}


def test_a_module_names_the_devices_of_its_kernels():
    said = of_python((MODULE.format(index=1, cc=90) + MODULE.format(index=2, cc=120)).encode())
    assert said.devices == {"cuda:1", "cuda:2"}
    assert said.makers == {("arch", "9.0"), ("arch", "12.0")}
    assert of_python(b"x = 1").devices == set()


def test_a_kernel_names_its_triton_its_gpu_and_its_environment():
    makers = of_kernel(kernel().encode()).makers
    assert makers == {("triton", "3.6.0"), ("arch", "9.0"), ("environment", "/env")}


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"target": 3, "extern_libs": "x"}', b'{"extern_libs": [[1], 2]}'])
def test_a_damaged_one_says_nothing(data):
    assert of_kernel(data).makers == set()


def test_entries_are_counted_by_what_they_name():
    found = tally([of_kernel(kernel().encode()), of_kernel(kernel(triton="3.5.1").encode())])
    assert Maker("environment", "/env", 2) in found
    assert [maker.value for maker in found if maker.what == "triton"] == ["3.5.1", "3.6.0"]
