"""Where caches would lie, and why."""

import os
import pwd

import pytest
from fakes import FakeHost

from envdoctor.facts.cache_places import places


def place(kind, **env):
    (found,) = [item for item in places(FakeHost(env=env)) if item.kind == kind]
    return found


@pytest.mark.parametrize(
    ("env", "path", "why"),
    [
        ({"TORCHINDUCTOR_CACHE_DIR": "/fast/c"}, "/fast/c", "TORCHINDUCTOR_CACHE_DIR"),
        ({"TORCHINDUCTOR_CACHE_DIR": "c"}, "/nowhere/c", "TORCHINDUCTOR_CACHE_DIR"),
        ({"LOGNAME": "ann", "USER": "bob"}, "/tmp/torchinductor_ann", "default, of LOGNAME"),
        ({"USER": "bob"}, "/tmp/torchinductor_bob", "default, of USER"),
        ({"USERNAME": r"corp\bob:1"}, "/tmp/torchinductor_corp_bob_1", "default, of USERNAME"),
        ({"USER": "bob", "TMPDIR": "/"}, "/torchinductor_bob", "default, of TMPDIR and USER"),
        ({"USER": "bob", "TMPDIR": "/not/there", "TEMP": "/"}, "/torchinductor_bob", "default, of TEMP and USER"),
    ],
    ids=str,
)
def test_inductor_s_obeys_these(env, path, why, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, _: path == "/")
    found = place("inductor", **env)
    assert (found.path, found.why) == (path, why)
    assert found.chosen == ("TORCHINDUCTOR_CACHE_DIR" in env)


def test_without_a_name_the_password_database_or_the_number_serves(monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: pwd.struct_passwd(("eve", "x", uid, uid, "", "/", "")))
    assert place("inductor").path == "/tmp/torchinductor_eve"

    def nobody(uid):
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert place("inductor").path == "/tmp/torchinductor_uid_4711"


@pytest.mark.parametrize(
    ("kind", "env", "path"),
    [
        ("triton", {}, "/nowhere/home/.triton/cache"),
        ("triton", {"TRITON_HOME": "/t"}, "/t/.triton/cache"),
        ("triton", {"TRITON_HOME": "/t", "TRITON_CACHE_DIR": "/c"}, "/c"),
        ("torch_extensions", {}, "/nowhere/home/.cache/torch_extensions"),
        ("torch_extensions", {"XDG_CACHE_HOME": "/x"}, "/x/torch_extensions"),
        ("torch_extensions", {"TORCH_EXTENSIONS_DIR": "/e"}, "/e"),
        ("cuda", {}, "/nowhere/home/.nv/ComputeCache"),
        ("cuda", {"CUDA_CACHE_PATH": "/c"}, "/c"),
        ("flashinfer", {}, "/nowhere/home/.cache/flashinfer"),
        ("flashinfer", {"FLASHINFER_WORKSPACE_BASE": "/w"}, "/w/.cache/flashinfer"),
        ("tilelang", {}, "/nowhere/home/.tilelang/cache"),
        ("tilelang", {"TILELANG_CACHE_DIR": "/t"}, "/t"),
        ("vllm", {"XDG_CACHE_HOME": "/x"}, "/x/vllm"),
        ("vllm", {"VLLM_CACHE_ROOT": "/v"}, "/v"),
    ],
)
def test_each_other_one_has_its_variables(kind, env, path):
    assert place(kind, **env).path == path
