"""The job's environment variables that bear on the environment, by allow-list; secrets are never taken."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from envdoctor import knowledge
from envdoctor.model import Target, Unavailable
from envdoctor.printable import redact
from envdoctor.system.host import Host

ALLOWED: Mapping[str, tuple[str, ...]] = {
    "what the interpreter imports and runs": ("PYTHON*",),
    "where installers put packages, and which they refuse": ("PIP_*", "UV_*"),
    "which environment is active": ("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_SHLVL"),
    "which libraries the loader finds": ("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT"),
    "which CUDA is compiled for and run on": ("CUDA_*", "NVCC_*", "NVIDIA_*"),
    "how torch and triton compile, and where they cache": ("TORCH*", "PYTORCH_*", "TRITON_*"),
    "how ranks talk": ("NCCL_*", "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    "which batch job this is": (
        "SLURM_JOB_ID",
        "SLURM_JOB_NODELIST",
        "SLURM_NNODES",
        "SLURM_NTASKS",
        "SLURM_PROCID",
        "SLURM_LOCALID",
        "SLURM_GPUS_ON_NODE",
    ),
    "how many threads there are": ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
    "where files are kept": ("XDG_CACHE_HOME", "XDG_STATE_HOME", "TMPDIR", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE"),
}
"""Reason -> names; `*` stands for any ending. The variables of knowledge/guards.toml are allowed as well."""
BESIDE = (
    *("PATH", "HOME", "LANG", "LOGNAME", "USER", "LNAME", "USERNAME", "TEMP", "TMP"),
    *("CC", "CXX", "CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH"),
    *("FLASHINFER_WORKSPACE_BASE", "TILELANG_CACHE_DIR", "VLLM_CACHE_ROOT"),
)
"""Variables that other facts look at, and that are not kept: they tell of the user more than of the environment."""
PER_RANK = ("RANK", "LOCAL_RANK", "SLURM_PROCID", "SLURM_LOCALID", "TORCHELASTIC_ERROR_FILE")
"""Kept for people to read. No probe judges by them: one check answers for all ranks of a node."""
PER_JOB = ("SLURM_JOB_ID", "SLURM_JOB_NODELIST", "MASTER_ADDR", "MASTER_PORT")
"""Other for every job."""
_QUERY = re.compile(r"(://[^\s?#]*\?)[^\s#]+")
SECRET = ("TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "USERNAME", "PROXY")
"""A variable whose name holds one of these is never taken."""
NOT_THEIRS = Unavailable("--root: the variables of jobs there are not known, and the caller's are not theirs")


@dataclass(frozen=True, slots=True)
class Variables:
    """The allowed variables that are set."""

    values: Mapping[str, str] = field(default_factory=dict)
    """Name -> value, secrets in URLs redacted; sorted by name."""

    def get(self, name: str) -> str:
        """Return a variable's value, "" if it is not set."""
        return self.values.get(name, "")


def collect(target: Target, host: Host) -> Variables | Unavailable:  # noqa: ARG001 - every collector has this shape
    """Take the allowed variables of the caller's environment."""
    if host.root:
        return NOT_THEIRS
    taken = {name: _told(name, value) for name, value in sorted(host.env.items()) if _is_taken(name, *_allowed())}
    return Variables(taken)


def _told(name: str, value: str) -> str:
    """Hide what may be secret; of an installer's addresses all that follows `?`: a key may have any name."""
    told = redact(value)
    return _QUERY.sub(r"\1****", told) if name.startswith(("PIP_", "UV_")) else told


def read_by_facts(env: Mapping[str, str]) -> dict[str, str]:
    """Return all variables that a verdict may depend on, as they are; those that differ by rank are not among them."""
    return {
        name: value
        for name, value in env.items()
        if name in BESIDE or (_is_taken(name, *_allowed()) and name not in PER_RANK)
    }


def _is_taken(name: str, exact: frozenset[str], prefixes: tuple[str, ...]) -> bool:
    return (name in exact or name.startswith(prefixes)) and not is_secret(name)


@cache
def _allowed() -> tuple[frozenset[str], tuple[str, ...]]:
    guards = (row["variable"] for row in knowledge.rows("guards"))
    patterns = [pattern for group in ALLOWED.values() for pattern in group]
    exact = {pattern for pattern in patterns if not pattern.endswith("*")}
    return frozenset(exact.union(guards)), tuple(pattern[:-1] for pattern in patterns if pattern.endswith("*"))


def is_secret(name: str) -> bool:
    """Tell whether a variable's name says that its value is for nobody to see."""
    return any(word in name.upper() for word in SECRET)
