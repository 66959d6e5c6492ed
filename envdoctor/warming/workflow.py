"""`envdoctor warm`: choose the devices, warm each in turn, prove each, compare with what there once was."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from envdoctor import marking, registry, snapshot
from envdoctor.cache import place
from envdoctor.cache import workflow as saving
from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.facts import cache_places
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.judge import Values, judge
from envdoctor.locate import Wish, locate
from envdoctor.model import Severity, Unavailable
from envdoctor.policy import Policy
from envdoctor.smoke.devices import CPU, chosen
from envdoctor.snapshot import Snapshot
from envdoctor.system.forked import call
from envdoctor.system.host import Host
from envdoctor.views.warmth import Warmth
from envdoctor.warming import document, judging
from envdoctor.warming.running import Work, refuse
from envdoctor.warming.values import Asked, Cold, Fault, Result, Warmed

FACTS_WITHIN = 30.0
"""Seconds for one look at the node and the cache."""
UNUSABLE = ("cache/not-writable", "cache/noexec", "cache/foreign-owner")
"""Faults of a cache with which nothing is begun; the configuration may mute them."""
COUNTED = ("torch_build", "jit_tools", "compile_caches", "cache_marks")
"""Facts that counting keys and raising marks takes."""
Tell = Callable[[str, str, str], None]
"""Hears of each phase, `warm-up` or `proof`, by device: what is going on, or what has come of it."""


def warm(wish: Wish, asked: Asked, host: Host, tell: Tell) -> Mapping[str, Any]:
    """Warm and prove, and return what came of it as a document.

    Raises UsageError, and EnvDoctorError where nothing could be tried.
    """
    began = time.monotonic()
    result = _warm(wish, asked, host, tell)
    return document.of(result, host.name, host.now(), time.monotonic() - began)


def _warm(wish: Wish, asked: Asked, host: Host, tell: Tell) -> Result:
    refuse(asked, host)
    target, policy = call("the search for the target", partial(locate, wish, host), timeout=FACTS_WITHIN)
    registry.use_plugins(policy.plugins)
    registry.known_to(policy)
    where = place.inductor(host, asked.cache)
    run = _Run(Work(asked, target, host, where.path), policy, tell)
    taken = run.look((*registry.facts_for(registry.select(UNUSABLE)), "driver", "gpu_use", "variables"))
    _refuse(taken, run)
    values = Values(taken.facts())
    wanted = chosen(asked.devices, values["devices"], values["occupants"])
    if isinstance(wanted, Unavailable):
        raise EnvDoctorError(wanted.reason)
    _usable(wanted, taken.torch_build)
    with saving.failures_told():
        warmed = run.all(wanted)
    taken = run.look()
    state = marking.remember(taken) if asked.keep else None
    result = run.result(warmed, where.why, _visible(values), taken)
    return replace(_saved(result, wish, host), state=state)


def _refuse(taken: Snapshot, run: _Run) -> None:
    """Raise UsageError without a torch, EnvDoctorError for a cache that no compile can use."""
    build, work = taken.torch_build, run.work
    if isinstance(build, Unavailable):
        kind = EnvDoctorError if build.failed else UsageError
        raise kind(f"{work.target.prefix}: {build.reason}, so there is nothing that could compile")
    caches = () if isinstance(taken.compile_caches, Unavailable) else taken.compile_caches.caches
    used = {
        cache.path for cache in caches if cache.kind == "inductor" or (cache.kind == "triton" and cache.place.chosen)
    }
    outcomes = judge(registry.select(UNUSABLE), taken, run.policy, work.target, work.host.now())
    for finding in (finding for outcome in outcomes for finding in outcome.findings):
        if finding.subject in used and finding.severity is Severity.ERROR:
            raise EnvDoctorError(f"{finding.message}; {'; '.join(finding.remedy)}")


def _usable(devices: Sequence[str], build: TorchBuild | Unavailable) -> None:
    """Raise EnvDoctorError for GPUs where torch has nothing to drive them with; ROCm's are `cuda` to torch as well."""
    lost = [device for device in devices if device != CPU]
    if lost and not isinstance(build, Unavailable) and build.cuda is None and build.hip is None:
        torch = f"torch {build.version} " if build.version else "torch "
        why = "see `envdoctor explain packages/torch-cpu-build`, or name --devices cpu"
        raise EnvDoctorError(f"{torch}is built without CUDA, so there is no {lost[0]} to warm; {why}")


def _visible(values: Values) -> tuple[str, ...]:
    devices = values["devices"]
    told = () if isinstance(devices, Unavailable) else devices.visible
    return tuple(device.subject for device in told if device.ordinal is not None)


def _saved(result: Result, wish: Wish, host: Host) -> Result:
    """Save the cache, if that is wanted and everything is proven."""
    if not result.asked.save:
        return result
    if not result.proven:
        return replace(result, unsaved="not everything is proven")
    try:
        return replace(result, saved=saving.save(wish, saving.Asked(cache=result.asked.cache), host))
    except EnvDoctorError as error:
        return replace(result, unsaved=str(error))


@dataclass(slots=True)
class _Run:
    """All devices, one after the other."""

    work: Work
    policy: Policy
    tell: Tell
    marks: dict[str, int] = field(default_factory=dict)
    unknown: str = ""
    seen: Warmth | None = None
    """What the cache held at the last look."""

    def look(self, facts: Sequence[str] = ()) -> Snapshot:
        """Count what the cache holds now; the first look also reads the marks."""
        host = self.work.host
        if self.work.asked.cache:
            env = {**host.env, cache_places.INDUCTOR: self.work.root}
            host = replace(host, env=env)  # type: ignore[type-var]
        loaded = registry.load(("cache",)) if facts else ()
        wanted = (*COUNTED, *facts)
        taken = snapshot.take(self.work.target, host, wanted, deadline=FACTS_WITHIN, meanwhile=loaded)
        self._count(taken)
        if facts and not isinstance(taken.cache_marks, Unavailable):
            self.marks = {mark.device: mark.keys for mark in taken.cache_marks.marks if mark.kind == judging.KIND}
            self.marks.pop("", None)
        return taken

    def _count(self, taken: Snapshot) -> None:
        warmth = Values(taken.facts())["warmth"]
        if isinstance(warmth, Unavailable):
            self.seen, self.unknown = None, warmth.reason
        elif not warmth.sampled:
            self.seen, self.unknown = None, f"{warmth.cache.path} holds more than can be read in time"
        else:
            self.seen, self.unknown = warmth, ""

    def all(self, devices: Sequence[str]) -> tuple[Warmed, ...]:
        """Warm every device, then prove every one that came so far: what one wrote may not spoil another."""
        warmed = [self._warm(device) for device in devices]
        return tuple(self._prove(each) for each in warmed)

    def _warm(self, device: str) -> Warmed:
        asked, before = self.work.asked, self.seen
        self.tell(device, "warm-up", "started")
        run = self.work.run(device)
        if run.misnamed:  # it would be so for every device
            raise UsageError(run.raised)
        self.look()
        faults = tuple(judging.of_first(run, device, self.work.root, asked, self.work.alone(device)))
        warmed = Warmed(device, run, before, self.seen, mark=self.marks.get(device), faults=faults)
        self.tell(device, "warm-up", _ended(warmed.first.seconds, faults))
        return warmed

    def _prove(self, warmed: Warmed) -> Warmed:
        asked, root = self.work.asked, self.work.root
        if not warmed.faults and any(judging.of_proof(warmed.first, root, asked)):
            self.tell(warmed.device, "proof", "started")
            run = self.work.run(warmed.device)
            faults = tuple(judging.of_proof(run, root, asked))
            warmed = replace(warmed, again=run, faults=faults)
            self.tell(warmed.device, "proof", _ended(run.seconds, faults))
        return replace(warmed, faults=(*warmed.faults, *judging.of_keys(warmed, asked.expect, self.share)))

    @property
    def share(self) -> int:
        """Percent of a mark that are enough."""
        return self.policy.limits["cache_share"]

    def result(self, warmed: tuple[Warmed, ...], why: str, visible: Sequence[str], taken: Snapshot) -> Result:
        """Put together what came of it."""
        work = self.work
        return Result(
            work.target,
            work.asked,
            taken.known("torch_build", "version") or "",
            work.root,
            why,
            self.share,
            warmed,
            tuple(self._cold(warmed, visible)),
            self.unknown,
        )

    def _cold(self, warmed: Sequence[Warmed], visible: Sequence[str]) -> Iterator[Cold]:
        if self.seen is not None:
            done = [each.device for each in warmed]
            chosen = self.work.asked.chosen
            yield from judging.cold(done, visible, self.marks, self.seen, self.share, chosen=chosen)


def _ended(seconds: float, faults: Sequence[Fault]) -> str:
    return f"{seconds:.1f} s" + "".join(f"; {fault.said}" for fault in faults[:1])
