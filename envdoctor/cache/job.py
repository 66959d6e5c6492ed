"""Which environment a cache belongs to, and what its torch, triton and machine are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from envdoctor import snapshot
from envdoctor.cache.manifest import Made
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.facts.distributions import Distributions
from envdoctor.facts.driver import Driver
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.locate import Wish, locate
from envdoctor.model import Target, Unavailable
from envdoctor.system.forked import call
from envdoctor.system.host import Host

WITHIN = 30.0
"""Seconds for finding and reading the environment."""
TRITONS = ("triton", "pytorch-triton", "pytorch-triton-rocm", "triton-rocm")
"""Distributions that bring triton."""


@dataclass(frozen=True, slots=True)
class Job:
    """An environment, and what its torch would make a cache for."""

    target: Target
    made: Made
    """`archs` are those of the GPUs that can be seen here."""


def find(wish: Wish, host: Host) -> Target:
    """Find the environment. Raises UsageError as `check` does."""
    target, _ = call("the search for the target", partial(locate, wish, host), timeout=WITHIN)
    return target  # type: ignore[no-any-return]  # a child's answer


def read(target: Target, host: Host, *, gpus: bool = False) -> Job:
    """Read its torch and triton. Raises UsageError if there is no torch, EnvDoctorError if that cannot be read."""
    wanted = {"torch_build", "distributions", "interpreter"} | ({"driver"} if gpus else set())
    taken = snapshot.take(target, host, wanted, deadline=WITHIN, meanwhile=snapshot.load())
    build = taken.torch_build
    if isinstance(build, Unavailable):
        kind = EnvDoctorError if build.failed else UsageError
        raise kind(f"{target.prefix}: {build.reason}, so no compile cache can be told to belong to it")
    python = taken.known("interpreter", "version")
    return Job(target, _made(build, taken.distributions, python, taken.driver))


def _made(
    build: TorchBuild, installed: Distributions | Unavailable, python: str | None, driver: Driver | Unavailable
) -> Made:
    triton = None
    if isinstance(installed, Distributions):
        triton = next((installed.active[name].version for name in TRITONS if name in installed.active), None)
    gpus = () if isinstance(driver, Unavailable) else driver.gpus
    archs = {f"cuda:{gpu.capability[0]}{gpu.capability[1]}" for gpu in gpus if gpu.capability}
    return Made(
        torch=build.version,
        torch_git=build.git,
        cuda=build.cuda,
        triton=triton,
        python=".".join(python.split(".")[:2]) if python else None,
        machine=os.uname().machine,
        archs=tuple(sorted(archs)),
    )


def differences(saved: Made, here: Made) -> Iterator[str]:
    """Say what of a save does not fit here; torch refuses such entries, or worse, takes them."""
    pairs: Iterable[tuple[str, str | None, str | None]] = (
        ("torch", saved.torch, here.torch),
        ("torch's git commit", saved.torch_git, here.torch_git),
        ("CUDA", saved.cuda, here.cuda),
        ("triton", saved.triton, here.triton),
        ("Python", saved.python, here.python),
        ("machine", saved.machine, here.machine),
    )
    for what, then, now in pairs:
        if then != now:
            yield f"{what} {then or 'none'} then, {now or 'none'} now"
    if saved.archs and here.archs and not set(saved.archs) & set(here.archs):
        yield f"kernels for {', '.join(saved.archs)}, GPUs of {', '.join(here.archs)}"
