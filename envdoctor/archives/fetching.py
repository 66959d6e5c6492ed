"""From pins to verified wheels in the store: what is there already, what directories hold, then what pip downloads.

Order: the store, the directories that were named, the lock's recorded paths; then, unless offline, pip, with the user's
configuration. What pip brought stays in the store whatever happens next, so that the next run goes on from there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from envdoctor.archives import Archive, pipfaults
from envdoctor.archives.building import Builder
from envdoctor.archives.choosing import Chooser
from envdoctor.archives.downloading import Attempt, Download
from envdoctor.archives.gathering import Gathered
from envdoctor.archives.narrowing import Narrowed, Pin
from envdoctor.archives.pipfaults import PipFault
from envdoctor.archives.sources import Sources, Told, tell
from envdoctor.archives.store import Store
from envdoctor.errors import StepError
from envdoctor.locks.text import name_and_version, normalised
from envdoctor.printable import last_lines
from envdoctor.progress import Work
from envdoctor.system.host import Completed

BATCH = 16
"""Packages of one run of pip: its start costs half a second, and what it has goes into the store at its end."""
BATCH_BYTES = 512 << 20
"""The same, where sizes are known."""
NAMED = 5
"""Packages that one message names."""


def fetch(narrowed: Narrowed, sources: Sources, python: str, store: Store, work: Work) -> tuple[Archive, ...]:
    """Return one verified wheel for each pin, in their order.

    `python` is the target's interpreter, for what has to be built; "" if it is not of this machine.
    Raises StepError (steps `fetch` and `build`) and EnvDoctorError.
    """
    gathered = Gathered(narrowed, sources.folder, store, work, Chooser(narrowed.tags))
    gathered.kept()
    gathered.listed(sources.find_links)
    told = None
    if gathered.missing() or gathered.unbuilt():
        told = tell(sources, work)
        gathered.listed(told.folders)
        if sources.offline:
            _refuse(gathered.missing(), sources)
        if gathered.missing():
            _Fetching(gathered, told, python).download()
    return _built(gathered, sources, told, python)


def _refuse(missing: Sequence[Pin], sources: Sources) -> None:
    """Raise an error that names all that is missing offline, if something is."""
    if missing:
        where = "the store nor in --find-links" if sources.find_links else "the store, and no --find-links is given"
        neither = "neither" if sources.find_links else "not"
        labels = [pin.label for pin in missing]
        more = f" and {len(labels) - NAMED} more" if len(labels) > NAMED else ""
        count = f"{len(labels)} {'file is' if len(labels) == 1 else 'files are'} {neither} in {where}"
        lock = os.path.basename(sources.lock.path)
        advice = f"on a machine with a network: envdoctor wheelhouse build --lock {lock} -o DIR; then --find-links DIR"
        said = f"offline, and {count}: {', '.join(labels[:NAMED])}{more}"
        raise StepError("fetch", said, tuple(labels), advice)


def _built(gathered: Gathered, sources: Sources, told: Told | None, python: str) -> tuple[Archive, ...]:
    """Return the wheels, building those that came as source."""
    found = []
    for pin in gathered.narrowed.pins:
        archive = gathered.got[pin.name]
        if not archive.filename.endswith(".whl"):
            told = told or tell(sources, gathered.work)
            links = (*sources.find_links, *told.folders)
            tags, store, work = gathered.narrowed.tags, gathered.store, gathered.work
            archive = Builder(python, tags, told, sources.offline, links, store, work).build(pin, archive)
        found.append(archive)
    return tuple(found)


@dataclass(slots=True)
class _Fetching:
    """Fetches with pip what is missing."""

    gathered: Gathered
    told: Told
    python: str
    wrong: list[tuple[Pin, str, tuple[str, ...]]] = field(default_factory=list)
    """What pip does not find, or finds with another digest: pin, reason, its last lines."""

    def download(self) -> None:
        """Fetch all that is missing; of what is not found, all is named at the end."""
        with self.gathered.store.incoming() as folder:
            download = Download(folder, self.told, self.gathered.work, self.gathered.progress)
            wheels = [pin for pin in self.gathered.missing() if pin.build != "always"]
            for batch in _batches(wheels):
                self._batch(download, batch)
            late = {pin.name for pin, _, _ in self.wrong}
            for pin in self.gathered.missing():
                if pin.build != "never" and pin.name not in late:
                    self._source(download, pin)
        if self.wrong:
            raise self._failure()

    def _batch(self, download: Download, batch: Sequence[Pin]) -> None:
        """Fetch some wheels. What is not found does not keep the others from being fetched; what is broken does."""
        left, attempt = list(batch), Attempt()
        while left:
            done, folder = download.wheels(left, self.gathered.narrowed, attempt)
            if done.status == 0:
                self._arrived(left, folder)
                return
            fault = pipfaults.read(done.stdout.decode(errors="replace"), {pin.name for pin in left})
            other = self._otherwise(fault, left, attempt, done)
            if other is not None:
                attempt = other
                continue
            pin = next((pin for pin in left if pin.name == fault.name), None)
            if pin is None or fault.kind not in ("digest", "missing"):
                raise self._broken(fault, pin or left[0], done)
            left.remove(pin)
            if pin.build == "never":
                self.wrong.append((pin, _reason(fault), last_lines(done.stdout.decode(errors="replace"))))

    def _otherwise(self, fault: PipFault, left: Sequence[Pin], attempt: Attempt, done: Completed) -> Attempt | None:
        """Return how it may be tried once more; None if every way has been tried."""
        if fault.kind not in ("digest", "missing", "connection"):
            return None
        if fault.kind == "digest" and not attempt.fresh and b"Using cached" in done.stdout:
            return replace(attempt, fresh=True)
        at = {fault.name} if fault.kind != "connection" else {pin.name for pin in left}
        more = {pin.name for pin in left if pin.name in at and "://" in pin.url} - attempt.by_url
        if more:
            return replace(attempt, by_url=attempt.by_url | more)
        wider = bool(self.told.others) and not attempt.wide
        return replace(attempt, wide=True) if wider else None

    def _arrived(self, pins: Iterable[Pin], folder: str) -> None:
        """Take what pip has brought for these pins. Raises StepError for what is not what was locked."""
        came = {}
        for name in os.listdir(folder):
            named = name_and_version(name)
            came[normalised(named[0]) if named else ""] = os.path.join(folder, name)
        only = next(iter(came.values())) if len(came) == 1 else ""
        pins = list(pins)
        for pin in pins:
            path = came.get(pin.name) or (only if len(pins) == 1 else "")
            if not path:
                raise StepError("fetch", f"pip says that it has {pin.label}, and there is no file of it")
            self.gathered.put(pin, path)

    def _source(self, download: Download, pin: Pin) -> None:
        """Fetch a source archive, at the index or at its address."""
        if not self.python:
            raise StepError("build", f"{pin.label} comes as source, and only the target's own Python can build it")
        attempt = Attempt(by_url=frozenset({pin.name} if not pin.version and "://" in pin.url else ()))
        while True:
            done, folder = download.source(pin, self.python, attempt)
            if done.status == 0:
                self._arrived([pin], folder)
                return
            fault = pipfaults.read(done.stdout.decode(errors="replace"), {pin.name})
            other = self._otherwise(fault, [pin], attempt, done)
            if other is None:
                break
            attempt = other
        said = last_lines(done.stdout.decode(errors="replace"))
        if fault.kind == "build":
            advice = f"build a wheel of {pin.label} where that is known to work, and lock that"
            raise StepError("build", f"{pin.label} cannot be built from its source archive", said, advice)
        if fault.kind not in ("digest", "missing"):
            raise self._broken(fault, pin, done)
        self.wrong.append((pin, _reason(fault), said))

    def _broken(self, fault: PipFault, pin: Pin, done: Completed) -> StepError:
        """Return the error that ends it at once."""
        what = {"connection": "the connection to the index broke", "full": "no space is left for it"}.get(fault.kind)
        total, here = len(self.gathered.narrowed.pins), len(self.gathered.got)
        advice = f"run it again: {here} of {total} packages are in the store, and it goes on from there"
        return StepError(
            "fetch",
            f"{pin.label}: {what or f'pip {done.fault}'}",
            last_lines(done.stdout.decode(errors="replace")),
            advice,
        )

    def _failure(self) -> StepError:
        pin, reason, said = self.wrong[0]
        more = f" (and {len(self.wrong) - 1} more)" if len(self.wrong) > 1 else ""
        details = said if not more else tuple(f"{pin.label}: {reason}" for pin, reason, _ in self.wrong)
        never = pin.build == "never" and "digest" not in reason
        source = f'; if it comes as source alone, allow that: sdists = ["{pin.name}"]' if never else ""
        advice = f"lock again, or see whether pip is configured for the index that has it: pip config list{source}"
        return StepError("fetch", f"{pin.label}: {reason}{more}", details, advice)


def _reason(fault: PipFault) -> str:
    if fault.kind == "digest":
        return fault.said or "what the index gives has a digest that is not in the lock"
    found = f" ({fault.said})" if fault.said else ""
    return f"no index that pip is configured for gives a file of it that fits the target{found}"


def _batches(pins: Sequence[Pin]) -> Iterator[list[Pin]]:
    """Cut pins into portions of bounded number, and of bounded bytes as far as these are known."""
    batch: list[Pin] = []
    for pin in pins:
        if batch and (len(batch) >= BATCH or sum(each.size or 0 for each in (*batch, pin)) > BATCH_BYTES):
            yield batch
            batch = []
        batch.append(pin)
    if batch:
        yield batch
