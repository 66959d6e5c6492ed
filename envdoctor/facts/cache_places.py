"""Where the job would keep what it compiles, and what decides that: a variable, or a default made of other variables.

Read in these releases:
inductor           torch/_inductor/runtime/cache_dir_utils.py of torch 2.13.0; tempfile and getpass of CPython 3.12
triton             triton/knobs.py of triton 3.6.0 (cache_knobs); below inductor's directory it is inductor's own
torch_extensions   _get_build_directory in torch/utils/cpp_extension.py, user_cache_dir in torch/_appdirs.py (2.13.0)
cuda               CUDA Programming Guide, section 5.2 (CUDA_CACHE_PATH, CUDA_CACHE_DISABLE)
flashinfer         flashinfer/jit/env.py of flashinfer-python 0.6.13
tilelang           tilelang/env.py of tilelang 0.1.15
vllm               vllm/envs.py of vllm 0.33.0
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from envdoctor.system.host import Host

Kind = Literal["inductor", "triton", "torch_extensions", "cuda", "flashinfer", "tilelang", "vllm"]
INDUCTOR = "TORCHINDUCTOR_CACHE_DIR"
TEMPORARY = ("TMPDIR", "TEMP", "TMP")
USER = ("LOGNAME", "USER", "LNAME", "USERNAME")
_UNWANTED = re.compile(r'[\\/:*?"<>|]')


@dataclass(frozen=True, slots=True)
class Place:
    """Where one cache lies, whether or not it is there."""

    kind: Kind
    path: str
    """Absolute."""
    why: str
    """What decides it, for a person: `TRITON_CACHE_DIR`, `default, of TMPDIR and LOGNAME`."""
    variable: str
    """The variable that moves it."""
    chosen: bool = False
    """True if that variable is set."""


def places(host: Host) -> Iterator[Place]:
    """Yield the place of every cache, that of inductor first."""
    yield inductor(host)
    triton_home = host.env.get("TRITON_HOME")
    default = os.path.join(triton_home or host.home, ".triton", "cache")
    yield _named("triton", "TRITON_CACHE_DIR", default, "TRITON_HOME" if triton_home else "", host)
    xdg = host.env.get("XDG_CACHE_HOME")
    cache, by = (xdg, "XDG_CACHE_HOME") if xdg is not None else (os.path.join(host.home, ".cache"), "")
    yield _named("torch_extensions", "TORCH_EXTENSIONS_DIR", os.path.join(cache, "torch_extensions"), by, host)
    yield _named("cuda", "CUDA_CACHE_PATH", os.path.join(host.home, ".nv", "ComputeCache"), "", host)
    base = host.env.get("FLASHINFER_WORKSPACE_BASE")
    path = os.path.join(host.cwd, host.home if base is None else base, ".cache", "flashinfer")
    why = "default" if base is None else "FLASHINFER_WORKSPACE_BASE"
    yield Place("flashinfer", os.path.normpath(path), why, "FLASHINFER_WORKSPACE_BASE", base is not None)
    yield _named("tilelang", "TILELANG_CACHE_DIR", os.path.join(host.home, ".tilelang", "cache"), "", host)
    yield _named("vllm", "VLLM_CACHE_ROOT", os.path.join(cache, "vllm"), by, host)


def _named(kind: Kind, variable: str, default: str, by: str, host: Host) -> Place:
    named = host.env.get(variable)
    if named:
        return Place(kind, os.path.normpath(os.path.join(host.cwd, named)), variable, variable, chosen=True)
    why = f"default, of {by}" if by else "default"
    return Place(kind, os.path.normpath(os.path.join(host.cwd, default)), why, variable)


def inductor(host: Host) -> Place:
    """Return the place of inductor's cache, in which AOTAutograd's and, by default, triton's lie as well."""
    variable = INDUCTOR
    named = host.env.get(variable)
    if named is not None:  # torch takes an empty one for the working directory
        return Place("inductor", os.path.normpath(os.path.join(host.cwd, named)), variable, variable, chosen=True)
    folder, of_folder = temporary(host)
    user, of_user = _user(host)
    path = os.path.join(folder, f"torchinductor_{_UNWANTED.sub('_', user)}")
    why = " and ".join(filter(None, (of_folder, of_user)))
    return Place("inductor", path, f"default, of {why}" if why else "default", variable)


def temporary(host: Host) -> tuple[str, str]:
    """Return tempfile's directory and the variable that chose it: the first one named that can be written, else /tmp.

    Only the running machine can be asked whether a directory can be written.
    """
    for name in TEMPORARY:
        path = os.path.normpath(os.path.join(host.cwd, host.env[name])) if host.env.get(name) else ""
        if path and (host.root or os.access(path, os.W_OK | os.X_OK)):
            return path, name
    return "/tmp", ""  # noqa: S108 - tempfile's own


def _user(host: Host) -> tuple[str, str]:
    """Return getpass's user and the variable that named it."""
    for name in USER:
        if host.env.get(name):
            return host.env[name], name
    uid = os.getuid()
    try:
        return pwd.getpwuid(uid).pw_name, ""
    except KeyError:
        return f"uid_{uid}", ""
