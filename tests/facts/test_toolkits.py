"""Toolkits are found once each, read right, and chosen as torch's build helper would."""

import glob
import os

import pytest
from fakes import FakeHost
from hypothesis import given
from hypothesis import strategies as st
from patients import Patient
from toolboxes import elf, headers, stub, toolkit

from envdoctor.facts import toolkits
from envdoctor.facts.toolkits import Built, Header, parse_header, parse_json, parse_text
from envdoctor.model import Target
from envdoctor.system.host import LocalHost

REAL = sorted(path for path in glob.glob("/usr/local/cuda*") if os.path.isfile(f"{path}/bin/nvcc"))


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root/usr/local").mkdir(parents=True)
    return tmp_path / "root"


def below(root, **env):
    """Collect below a root, where nothing is started."""
    env = {"PATH": "/usr/bin"} | env
    prefix = root / "env"
    return toolkits.collect(Target(str(prefix), str(prefix / "bin/python")), FakeHost(env=env, root=str(root)))


def here(tmp_path, **env):
    """Collect on this machine, with an environment of its own; return what lies in the test's folder."""
    (tmp_path / "env").mkdir(exist_ok=True)
    host = LocalHost(env={"PATH": "/none", "HOME": str(tmp_path), **env}, cwd=str(tmp_path))
    return toolkits.collect(Target(str(tmp_path / "env"), ""), host)


def prefixes(found):
    return [item.prefix for item in found.items]


def test_nothing_at_all(root):
    found = below(root)
    assert (found.items, found.named, found.chosen, found.record()) == ((), (), None, {})


def test_a_toolkit_behind_links_is_one(root):
    toolkit(root / "usr/local/cuda-12.8", "12.8", "12.8", elf)
    (root / "usr/local/cuda-12").symlink_to("/usr/local/cuda-12.8")
    (root / "usr/local/cuda").symlink_to("cuda-12")
    found = below(root, CUDA_HOME="/usr/local/cuda", CUDA_PATH="/usr/local/cuda-12.8", PATH="/usr/local/cuda-12/bin")
    (item,) = found.items
    assert (item.prefix, item.nvcc_version, item.version) == ("/usr/local/cuda-12.8", "12.8.0", "12.8.0")
    assert item.headers == (Header("/usr/local/cuda-12.8/include/cuda.h", "12.8"),)
    assert {named.prefix for named in found.named} == {"/usr/local/cuda-12.8"}
    assert [named.way for named in found.named] == ["CUDA_HOME", "CUDA_PATH", "PATH", "default"]


def test_all_toolkits_of_usr_local_are_found_and_runtime_libraries_are_none(root):
    for release in ("12.8", "13.0", "9.2"):
        toolkit(root / f"usr/local/cuda-{release}", release, release, elf)
    (root / "usr/local/cuda-11.8/lib64").mkdir(parents=True)
    (root / "usr/local/cuda-11.8/version.json").write_text('{"cuda": {"version": "11.8.0"}}')
    (root / "usr/local/cuda-compat").touch()
    assert prefixes(below(root)) == [f"/usr/local/cuda-{release}" for release in ("9.2", "12.8", "13.0")]


@pytest.mark.parametrize(
    ("env", "way", "path"),
    [
        ({"CUDA_HOME": "/opt/a", "CUDA_PATH": "/opt/b", "PATH": "/opt/c/bin"}, "CUDA_HOME", "/opt/a"),
        ({"CUDA_HOME": "", "CUDA_PATH": "/opt/b", "PATH": "/opt/c/bin"}, "CUDA_PATH", "/opt/b"),
        ({"PATH": "/none:/opt/c/bin:/opt/a/bin"}, "PATH", "/opt/c"),
        ({"CUDA_HOME": "/opt/gone", "PATH": "/opt/c/bin"}, "CUDA_HOME", "/opt/gone"),
        ({"PATH": "/none"}, "default", "/usr/local/cuda"),
    ],
)
def test_the_choice_is_that_of_torch_s_build_helper(env, way, path, root):
    for name in ("opt/a", "opt/b", "opt/c", "usr/local/cuda"):
        toolkit(root / name, "13.0", "13.0", elf)
    chosen = below(root, **env).chosen
    assert (chosen.way, chosen.path, chosen.exists) == (way, path, path != "/opt/gone")


def test_without_the_default_there_is_no_choice_but_a_list(root):
    toolkit(root / "usr/local/cuda-13.0", "13.0", "13.0", elf)
    found = below(root)
    assert (found.chosen, prefixes(found)) == (None, ["/usr/local/cuda-13.0"])


@pytest.mark.parametrize("wrap", ['exec /opt/cuda/bin/nvcc "$@"', "  exec '/opt/cuda/bin/nvcc' $*", None])
def test_a_wrapper_or_link_on_path_leads_to_the_toolkit_behind(wrap, root):
    toolkit(root / "opt/cuda", "13.0", "13.0", elf)
    nvcc = root / "usr/local/bin/nvcc"
    nvcc.parent.mkdir()
    if wrap:
        nvcc.write_text(f"#!/bin/sh\n{wrap}\n")
        nvcc.chmod(0o755)
    else:
        nvcc.symlink_to("/opt/cuda/bin/nvcc")
    found = below(root, PATH="/usr/local/bin")
    assert (found.chosen.path, found.chosen.prefix, found.chosen.nvcc) == (
        "/usr/local",
        "/opt/cuda",
        "/usr/local/bin/nvcc",
    )
    assert prefixes(found) == ["/opt/cuda"]


def test_a_link_to_another_toolkit_s_compiler_keeps_its_own_headers(root):
    toolkit(root / "opt/cuda-9.2", "9.2", "9.2", elf)
    toolkit(root / "opt/cuda", None, "10.1")
    (root / "opt/cuda/bin").mkdir()
    (root / "opt/cuda/bin/nvcc").symlink_to("/opt/cuda-9.2/bin/nvcc")
    (item,) = below(root, CUDA_HOME="/opt/cuda").items
    assert (item.prefix, item.nvcc_version, item.headers[0].release) == ("/opt/cuda", "9.2.0", "10.1")


def test_conda_s_toolkit_and_a_wheel_with_nvcc_are_the_environment_s_own(root):
    elf(root / "env/bin/nvcc", "12.9")
    headers(root / "env/targets/x86_64-linux/include/cuda.h", "12.9")
    site = root / "env/lib/python3.12/site-packages/nvidia"
    elf(site / "cu13/bin/nvcc", "13.0")
    elf(site / "cuda_nvcc/bin/ptxas", "12.9")
    (site / "cuda_runtime/include").mkdir(parents=True)
    found = below(root)
    assert [(item.prefix, item.own) for item in found.items] == [
        ("/env", True),
        ("/env/lib/python3.12/site-packages/nvidia/cu13", True),
    ]
    assert found.chosen is None


def test_below_a_root_nothing_is_started(root):
    toolkit(root / "opt/cuda", "13.0", "13.0", stub)
    host = FakeHost(env={"CUDA_HOME": "/opt/cuda"}, root=str(root))
    (item,) = toolkits.collect(Target("/elsewhere/env", ""), host).items
    assert (item.nvcc_version, item.version, host.ran) == (None, "13.0", [])
    assert item.nvcc_problem


def test_a_compiler_is_asked_for_its_version_on_this_machine(tmp_path):
    toolkit(tmp_path / "cuda", "12.9", "12.9")
    found = here(tmp_path, CUDA_HOME="cuda")
    assert found.chosen.path == str(tmp_path / "cuda")
    assert found.at(found.chosen.prefix).nvcc_version == "12.9.0"
    assert found.record()["build"] == str(tmp_path / "cuda")


def test_a_compiler_that_cannot_say_is_told_with_the_reason(tmp_path):
    toolkit(tmp_path / "cuda", "12.9").joinpath("bin/nvcc").write_text("#!/bin/sh\nexit 3\n")
    item = here(tmp_path, CUDA_HOME=str(tmp_path / "cuda")).items[0]
    assert (item.nvcc_version, item.nvcc_problem) == (None, "printed no version (status 3)")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("version.json", '{"cuda": {"name": "CUDA SDK", "version": "12.8.1"}, "nvcc": {}}'),
        ("version.txt", "CUDA Version 10.1.243\n"),
    ],
)
def test_the_record_beside_is_read(name, text, root):
    (toolkit(root / "opt/cuda", "12.8", "12.8", elf) / name).write_text(text)
    assert below(root, CUDA_HOME="/opt/cuda").items[0].recorded in ("12.8.1", "10.1.243")


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"cuda": 3}', '{"cuda": {"version": 3}}', '{"cuda": {"version": "x"}}', "[" * 9999]
)
def test_a_record_that_is_none_says_nothing(text):
    assert parse_json(text) is None
    assert parse_text(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#define CUDA_VERSION 13000\n", "13.0"),
        ("/* */\n#  define   CUDA_VERSION 12080 /* 12.8 */", "12.8"),
        ("#define CUDA_VERSION 9020", "9.2"),
        ("#define CUDA_VERSION_X 9020", None),
        ("#if CUDA_VERSION 9020", None),
        ("#define CUDA_VERSION 99999999", None),
    ],
)
def test_the_version_in_cuda_h_is_decoded(text, expected):
    assert parse_header(text) == expected


@given(st.text())
def test_no_text_breaks_the_parsers(text):
    assert {type(parse(text)) for parse in (parse_header, parse_json, parse_text)} <= {str, type(None)}


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize("name", ["include/cuda.h", "version.json", "bin/nvcc"])
def test_parts_that_are_no_files_are_not_there(make, name, root):
    prefix = toolkit(root / "opt/cuda", "13.0", "13.0", elf)
    (prefix / name).unlink(missing_ok=True)
    make(prefix / name)
    (item,) = below(root, CUDA_HOME="/opt/cuda").items
    assert item.version == "13.0.0" if name != "bin/nvcc" else item.nvcc is None


def test_extensions_that_torch_built_with_nvcc_are_found(tmp_path):
    def build(folder, text):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "build.ninja").write_text(text)

    build(".cache/torch_extensions/py312_cu130/fused", "nvcc = /usr/local/cuda/bin/nvcc\n")
    build(".cache/torch_extensions/py312_cpu/plain", "cxx = c++\n")
    build("mine/own", "nvcc = nvcc\n")
    assert here(tmp_path).built == (Built("fused", "py312_cu130"),)
    assert here(tmp_path, TORCH_EXTENSIONS_DIR="mine").built == (Built("own", ""),)
    assert here(tmp_path, XDG_CACHE_HOME=str(tmp_path / "none")).built == ()


def test_a_compiler_that_hangs_takes_no_more_than_the_limit(tmp_path, monkeypatch):
    toolkit(tmp_path / "cuda", "12.9").joinpath("bin/nvcc").write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    monkeypatch.setattr(toolkits.Versions, "of", lambda host, _: toolkits.Versions(host, run=True, left=0.2))
    assert here(tmp_path, CUDA_HOME=str(tmp_path / "cuda")).items[0].nvcc_problem == "no answer within 0.2 s"


@pytest.mark.skipif(not REAL, reason="no CUDA toolkit in /usr/local")
def test_a_real_toolkit_is_read_right(tmp_path):
    """What nvcc says when it runs, what stands in its file and what cuda.h says are one release, that of the folder."""
    patient = Patient(tmp_path)
    target = Target(str(patient.prefix), str(patient.python))
    found = toolkits.collect(target, patient.host(CUDA_HOME=REAL[-1]))
    item = found.at(os.path.realpath(REAL[-1]))
    assert found.chosen.prefix == item.prefix
    asked = toolkits.release(item.nvcc_version)
    assert {asked, *(header.release for header in item.headers)} == {asked}
    assert toolkits.release(toolkits.Versions(patient.host(), run=False).ask(item.nvcc)[0]) == asked
    assert os.path.basename(item.prefix) in ("cuda", f"cuda-{asked}")
