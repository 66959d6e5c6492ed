"""The compile caches: where they lie, and the keys that they hold for each device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from envdoctor.changes.events import (
    AFTER,
    BEFORE,
    Ends,
    Event,
    Gap,
    Side,
    Weight,
    Where,
    both,
    changed,
    counted,
    kind_of,
    told,
)
from envdoctor.facts.cache_counts import KINDS
from envdoctor.facts.compile_caches import CompileCache, CompileCaches
from envdoctor.printable import size_of
from envdoctor.views.warmth import spoken


def compile_caches(old: Side[CompileCaches], new: Side[CompileCaches]) -> Iterator[Event | Gap]:
    """Compare each cache with that of its kind. Bytes alone are no event: a header or two outweigh all keys."""
    known = {cache.kind: cache for cache in old.fact.caches}
    for after in new.fact.caches:
        before = known.pop(after.kind, None)
        if before is not None:
            yield from _cache(before, after, old, new)
        elif after.exists:
            yield changed("caches", _name(after), (None, _held(after)), Weight.DETAIL)
    for gone in known.values():
        if gone.exists:
            yield changed("caches", _name(gone), (_held(gone), None), Weight.NOTABLE)


def _name(cache: CompileCache) -> str:
    return f"{cache.kind.replace('_', ' ')} cache"


def _held(cache: CompileCache) -> str:
    """Say what a cache holds."""
    if not cache.exists:
        return "not there"
    return f"{spoken(cache.keys)}, {size_of(cache.size)}"


def _cache(
    before: CompileCache, after: CompileCache, old: Side[CompileCaches], new: Side[CompileCaches]
) -> Iterator[Event | Gap]:
    name = _name(after)
    was, now = old.near(before.path), new.near(after.path)
    if was != now:
        yield changed("caches", name, (was, now), Weight.GRAVE, f"where the {name} is looked for")
    yield from _rights(name, before, after)
    unsure = [gap for side, cache in ((BEFORE, before), (AFTER, after)) for gap in _gaps(side, cache)]
    yield from unsure
    if not any(gap.subject == name for gap in unsure):
        yield from _keys(name, before, after, devices=not unsure)


def _gaps(side: Where, cache: CompileCache) -> Iterator[Gap]:
    """Yield why counts of a cache are no counts."""
    if cache.problem is not None:
        yield Gap(_name(cache), side, cache.problem)
    elif not cache.complete:
        said = f"the walk through {cache.path} was cut short"
        yield Gap(_name(cache), side, said)
    elif not cache.sampled:
        said = f"not every graph in {cache.path} could be read"
        yield Gap(f"{_name(cache)} by device", side, said)


def _keys(name: str, before: CompileCache, after: CompileCache, *, devices: bool) -> Iterator[Event]:
    """Yield how many keys there are in all, and for each device where neither cache is without any."""
    held = [{kind: cache.keys.get(kind, 0) for kind in KINDS} for cache in (before, after)]
    if held[0] == held[1] and before.exists == after.exists:
        total = False
    else:
        total = True
        yield _keyed(name, name, held[0], held[1], both(_held, before, after))
    if devices and (not total or all(any(each.values()) for each in held)):
        was, now = _by_device(before), _by_device(after)
        for device in sorted(was.keys() | now.keys()):
            one, other = was.get(device, {}), now.get(device, {})
            if one != other:
                subject = f"{name} {device}"
                yield _keyed(subject, f"{name}: keys for {device}", one, other, both(spoken, one, other))


def _keyed(subject: str, what: str, before: Mapping[str, int], after: Mapping[str, int], ends: Ends) -> Event:
    lost = any(after.get(kind, 0) < number for kind, number in before.items())
    gone = lost and not any(after.values())
    kind = kind_of(any(before.values()) or None, any(after.values()) or None)
    weight = Weight.GRAVE if lost else Weight.DETAIL
    return Event("caches", kind, subject, *ends, f"{what}: {ends[0]} -> {ends[1]}{', cold' if gone else ''}", weight)


def _by_device(cache: CompileCache) -> Mapping[str, Mapping[str, int]]:
    """Return device -> kind -> keys, whatever torch made them."""
    found: dict[str, Counter[str]] = {}
    for count in cache.counts:
        if count.device and count.kind in KINDS:
            found.setdefault(count.device, Counter())[count.kind] += count.keys
    return found


def _rights(name: str, before: CompileCache, after: CompileCache) -> Iterator[Event]:
    """Compare owner and mode of the directory, its file system, and damage in it."""
    if before.exists and after.exists:
        for word, was, now in (
            ("owner (user id)", before.access.owner, after.access.owner),
            ("mode", _octal(before.access.mode), _octal(after.access.mode)),
            ("file system", _mount(before), _mount(after)),
        ):
            if was != now and None not in (was, now):
                yield changed("caches", name, (str(was), str(now)), what=f"{name}: {word}")
    if before.access.writable is True and after.access.writable is False:
        yield changed("caches", name, ("writable", "not writable"), Weight.GRAVE)
    more = len(after.damage.entries) - len(before.damage.entries)
    if more > 0:
        sentence = f"{name}: {counted(more, 'damaged entry', 'damaged entries')} more"
        ends = str(len(before.damage.entries)), str(len(after.damage.entries))
        yield told("caches", name, ends, sentence)


def _octal(mode: int | None) -> str | None:
    return None if mode is None else f"{mode:o}"


def _mount(cache: CompileCache) -> str | None:
    return cache.mount.kind if cache.mount else None
