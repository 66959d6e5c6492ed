"""A tool's version is asked for, or read from its file; root asks nothing of somebody else's."""

import os

import pytest
from fakes import FakeHost
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.facts import cuda_tools
from envdoctor.facts.cuda_tools import Versions, host_name, number, parse_version, release, which, written
from envdoctor.model import Target
from envdoctor.system.host import Completed

NVCC = """\
nvcc: NVIDIA (R) Cuda compiler driver
Cuda compilation tools, release 12.8, V12.8.93
Build cuda_12.8.r12.8/compiler.35583870_0
"""
ELF = b"\x7fELF" + bytes(60) + b"Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (NVCC, "12.8.93"),
        ("release 9.2, V9.2.148", "9.2.148"),
        ("release 12.9", "12.9"),
        ("no such file", None),
        ("", None),
    ],
)
def test_what_the_tools_print_is_read(text, version):
    assert parse_version(text) == version


@given(st.text() | st.text("release 1234567890.,V"))
def test_no_text_breaks_it(text):
    parsed = parse_version(text)
    assert parsed is None or number(parsed)


@pytest.mark.parametrize(("version", "expected"), [("12.8.93", "12.8"), ("13.0", "13.0"), ("13", None), (None, None)])
def test_a_release_is_the_first_two_numbers(version, expected):
    assert release(version) == expected


def tool(path, content=ELF):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(("content", "version"), [(ELF, "13.0.88"), (b"#!/bin/sh\n" + ELF[4:], None), (b"", None)])
def test_the_version_in_a_program_s_file_is_read(content, version, tmp_path):
    assert written(tool(tmp_path / "nvcc", content)) == version


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to(path), lambda _: None])
def test_what_is_no_file_names_no_version(make, tmp_path):
    make(tmp_path / "nvcc")
    assert written(str(tmp_path / "nvcc")) is None


def ask(host, path, *, run=True):
    return Versions(host, run).ask(path)


def test_a_tool_that_may_run_is_asked(tmp_path):
    host = FakeHost(env={"PATH": "/p", "SECRET": "x"}, answer=Completed(0, NVCC.encode()))
    assert ask(host, tool(tmp_path / "nvcc")) == ("12.8.93", None)
    assert host.ran == [[str(tmp_path / "nvcc"), "--version"]]
    assert host.environments == [{"PATH": "/p"}]


def test_one_that_may_not_run_is_only_read(tmp_path):
    host = FakeHost(answer=Completed(0, NVCC.encode()))
    assert ask(host, tool(tmp_path / "nvcc"), run=False) == ("13.0.88", None)
    version, problem = ask(host, tool(tmp_path / "stub", "#!/bin/sh\n"), run=False)
    assert (version, host.ran) == (None, [])
    assert problem


@pytest.mark.parametrize("answer", [Completed(None, b"", "no answer within 5 s"), Completed(1, b"oops")])
def test_one_that_fails_is_read_and_else_its_problem_told(answer, tmp_path):
    assert ask(FakeHost(answer=answer), tool(tmp_path / "nvcc")) == ("13.0.88", None)
    version, problem = ask(FakeHost(answer=answer), tool(tmp_path / "stub", "#!/bin/sh\n"))
    assert version is None
    assert problem in ("no answer within 5 s", "printed no version (status 1)")


def test_all_tools_share_one_limit(tmp_path):
    host = FakeHost(answer=Completed(0, NVCC.encode()))
    versions = Versions(host, run=True, left=0.0)
    assert versions.ask(tool(tmp_path / "stub", "#!/bin/sh\n"))[0] is None
    assert host.ran == []
    versions = Versions(host, run=True, left=5.0)
    versions.ask(str(tmp_path / "stub"))
    assert versions.left < 5.0


@pytest.mark.parametrize(
    ("uid", "owner", "root", "runs"),
    [(0, 0, "", True), (0, 1000, "", False), (1000, 1000, "", True), (1000, 0, "", True), (0, 0, "/image", False)],
)
def test_root_starts_nothing_for_somebody_else_and_nobody_below_a_root(uid, owner, root, runs, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    monkeypatch.setattr(cuda_tools, "_owner", lambda _: owner)
    assert Versions.of(FakeHost(root=root), Target("/env", "/env/bin/python")).run is runs


def test_commands_are_looked_up_on_the_caller_s_path_and_below_the_root(tmp_path):
    tool(tmp_path / "image/usr/bin/nvcc")
    (tmp_path / "image/opt").mkdir()
    (tmp_path / "image/opt/bin").symlink_to("/usr/bin")
    host = FakeHost(env={"PATH": "/none:/opt/bin"}, root=str(tmp_path / "image"))
    assert which("nvcc", host) == "/opt/bin/nvcc"
    assert which("ptxas", host) is None
    (tmp_path / "image/usr/bin/nvcc").chmod(0o644)
    assert which("nvcc", host) is None


@pytest.mark.parametrize(
    ("root", "path", "expected"),
    [("", "/env", "/env"), ("/image", "/image/env", "/env"), ("/image/", "/image", "/"), ("/image", "/imagery", None)],
)
def test_a_target_s_path_is_told_as_the_host_names_it(root, path, expected):
    assert host_name(path, FakeHost(root=root)) == expected
